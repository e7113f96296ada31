"""The log is the run: folding its events gives the state that the run had, whatever happened."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from leadhand.contracts.events import WorkerStuck, dump, parse
from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import RetryRules
from leadhand.state.fold import fold
from leadhand.state.times import CallTimes
from leadhand.testing import run_virtual
from tests.engine.scheduling import schedule
from tests.plans.samples import plans, team

outcomes = st.sampled_from(["done", "fail", "busy", "scope", "unsure", "hang", "raise"])


@given(plans(), st.data(), st.integers(1, 4))
@settings(max_examples=60)
def test_the_fold_of_the_log_equals_the_live_state_and_every_task_ends_once(
    the_plan: Plan, data: st.DataObject, concurrency: int
) -> None:
    """Any graph, any outcomes, any order of finishing: the log is the run."""
    script = {one.id: data.draw(outcomes) for one in the_plan.tasks}
    seconds = {one.id: data.draw(st.integers(0, 5)) for one in the_plan.tasks}
    deadline_s = data.draw(st.sampled_from([None, 3.0]))
    ended: set[str] = set()

    async def work(handoff: Handoff) -> Outcome:
        id = handoff.task_id
        tolerant = {one.id for one in the_plan.tasks if one.tolerates_missing}
        assert id in tolerant or set(by_id[id].depends_on) <= ended
        await asyncio.sleep(seconds[id])
        match script[id]:
            case "fail":
                return Failed(kind="error", message="no")
            case "busy" if handoff.attempt < 3:
                return Failed(kind="error", message="busy", transient=True)
            case "scope":
                return Escalated(reason="out_of_scope", message="not mine")
            case "unsure":
                ended.add(id)
                return Escalated(
                    reason="low_confidence", message="hm", partial=Result(output=[1, None, "x"])
                )
            case "hang":
                await asyncio.sleep(10_000)
            case "raise":
                raise RuntimeError("worker bug")
            case _:
                pass
        ended.add(id)
        return Completed(result=Result(output={"id": id, "n": 0.1}, confidence=50))

    by_id: dict[str, Task] = {one.id: one for one in the_plan.tasks}
    patient = team(retry=RetryRules(backoff_s=(0.5,)))
    recorder = run_virtual(
        schedule(the_plan, work, concurrency=concurrency, the_team=patient, deadline_s=deadline_s)
    )
    state = recorder.state
    events = recorder.log()
    assert fold(parse(dump(event)) for event in events) == state
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert all(one.ended for one in state.tasks.values())
    finals = [
        event
        for event in events
        if event.type in ("task_completed", "task_skipped", "task_cancelled")
        or getattr(event, "final", False)
    ]
    assert len(finals) == len(the_plan.tasks)
    assert not any(isinstance(event, WorkerStuck) for event in events)


def test_calls_at_the_same_time_fill_it_once() -> None:
    calls = CallTimes()
    calls.add(10.0, took_s=10.0, queued_s=0.0)
    calls.add(12.0, took_s=6.0, queued_s=1.0)
    assert calls.filled == [(0.0, 12.0)]
    assert calls.worked_s(15.0) == 16.0 + 3.0
