"""What was not decided when a run was lost is decided as if it had not been (F29)."""

from collections.abc import Sequence

import pytest

from leadhand.contracts.events import Event, RunResumed, TaskEscalated, TaskFailed
from leadhand.contracts.outcome import Escalated, Failed, Outcome, Result
from leadhand.contracts.team import RetryRules
from leadhand.engine.scheduler import Scheduler
from leadhand.testing import ScriptedRunner, run_virtual
from tests.engine.ladders import FAILED, by_attempt, crew, told, work
from tests.engine.remedies import ScriptedRemedies
from tests.engine.scheduling import Script
from tests.plans.samples import task
from tests.recorders import LogRecorder

HALF = Result(output="half", confidence=40)
UNSURE = Escalated(reason="low_confidence", message="two readings", partial=HALF)
SLOW = Failed(kind="timeout", message="no answer within 5 s")
TEAM = crew(retry=RetryRules(max_attempts=4))


async def go_on(past: Sequence[Event], script: Script, remedies: ScriptedRemedies) -> LogRecorder:
    """The run with that past, resumed in a new process."""
    recorder = LogRecorder(past=past)
    recorder.record(RunResumed(**recorder.stamp(), deadline_s=None))
    runner = ScriptedRunner(script)
    runners = {worker.name: runner for worker in TEAM.workers}
    await Scheduler(recorder, TEAM, runners, concurrency=4, remedies=remedies).run()
    return recorder


@pytest.mark.parametrize(
    "outcomes",
    [
        (SLOW, SLOW, SLOW, SLOW),
        (FAILED, SLOW, FAILED, FAILED),
        (UNSURE, UNSURE, UNSURE),
        (UNSURE, UNSURE, FAILED),
        (Failed(kind="error", message="busy", transient=True),) * 4,
        (Escalated(reason="out_of_scope", message="not mine"),) * 4,
    ],
)
def test_from_each_outcome_on_the_ladder_is_the_same(outcomes: tuple[Outcome, ...]) -> None:
    def remedies() -> ScriptedRemedies:
        return ScriptedRemedies(intent="Other words.", worker="second", verdict=(True, "better"))

    script = by_attempt(*outcomes)
    whole = work(script, task("a", worker="first"), the_team=TEAM, remedies=remedies()).log()
    undecided = [
        place
        for place, event in enumerate(whole, start=1)
        if isinstance(event, TaskFailed | TaskEscalated) and not event.final
    ]
    assert undecided
    for place in undecided:
        resumed = run_virtual(go_on(whole[:place], script, remedies()))
        assert told(resumed.log()[-len(whole[place:]) :]) == told(whole[place:])
        assert resumed.state.tasks["a"].tried == tuple(
            event.worker for event in whole if event.type == "task_dispatched"
        )
