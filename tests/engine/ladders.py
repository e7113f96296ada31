"""A team with every rung of the ladder, and its tasks through the real scheduler."""

import dataclasses
from collections.abc import Callable, Sequence

from leadhand.contracts.events import Event
from leadhand.contracts.events.fields import AttemptTimes, RunEvent
from leadhand.contracts.outcome import Failed, Handoff, Outcome
from leadhand.contracts.task import Task
from leadhand.contracts.team import Team, Worker
from leadhand.state.fold import fold
from leadhand.testing import run_virtual
from tests.engine.remedies import ScriptedPerson, ScriptedRemedies
from tests.engine.scheduling import Script, schedule
from tests.plans.samples import plan, task
from tests.recorders import LogRecorder

STAMP = {field.name for field in dataclasses.fields(RunEvent)} | {
    "type",
    *AttemptTimes.__annotations__,
}
FAILED = Failed(kind="tool_error", message="no table `sales`")


def crew(**fields: object) -> Team:
    """A worker with a fallback, both done by models of three strengths."""
    return Team(
        "t",
        workers=(Worker("first", "d", fallback="second"), Worker("second", "d")),
        models={"standard": ("a:small",), "strong": ("a:large",)},
        **fields,  # pyright: ignore[reportArgumentType]
    )


def work(
    script: Script,
    *tasks: Task,
    the_team: Team | None = None,
    remedies: ScriptedRemedies | None = None,
    person: ScriptedPerson | None = None,
    deadline_s: float | None = None,
) -> LogRecorder:
    """Runs the tasks, `a` for the first worker where none are given."""
    recorder = run_virtual(
        schedule(
            plan(*(tasks or (task("a", worker="first"),))),
            script,
            the_team=the_team or crew(),
            remedies=remedies,
            person=person,
            deadline_s=deadline_s,
        )
    )
    assert fold(recorder.log()) == recorder.state
    return recorder


def types(recorder: LogRecorder) -> list[str]:
    return [event.type for event in recorder.log()][3:]


def by_attempt(*outcomes: Outcome) -> Callable[[Handoff], Outcome]:
    """A script that gives these, one after the other."""
    return lambda handoff: outcomes[handoff.attempt - 1]


# Events, whole


Told = tuple[str, str, dict[str, object]]


def told(events: Sequence[Event]) -> list[Told]:
    """Type, task and attempt of each event, and all its fields that are not as by default."""
    return [(one.type, _whose(one), dict(_fields(one))) for one in events]


def log(recorder: LogRecorder) -> list[Told]:
    return told(recorder.log()[3:])


def _whose(event: Event) -> str:
    return f"{getattr(event, 'task_id', '')} {getattr(event, 'attempt', '')}".strip()


def _fields(event: Event) -> Sequence[tuple[str, object]]:
    given = {
        field.name: (getattr(event, field.name), field.default)
        for field in dataclasses.fields(event)
        if field.name not in STAMP | {"task_id", "attempt"}
    }
    return [(name, value) for name, (value, usual) in given.items() if value != usual]
