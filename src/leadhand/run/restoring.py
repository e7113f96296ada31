"""The contexts of runs: which a supervisor takes, and how that of a resumed run is made again."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_origin

from leadhand.contracts.data import check_values
from leadhand.contracts.people import RunMessage
from leadhand.contracts.team import Team
from leadhand.contracts.tools import Restore, context_types
from leadhand.engine.recorder import Recorder
from leadhand.errors import InputError, TeamError
from leadhand.plans.nesting import all_teams
from leadhand.ports import Journal
from leadhand.run.answer_step import record_held
from leadhand.state.fold import RunState

MAX_UNRESTORED = 3
"""How often `restore` may make no context for a run before the run waits for a person."""


@dataclass(frozen=True, slots=True)
class ContextRules:
    """What a supervisor was told about the contexts of its runs. Methods raise `InputError`."""

    type: object = None
    """The class of every context; `None`: anything, or no context."""
    restore: Restore[object] | None = None

    def check(self, team: Team) -> None:
        """Raises `TeamError` naming all tools that take another context."""
        check_values(restore=(self.restore, Callable[..., object] | None))
        if self.type is not None and not isinstance(get_origin(self.type) or self.type, type):
            raise InputError(f"context_type is {self.type!r}; it must be a class")
        if problems := [*self._problems(team)]:
            raise TeamError(team.name, problems)

    def _problems(self, team: Team) -> Iterator[str]:
        for worker in (worker for each in all_teams(team) for worker in each.workers):
            for name, kind in context_types(worker.tools):
                if not _is_kind_of(get_origin(self.type) or self.type, get_origin(kind) or kind):
                    yield (
                        f"worker {worker.name!r}: the context of the tool {name!r} is a "
                        f"{_name(kind)}, and that of this supervisor's runs a {_name(self.type)}"
                    )

    def check_new(self, given: object) -> None:
        if given is None and self.type is not None:
            raise InputError(
                f"this supervisor's runs have a context: give `context`, a {_name(self.type)}"
            )
        self._checked(given, "context")

    def check_resumable(self, given: object, state: RunState) -> None:
        if given is not None:
            self._checked(given, "context")
        elif self.restore is None and (self.type is not None or state.has_context):
            raise InputError(
                f"run {state.run_id!r} needs a context, and contexts are not stored: resume it "
                "from Python with `context`, or with a Supervisor that has a `restore` function"
            )

    async def of_resumed_run(
        self, given: object, recorder: Recorder, journal: Journal, *, limit_s: float | None
    ) -> object:
        """The given or restored context; an async `restore` may take `limit_s`.

        Each failure of `restore` is journaled.
        """
        state = recorder.state
        self.check_resumable(given, state)
        if given is not None or self.restore is None:
            return given
        if self.type is None and not state.has_context:
            return None
        try:
            context = self.restore(state.origin)
            if inspect.isawaitable(context):
                context = await asyncio.wait_for(context, limit_s)
            return self._checked(context, "what restore returned")
        except Exception as error:
            by_type = isinstance(error, InputError)
            why = f"{error}" if by_type else f"restore raised {type(error).__name__}: {error}"
            refused = InputError(f"run {state.run_id!r} can't be resumed: {why}")
            messages = await journal.messages(recorder.run_id)
            times = 1 + sum(message.unrestored for message in messages)
            if times == MAX_UNRESTORED and state.answer is None:
                record_held(recorder, f"{refused} ({times} times); `resume` tries again")
                await recorder.commit()
            if times <= MAX_UNRESTORED:
                note = RunMessage(run_id=recorder.run_id, interrupted=True, reason="no context")
                await journal.post(note)
            raise refused from error

    def _checked(self, value: object, what: str) -> object:
        kind = get_origin(self.type) or self.type
        if not _is_kind_of(type(value), kind):
            raise InputError(f"{what} is a {type(value).__name__}; it must be a {_name(kind)}")
        return value


def _is_kind_of(kind: object, wanted: object) -> bool:
    if not isinstance(kind, type) or not isinstance(wanted, type) or wanted is Any:
        return True
    try:
        return issubclass(kind, wanted)
    except TypeError:  # a protocol, which can't be checked
        return True


def _name(kind: object) -> str:
    return getattr(kind, "__name__", None) or repr(kind)
