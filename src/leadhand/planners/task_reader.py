"""Reads the tasks of a plan that is still being written. Pure, and linear in the plan's length."""

import re
from collections.abc import Iterator
from typing import Literal, cast

from pydantic import JsonValue
from pydantic_core import from_json

_SIGN = re.compile(r'["{}\[\],]')
_IN_STRING = re.compile(r'["\\]')
_SURROGATE = re.compile("[\ud800-\udfff]")


class TaskReader:
    """Reads one plan, in pieces of any length: the arguments of a call, or text with a plan in
    it. Whether the rest is valid is known at its end."""

    def __init__(self) -> None:
        self._depth = 0
        """Open objects and lists."""
        self._in_string = self._after_backslash = self._in_tasks = False
        self._key: str | None = None
        """The plan's field that is being read; None before its name."""
        self._kept: list[str] | None = None
        self.ended = False
        """Whether the plan has ended, or a task in it can't be read."""

    def feed(self, piece: str) -> Iterator[dict[str, JsonValue]]:
        at = since = 0
        while not self.ended and at < len(piece):
            if self._after_backslash:
                at, self._after_backslash = at + 1, False
                continue
            found = (_IN_STRING if self._in_string else _SIGN).search(piece, at)
            if found is None:
                break
            at = found.end()
            match self._step(found[0]):
                case "begin":
                    self._kept, since = [], found.start()
                case "end" if self._kept is not None:
                    text = "".join([*self._kept, piece[since:at]])
                    self._kept = None
                    yield from self._read(text)
                case _:
                    pass
        if self._kept is not None:
            self._kept.append(piece[since:])

    def _step(self, sign: str) -> Literal["begin", "end"] | None:
        """Note a sign; whether a field's name or a task begins or ends with it."""
        if self._in_string:
            self._in_string, self._after_backslash = sign != '"', sign == "\\"
            return "end" if self._depth == 1 and not self._in_string else None
        if not self._depth and sign != "{":
            return None  # text around the plan
        match sign:
            case '"':
                self._in_string = True
                return "begin" if self._depth == 1 and self._key is None else None
            case "{" | "[":
                self._depth += 1
                if self._depth == 2:
                    self._in_tasks = sign == "[" and self._key == "tasks"
                return "begin" if self._depth == 3 and self._in_tasks and sign == "{" else None
            case "}" | "]":
                self._depth -= 1
                self.ended = not self._depth
                return "end" if self._depth == 2 else None
            case _:
                self._key = None if self._depth == 1 else self._key
                return None

    def _read(self, text: str) -> Iterator[dict[str, JsonValue]]:
        try:
            value: object = from_json(_SURROGATE.sub("\ufffd", text), allow_inf_nan=False)
        except ValueError:
            self.ended = True
            return
        if isinstance(value, str):
            self._key = value
        elif isinstance(value, dict):
            yield cast("dict[str, JsonValue]", value)
