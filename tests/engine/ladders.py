"""A team with every rung of the ladder, and its tasks through the real scheduler."""

from leadhand.contracts.outcome import Failed
from leadhand.contracts.task import Task
from leadhand.contracts.team import Team, Worker
from leadhand.engine.recorder import Recorder
from leadhand.state.fold import fold
from leadhand.testing import run_virtual
from tests.engine.remedies import ScriptedPerson, ScriptedRemedies
from tests.engine.scheduling import Script, schedule
from tests.plans.samples import plan, task

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
) -> Recorder:
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


def types(recorder: Recorder) -> list[str]:
    """What happened to the tasks, in order."""
    return [event.type for event in recorder.log()][3:]
