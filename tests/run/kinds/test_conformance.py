"""The conformance suite of kinds: what holds for each, whoever plans and however often (F29, F46).

The simulation has more of it: the promises of every run, for seeds of each kind.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from leadhand import Completed, Handoff, Reply, Result, Team
from leadhand.contracts.budget import Budget
from leadhand.contracts.events import (
    ApprovalGiven,
    Event,
    ModelCalled,
    PlanProposed,
    RunFinished,
    TaskCompleted,
    TaskDispatched,
    unnested,
)
from leadhand.contracts.people import Question
from leadhand.state.fold import fold
from leadhand.testing import run_virtual
from leadhand.testing.json_data import Object
from tests.handles import resumed
from tests.run.kinds.kinds import (
    BROKEN_DOWN,
    KINDS,
    Kind,
    around,
    ask,
    endpoint,
    fails,
    log_of,
    supervisor,
    team,
    works,
)
from tests.run.resuming.story import RUN, Stops, kept, told

SAMPLE = 1 if "LEADHAND_TEST_ALL" in os.environ else 3
"""Of nested runs and of those that a person approves, which of the commits are tried."""
EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=str)


@EVERY_KIND
def test_a_run_makes_exactly_the_calls_that_its_kind_promises(kind: Kind) -> None:
    model = endpoint(kind)
    answer, _ = ask(kind, team(kind, model.model))
    assert (answer.status, len(answer.tasks)) == ("complete", kind.tasks)
    assert answer.metrics.requests == model.stats().requests == kind.calls


@EVERY_KIND
def test_a_single_task_needs_no_synthesis(kind: Kind) -> None:
    model = endpoint(replace(kind, script=()))
    answer, _ = ask(kind, team(kind, model.model, workers="a"))
    assert (answer.status, len(answer.tasks)) == ("complete", 1)
    assert answer.metrics.requests == kind.calls_of_one_task
    assert model.stats().by_role.get("synthesizer", 0) == 0


DEAD: Object = {"reply": {"misbehave": {"401": None}}}
DEAF: Object = {"reply": {"misbehave": {"latency_ms": 10_000_000}}}
DEAF_WORKERS: Object = {**DEAF, "match": {"role": "worker"}}


@pytest.mark.parametrize("trouble", ["deadline", "silence", "budget", "endpoint", "workers"])
@EVERY_KIND
def test_there_is_always_an_answer_that_says_what_is_missing(kind: Kind, trouble: str) -> None:
    script = {"deadline": [DEAF_WORKERS], "silence": [DEAF], "endpoint": [DEAD]}.get(trouble, [])
    model = endpoint(kind, *script)
    run = {"workers": fails}.get(trouble)
    deadline_s = 30.0 if script in ([DEAF], [DEAF_WORKERS]) else None
    budget = None
    if trouble == "budget":
        budget = Budget(requests=1) if kind.calls > 1 else Budget(tokens=1)
    answer, _ = ask(kind, team(kind, model.model, run=run), budget=budget, deadline_s=deadline_s)
    assert answer.status in ("partial", "failed")
    assert answer.gaps
    ended_by = {"deadline": "deadline", "silence": "deadline", "budget": "budget"}.get(trouble)
    assert answer.ended_by == ended_by
    assert answer.metrics.makespan_s < 30.5
    assert budget is None or model.stats().requests <= 1


@EVERY_KIND
def test_a_run_killed_at_any_commit_ends_with_the_same_answer_and_no_call_twice(kind: Kind) -> None:
    model = endpoint(kind)
    for commit in _killed(kind, team(kind, model.model)):
        assert sum(isinstance(event, ModelCalled) for event in commit) == kind.calls


@EVERY_KIND
def test_a_nested_run_killed_at_any_commit_ends_the_same_and_no_call_twice(kind: Kind) -> None:
    model = endpoint(kind)
    for commit in _killed(kind, around(team(kind, model.model, run=works)), every=SAMPLE):
        calls = kind.calls - kind.leaves + kind.made
        assert sum(isinstance(event, ModelCalled) for event in commit) == calls


def _killed(
    kind: Kind, of: Team, *, every: int = 1, **settings: object
) -> Iterator[Sequence[Event]]:
    """The logs of runs that were killed after each commit, or each third, and resumed."""
    journal = Stops()
    whole, events = ask(kind, of, journal=journal, **settings)
    assert len(journal.commits) > 2
    for stop in journal.commits[::every]:
        left = kept(events[:stop])
        by = supervisor(of, journal=left, **settings)  # pyright: ignore[reportArgumentType]
        answer = run_virtual(resumed(by, RUN))
        assert told(answer) == told(whole), f"after event {stop}"
        log = log_of(left, of)
        assert fold(log).answer == answer
        yield log


@EVERY_KIND
def test_no_task_starts_that_a_person_has_not_approved_not_even_after_a_restart(kind: Kind) -> None:
    async def approve(question: Question) -> Reply:
        return Reply(verdict="approved")

    model = endpoint(kind)
    of = team(kind, model.model, run=works)
    for log in _killed(kind, of, every=SAMPLE, approve=["plan"], person=approve):
        ended = log[-1]
        assert isinstance(ended, RunFinished)
        assert (ended.answer.status, len(ended.answer.tasks)) == ("complete", kind.tasks)
        shown: set[str] = set()
        allowed: set[str] = set()
        for event in log:
            if isinstance(event, PlanProposed):
                shown = {"/".join((*event.within, task.id)) for task in event.plan.tasks}
            elif isinstance(event, ApprovalGiven):
                allowed |= shown
            elif isinstance(event, TaskDispatched):
                assert event.task_id in allowed


@EVERY_KIND
def test_what_a_person_refuses_is_not_done(kind: Kind) -> None:
    async def refuse(question: Question) -> Reply:
        return Reply(verdict="refused", text="not now")

    model = endpoint(kind)
    of = team(kind, model.model, run=works)
    answer, _ = ask(kind, of, approve=["plan"], person=refuse)
    assert (answer.status, answer.tasks) == ("failed", ())
    assert "not now" in answer.gaps[0].why


@EVERY_KIND
def test_a_nested_team_of_that_kind_keeps_to_the_limits_of_the_run_around_it(kind: Kind) -> None:
    model = endpoint(kind, DEAF_WORKERS)
    late, _ = ask(kind, around(team(kind, model.model)), deadline_s=30.0)
    assert late.status in ("partial", "failed")
    assert late.metrics.makespan_s < 30.5

    model = endpoint(kind)
    budget = Budget(requests=2 * kind.calls)  # a fifth is kept for the synthesis
    answer, log = ask(kind, around(team(kind, model.model)), budget=budget, concurrency=1)
    assert answer.status == "complete"
    assert model.stats().requests == kind.calls
    inside = [unnested(event) for event in log if event.within]
    assert sum(isinstance(event, TaskDispatched) for event in inside) == kind.tasks + kind.within
    assert _at_once(inside) == 1
    if kind.calls > 1:
        model = endpoint(kind)
        budget = Budget(requests=kind.calls - 1)
        answer, _ = ask(kind, around(team(kind, model.model)), budget=budget)
        assert answer.status in ("partial", "failed")
        assert model.stats().requests <= kind.calls - 1


def _at_once(events: Sequence[Event]) -> int:
    """The most tasks that ran at the same time; those that are broken down take no slot."""
    running, most = 0, 0
    for event in events:
        if isinstance(event, TaskDispatched | TaskCompleted) and event.task_id == BROKEN_DOWN:
            continue
        running += isinstance(event, TaskDispatched) - isinstance(event, TaskCompleted)
        most = max(most, running)
    return most


OPEN: Object = {
    "match": {"role": "judge"},
    "reply": {
        "json": {
            "contradict": True,
            "winners": [],
            "resolution": None,
            "why": "?",
            "confidence": 50,
        }
    },
}


async def _differs(handoff: Handoff) -> Completed:
    doubts = handoff.to_agent == "a"
    output = {"port": ord(handoff.to_agent)}
    return Completed(result=Result(output=output, confidence=20 if doubts else 90))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.tasks > 1], ids=str)
def test_contradictions_that_the_judge_leaves_open_are_gaps_at_every_depth(kind: Kind) -> None:
    """F56."""
    of = team(kind, endpoint(kind, OPEN).model, run=_differs)
    of = replace(of, same_subject=[["a", "b"]])
    inside = f"{BROKEN_DOWN}/" if kind.within else ""
    for one, path in ((of, inside), (around(of), f"inner/{inside}")):
        answer, _ = ask(kind, one)
        assert answer.status == "partial"
        found = [conflict for conflict in answer.conflicts if conflict.kind == "contradiction"]
        assert [conflict.about for conflict in found] != []
        assert all(id.startswith(path) for conflict in found for id in conflict.task_ids)
        for conflict in found:
            assert conflict.about in answer.answer
            ids = " and ".join(conflict.task_ids)
            assert any(gap.why.startswith(ids) and "97 in" in gap.why for gap in answer.gaps)


@EVERY_KIND
def test_a_second_opinion_with_another_value_is_a_conflict_that_the_judge_settled(
    kind: Kind,
) -> None:
    """F56."""
    of = team(kind, endpoint(kind).model, run=_differs)
    first, *others = of.workers
    of = replace(of, workers=[replace(first, min_confidence=50, fallback="b"), *others])
    for one in (of, around(of)):
        answer, _ = ask(kind, one)
        assert answer.status in ("complete", "partial")
        found = [conflict for conflict in answer.conflicts if len(conflict.task_ids) == 1]
        assert [conflict.about for conflict in found] == ["port is 97 by a and 98 by b"]
        assert found[0].kind == "contradiction"
        assert found[0].resolution is not None
        assert not any("two results" in gap.why for gap in answer.gaps)
