"""The events of the data flow through a module: calls, assignments, returns, comparisons.

The topics (untrusted data, settings, credentials) check these events and report hits. They never
walk the tree themselves.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from leadhand_teams.review.lenses.security.values import NOTHING, Value
from leadhand_teams.review.syntax import Function, ImportedNames, texts_of, words


@dataclass(frozen=True, slots=True)
class Scope:
    """The function, or the module-level code, that an event happens in."""

    names: ImportedNames
    function: Function | None = None
    owner: ast.ClassDef | None = None
    """The class that the function is a method of."""
    handler: bool = False
    """Whether a URL is routed to it, so that a client receives what it returns."""

    @property
    def title(self) -> str:
        """The function's name for messages."""
        if self.function is None:
            return "the module"
        return f"`{self.owner.name + '.' if self.owner else ''}{self.function.name}`"

    @property
    def words(self) -> frozenset[str]:
        """The words of the function's own name."""
        return frozenset(words(self.function.name)) if self.function else frozenset()


class ResolvedCall(NamedTuple):
    """A call whose name is resolved through the imports."""

    node: ast.Call
    scope: Scope
    name: str
    args: tuple[Value, ...]
    keywords: dict[str, Value]
    receiver: Value
    """The object of a method call."""

    @property
    def title(self) -> str:
        """The call and its function for messages."""
        return f"`{self.name}` in {self.scope.title}"

    @property
    def last(self) -> str:
        """The last part of the name."""
        return self.name.rsplit(".", 1)[-1]

    def arg(self, index: int, *keywords: str) -> Value:
        """An argument by position or by one of its names; `NOTHING` if it is not passed."""
        for keyword in keywords:
            if keyword in self.keywords:
                return self.keywords[keyword]
        return self.args[index] if 0 <= index < len(self.args) else NOTHING

    def keyword(self, name: str) -> ast.expr | None:
        """The expression passed as the keyword `name`, or `None`."""
        return next((one.value for one in self.node.keywords if one.arg == name), None)

    def passes(self, name: str, constant: bool) -> bool:
        """Whether the literal `constant` is passed as the keyword `name`."""
        value = self.keyword(name)
        return isinstance(value, ast.Constant) and value.value is constant


class Assignment(NamedTuple):
    """An assignment to a name, an attribute, or an item."""

    node: ast.Assign | ast.AnnAssign | ast.AugAssign
    scope: Scope
    name: str
    """Resolved dotted name of the target; `x[]` for an item."""
    key: str
    """The attribute, the constant key of the item, or the plain name."""
    value: Value


class Return(NamedTuple):
    """A `return` with a value."""

    node: ast.Return
    scope: Scope
    value: Value


class Comparison(NamedTuple):
    """An `==` or `!=` between two values."""

    node: ast.Compare
    scope: Scope
    left: Value
    right: Value


_TEXTS = texts_of("hits")

Event = ResolvedCall | Assignment | Return | Comparison


class SecurityHit(NamedTuple):
    """A rule that matches, before it is known whether the change touches the code."""

    rule: str
    """Its name, without the lens."""
    node: ast.expr | ast.stmt
    message: str
    steps: tuple[int, ...] = ()
    """Lines that the data came through; a change of any of them makes the hit a finding."""


Hits = Iterator[SecurityHit]


def hit(name: str, event: Event, /, *values: Value, **words: str) -> SecurityHit:
    """A hit at `event`, with the steps of the values that lead to it, earliest first.

    `name` is of a text of `hits`, which begins with the rule; `words` fill it, besides the function
    (`place`) and the call with its function (`call`).
    """
    call = event.title if isinstance(event, ResolvedCall) else ""
    message = _TEXTS[name].format(place=event.scope.title, call=call, **words)
    steps = tuple(step for value in values for step in value.steps)
    return SecurityHit(name.partition(".")[0], event.node, message, steps)
