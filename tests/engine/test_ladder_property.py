"""Whatever workers do and whatever advice comes: the log is the run, and every cap holds."""

import asyncio
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from leadhand.contracts.events import TaskDispatched, dump, parse
from leadhand.contracts.outcome import (
    Completed,
    Escalated,
    EscalationReason,
    Failed,
    Handoff,
    Outcome,
    PlanImpact,
    Result,
)
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team, Worker
from leadhand.policies.history import FREE_RETRIES
from leadhand.state.fold import fold
from leadhand.testing import run_virtual
from tests.engine.remedies import ScriptedRemedies
from tests.engine.scheduling import schedule
from tests.plans.samples import plans, task

REASONS: tuple[EscalationReason, ...] = (
    "out_of_scope", "ambiguous_input", "low_confidence", "timeout",
)  # fmt: skip
TEAM = Team(
    "t",
    workers=(Worker("worker", "d", fallback="spare"), Worker("spare", "d", fallback="worker")),
    models={"standard": ("a:small",), "strong": ("a:large",)},
)


@st.composite
def remedies(draw: st.DrawFn) -> ScriptedRemedies:
    """Advice that may be good, bad, late or missing."""
    parts = [task("x"), task("y", *draw(st.sampled_from([(), ("x",), ("gone",)])))]
    return ScriptedRemedies(
        intent=draw(st.sampled_from([None, "", "Other words."])),
        worker=draw(st.sampled_from([None, "spare", "nobody"])),
        parts=draw(st.sampled_from([None, [], parts])),
        verdict=draw(st.sampled_from([None, (True, "better"), (False, "worse")])),
        revised=draw(st.sampled_from([None, [], [task("new")], [task("new", "t0"), task("t1")]])),
        delay_s=draw(st.sampled_from([0.0, 3.0, 1_000.0])),
    )


@given(plans(), remedies(), st.data(), st.sampled_from([None, 7.0]))
@settings(max_examples=60)
def test_the_fold_equals_the_live_state_and_no_cap_is_passed(
    the_plan: Plan, advice: ScriptedRemedies, data: st.DataObject, deadline_s: float | None
) -> None:
    drawn = data.draw(st.lists(st.integers(0, 8), min_size=40, max_size=40))
    number = iter(drawn * 50)

    async def work(handoff: Handoff) -> Outcome:
        kind = next(number, 0)
        await asyncio.sleep(kind % 3)
        left = Result(output="half", confidence=kind * 10) if kind % 2 else None
        if kind in (1, 2):
            return Failed(kind="error", message="down", transient=kind == 1, partial=left)
        if kind == 3:
            return Failed(kind="timeout", message="slow", partial=left)
        if kind in (4, 5, 6, 7):
            return Escalated(reason=REASONS[kind - 4], message="hm", partial=left)
        impact = PlanImpact(reason="it fits no more") if kind == 8 else None
        return Completed(result=Result(output="whole", plan_impact=impact))

    recorder = run_virtual(
        schedule(the_plan, work, the_team=TEAM, remedies=advice, deadline_s=deadline_s)
    )
    state, events = recorder.state, recorder.log()
    assert fold(parse(dump(event)) for event in events) == state
    assert all(one.ended for one in state.tasks.values())
    started = Counter(event.task_id for event in events if isinstance(event, TaskDispatched))
    for id, one in state.tasks.items():
        assert one.attempts == started[id]
        assert one.attempts_before + one.attempts <= 3
        assert one.splits <= 2
    assert state.revisions <= 2
    assert state.repeated <= FREE_RETRIES + 0.2 * state.dispatched + 1
