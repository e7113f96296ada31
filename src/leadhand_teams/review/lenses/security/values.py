"""What the data flow knows of a value: how far to trust it, where it is from, what it looks like.

A text keeps its shape: its constant parts, with a `HOLE` for every other part and, separately, the
values that fill the holes, in order. Pure data and the few ways in which values combine.
"""

import re
from enum import IntEnum
from typing import NamedTuple

from leadhand_teams.review.syntax import pattern_of

HOLE = "\x00"
_MAX_TEXT = 4_000
_MAX_HOLES = 24
_MAX_STEPS = 6
_PERCENT = pattern_of("values.percent")
_BRACES = re.compile(r"\{\{|\}\}|\{(?P<field>\w*)[^{}:]*(?::(?P<spec>[^{}]*))?\}")
_NUMBER = re.compile(r"[bdoxXfFeEgGni%]$")


class Trust(IntEnum):
    """Who controls the value, from the author of the code to anyone on the network."""

    CONSTANT = 0
    CLEAN = 1
    """Checked, escaped for every use, or of a type that can't contain text."""
    UNKNOWN = 2
    PARAMETER = 3
    """A parameter of the current function: its callers control it."""
    LOCAL = 4
    """Arguments, standard input, environment: the user who starts the program controls it."""
    REMOTE = 5
    """The sender of a request or a packet controls it."""


class Value(NamedTuple):
    """What is known of one value."""

    trust: Trust
    origin: str = ""
    """The code that it came from, for messages."""
    text: str = HOLE
    holes: tuple["Value", ...] = ()
    """What fills the holes of `text`, in order; empty if the whole value is one hole."""
    made_by: str = ""
    """Dotted name of the call or import that made it, if known."""
    safe_for: frozenset[str] = frozenset()
    """Uses (`shell`, `path`, `html`, ...) that it was made safe for."""
    steps: tuple[int, ...] = ()
    """Lines that assigned it on its way here, oldest first."""

    @property
    def pieces(self) -> tuple["Value", ...]:
        """What fills the holes; the value itself if it is one hole."""
        return self.holes or ((self,) if HOLE in self.text else ())

    @property
    def built(self) -> bool:
        """Whether it combines constant text with something else."""
        return HOLE in self.text and self.text != HOLE

    @property
    def constant(self) -> str | None:
        """The text, if it is a constant."""
        return self.text if self.trust is Trust.CONSTANT and HOLE not in self.text else None

    def least_trusted(self, use: str) -> "Value":
        """The least trusted piece that was not made safe for `use`."""
        found = NOTHING
        for piece in self.pieces:
            if use not in piece.safe_for | self.safe_for and piece.trust > found.trust:
                found = piece
        return found

    def whole(self) -> "Value":
        """The value as one hole, as little trusted as its least trusted piece; constants stay."""
        if HOLE not in self.text or not self.holes:
            return self
        least = merge(list(self.holes))
        return least._replace(text=HOLE, holes=(), made_by=self.made_by, steps=self.steps)

    def part(self, made_by: str) -> "Value":
        """An unknown part of the value."""
        if self.trust is Trust.CONSTANT:
            return Value(Trust.CONSTANT, made_by="constant")
        if self.trust is Trust.CLEAN:
            return CLEAN
        return self.whole()._replace(text=HOLE, holes=(), made_by=made_by)

    def at(self, line: int) -> "Value":
        """The same value after an assignment on `line`."""
        if self.trust <= Trust.CLEAN:
            return self
        return self._replace(steps=(*self.steps[-_MAX_STEPS:], line))


NOTHING = Value(Trust.CONSTANT, text="")
CLEAN = Value(Trust.CLEAN)
UNKNOWN = Value(Trust.UNKNOWN)


def merge(values: list[Value]) -> Value:
    """One value for several, as after two branches: the least trusted of them."""
    found = values[0] if values else NOTHING
    for value in values[1:]:
        if value.trust > found.trust or (value.trust == found.trust and value.built):
            found = value
    return found


def concat(values: list[Value]) -> Value:
    """The concatenated text of `values`."""
    text = "".join(value.text for value in values)
    holes = tuple(piece for value in values for piece in value.pieces)
    least = merge(values)
    if len(text) > _MAX_TEXT or len(holes) > _MAX_HOLES:
        return least._replace(text=f"{text[:200]}{HOLE}", holes=(merge(list(holes)),))
    steps = tuple(dict.fromkeys(step for value in values for step in value.steps))
    return Value(
        least.trust, least.origin, text, holes,
        made_by=values[0].made_by if values else "", steps=steps,
    )  # fmt: skip


def formatted(
    template: Value, args: list[Value], named: dict[str, Value], *, percent: bool
) -> Value:
    """`template % args` or `template.format(...)`; numbers by format can't carry text."""
    if HOLE in template.text:
        return concat([template, *args, *named.values()])
    parts: list[Value] = []
    end = count = 0
    for match in (_PERCENT if percent else _BRACES).finditer(template.text):
        parts.append(constant(template.text[end : match.start()]))
        end = match.end()
        field, spec = match["field"], match["spec"] or ""
        if match[0] in ("%%", "{{", "}}"):
            parts.append(constant(match[0][0]))
        elif _NUMBER.search(spec):
            parts.append(constant("0"))
            count += 1
        elif field and not field.isdecimal():
            parts.append(named.get(field) or (args[0] if percent and args else UNKNOWN))
        else:
            index = int(field[:3]) if field else count
            parts.append(args[index] if index < len(args) else UNKNOWN)
            count += 1
    return concat([*parts, constant(template.text[end:])])


def constant(value: object) -> Value:
    """A constant of the code; only texts have no `made_by`."""
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    if isinstance(value, str | bytes):
        return Value(Trust.CONSTANT, text=text.replace(HOLE, " "))
    return Value(Trust.CONSTANT, text=text[:40], made_by="constant")
