"""The text that a model is writing, for those who read it meanwhile. It is not recorded."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Generator
from contextvars import ContextVar

from pydantic_core import from_json

from leadhand.events import TextDelta
from leadhand.redaction.growing import GrowingText
from leadhand.redaction.redactor import Redactor
from leadhand.untrusted.terminal import InertText, safe_block

INTERVAL_S = 0.05
"""Pieces that come sooner after each other are passed on together."""

TextListener = Callable[[TextDelta], None]
FindListener = Callable[[str], TextListener | None]
_find: ContextVar[FindListener] = ContextVar("find", default=lambda role: None)


@contextlib.contextmanager
def watching(find: FindListener) -> Generator[None]:
    """In runs that start in the block, what a role writes also goes to what `find(role)` gives,
    which is asked at each call of a model."""
    before = _find.get()

    def both(role: str) -> TextListener | None:
        first, second = before(role), find(role)
        if first is None or second is None:
            return first or second

        def tell(delta: TextDelta) -> None:
            first(delta)
            second(delta)

        return tell

    token = _find.set(both)
    try:
        yield
    finally:
        _find.reset(token)


def text_listener(role: str) -> TextListener | None:
    return _find.get()(role)


class Writing:
    """What one call of a model writes: its text, without secrets and terminal controls."""

    def __init__(
        self, listener: TextListener, *, role: str, task_id: str | None, form: str | None
    ) -> None:
        """`form` is the name of the tool by which the model answers, if it may answer by one."""
        self._listener = listener
        self._role, self._task_id, self._form = role, task_id, form
        self._parts: dict[int, str] = {}
        self._growing = GrowingText(Redactor.of(os.environ))
        self._inert = InertText()
        self._passed_s = -INTERVAL_S
        self._begun = False

    def hear(self, part: int, piece: str, tool: str | None) -> None:
        """Add a piece of a part of the response: of its text, or of a call's arguments."""
        if tool is not None and tool != self._form:
            return
        self._parts[part] = self._parts.get(part, "") + piece
        if _now_s() - self._passed_s >= INTERVAL_S:
            self._pass_on(ended=False)

    def end(self) -> None:
        self._pass_on(ended=True)

    def drop(self) -> None:
        """The response is lost: have readers forget it."""
        if self._begun:
            self._tell("", reset=True)

    def _pass_on(self, *, ended: bool) -> None:
        self._passed_s = _now_s()
        text = "\n\n".join(filter(None, map(self._readable, self._parts.values())))
        new = self._inert.next(safe_block(self._growing.next(text, ended=ended)))
        if new:
            self._tell(new, reset=not self._begun)
            self._begun = True

    def _readable(self, part: str) -> str:
        """The answer in a part so far: plans as they are, else text, or the text in its form."""
        if self._role == "planner" or not part.lstrip().startswith("{"):
            return part
        with contextlib.suppress(ValueError):
            data: object = from_json(part, allow_partial="trailing-strings")
            match data:
                case {"answer": str(text)}:
                    return text
                case _:
                    pass
        return ""

    def _tell(self, text: str, *, reset: bool) -> None:
        with contextlib.suppress(Exception):  # a view that breaks must not break the run
            self._listener(TextDelta(self._task_id, self._role, text, reset=reset))


def _now_s() -> float:
    return asyncio.get_running_loop().time()
