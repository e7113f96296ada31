"""What was not decided when a run was lost is decided as if it had not been (F29)."""

from collections.abc import Sequence

import pytest

from leadhand.contracts.events import Event, RunResumed, TaskEscalated, TaskFailed
from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, Result
from leadhand.contracts.team import Ladder, RetryRules, Team
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


async def go_on(
    past: Sequence[Event],
    script: Script,
    remedies: ScriptedRemedies,
    *,
    team: Team = TEAM,
    goes_on: tuple[str, ...] = (),
) -> LogRecorder:
    """The run with that past, resumed in a new process."""
    recorder = LogRecorder(past=past)
    recorder.record(RunResumed(**recorder.stamp(), deadline_s=None, goes_on=goes_on))
    runner = ScriptedRunner(script)
    runners = {worker.name: runner for worker in team.workers}
    await Scheduler(recorder, team, runners, concurrency=4, remedies=remedies).run()
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


def test_a_task_given_up_without_advice_is_tried_again_when_the_run_is_resumed() -> None:
    """Nothing is left to decide about its last attempt."""
    slow = Failed(kind="timeout", message="no answer within 5 s", transient=True)
    team = crew(ladder=Ladder(timeout=("split",)))
    script, remedies = by_attempt(slow, Completed(result=HALF)), ScriptedRemedies()
    past = work(script, task("a", worker="first"), the_team=team, remedies=remedies).log()
    assert [event.final for event in past if isinstance(event, TaskFailed)] == [False, True]
    resumed = run_virtual(go_on(past, script, remedies, team=team, goes_on=("a",)))
    again = resumed.state.tasks["a"]
    assert (again.status, again.attempts) == ("completed", 2)
