"""The context of a run: checked when it is given, made again when the run is resumed."""

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_origin

from leadhand.contracts.context import Restore
from leadhand.errors import InputError

if TYPE_CHECKING:
    from leadhand.state.run_state import RunState


class NotRestored(InputError):
    """The program's `restore` made no context for a run."""


@dataclass(frozen=True, slots=True)
class ContextRules:
    """What a supervisor was told about the contexts of its runs. Methods raise `InputError`."""

    type: object = None
    """What every context is an instance of; None: anything, or no context."""
    restore: Restore[object] | None = None

    def check(self) -> None:
        """Check the rules themselves."""
        if self.type is not None and not isinstance(get_origin(self.type) or self.type, type):
            raise InputError(f"context_type is {self.type!r}; it must be a class")
        if self.restore is not None and not callable(self.restore):  # pyright: ignore[reportUnnecessaryComparison]
            raise InputError(
                f"restore is {type(self.restore).__name__}; it must be a function that makes a "
                "context from the run's origin"
            )

    def of_new_run(self, given: object) -> object:
        """The context of a run that starts."""
        if given is None and self.type is not None:
            raise InputError(
                f"this supervisor's runs have a context: give `context`, a {_name(self.type)}"
            )
        return self._checked(given, "context")

    def check_resumable(self, given: object, state: "RunState") -> None:
        """Check that a run that is resumed has a context, unless it is restored."""
        if given is not None:
            self._checked(given, "context")
        elif self.restore is None and (self.type is not None or state.has_context):
            raise InputError(
                f"run {state.run_id!r} needs a context, and contexts are not stored: resume it "
                "from Python with `context`, or with a Supervisor that has a `restore` function"
            )

    async def of_resumed_run(
        self, given: object, state: "RunState", *, limit_s: float | None
    ) -> object:
        """The context of a run that is resumed: the one given, else the one that is restored.

        An async `restore` has `limit_s` seconds.
        """
        self.check_resumable(given, state)
        if given is not None or self.restore is None:
            return given
        if self.type is None and not state.has_context:
            return None
        try:
            restored = self.restore(state.origin)
            if inspect.isawaitable(restored):
                restored = await asyncio.wait_for(restored, limit_s)
        except Exception as error:
            why = f"restore raised {type(error).__name__}: {error}"
            raise NotRestored(f"run {state.run_id!r} can't be resumed: {why}") from error
        return self._checked(restored, "what restore returned", NotRestored)

    def _checked(
        self, value: object, what: str, error: Callable[[str], InputError] = InputError
    ) -> object:
        kind = get_origin(self.type) or self.type
        if kind is None:
            return value
        try:
            fits = isinstance(value, kind)  # pyright: ignore[reportArgumentType]
        except TypeError:  # a protocol, which can't be checked
            fits = True
        if not fits:
            raise error(f"{what} is a {type(value).__name__}; it must be a {_name(kind)}")
        return value


def _name(kind: object) -> str:
    return getattr(kind, "__name__", None) or repr(kind)
