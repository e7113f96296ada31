"""A task is split while others that need it have been given up already."""

import asyncio

from leadhand.contracts.events import TaskSkipped, TaskSplit
from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.contracts.team import RetryRules, Team, Worker
from leadhand.state.fold import fold
from tests.engine.remedies import ScriptedRemedies
from tests.engine.scheduling import schedule
from tests.plans.samples import plan, task

TEAM = Team("team", workers=(Worker("worker", "does it"),), retry=RetryRules(max_attempts=3))


def follow(handoff: Handoff) -> Outcome:
    """`lost` fails; `big` says that it is too much; all else is done."""
    match handoff.task_id:
        case "lost":
            return Failed(kind="error", message="the archive burnt down")
        case "big":
            return Escalated(reason="timeout", message="too much for one")
        case _:
            return Completed(result=Result(output=handoff.task_id))


def test_a_skipped_task_that_needs_a_split_one_stays_skipped_and_names_its_parts() -> None:
    """The plan that stands has no loose end, and nothing waits for what never comes."""
    the_plan = plan(
        task("lost"),
        task("big"),
        task("both", "lost", "big"),
        task("after", "big"),
        task("last", "both"),
    )
    remedies = ScriptedRemedies(parts=[task("x"), task("y", "x")])
    # One after the other, in plan order: `lost` has failed before `big` begins.
    run = schedule(the_plan, follow, the_team=TEAM, remedies=remedies, concurrency=1)
    recorder = asyncio.run(asyncio.wait_for(run, 5))
    state, events = recorder.state, recorder.log()

    skipped = [event for event in events if isinstance(event, TaskSkipped)]
    assert [(one.task_id, one.blame) for one in skipped] == [("both", "lost"), ("last", "lost")]
    (split,) = [event for event in events if isinstance(event, TaskSplit)]
    assert split.seq > skipped[-1].seq
    assert split.rewired == ("both", "after")

    assert {id: one.status for id, one in state.tasks.items()} == {
        "lost": "failed",
        "both": "skipped",
        "after": "completed",
        "last": "skipped",
        "big.1": "completed",
        "big.2": "completed",
    }
    assert state.tasks["both"].task.depends_on == ("lost", "big.1", "big.2")
    assert state.tasks["after"].task.depends_on == ("big.1", "big.2")
    assert state.tasks["both"].attempts == 0
    assert fold(events).tasks == state.tasks
