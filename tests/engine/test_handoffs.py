"""What a worker is given: all that its task needs of the run, within its limits, and no more."""

from functools import partial

import pytest
from pydantic import JsonValue

from leadhand.contracts.events import (
    PlanAccepted,
    PlanProposed,
    RunStarted,
    TaskCompleted,
    TaskDispatched,
    TaskFailed,
    TaskSkipped,
)
from leadhand.contracts.outcome import Digest, Handoff, Result
from leadhand.contracts.task import Limits, Task
from leadhand.contracts.team import Team, Tier, Worker
from leadhand.engine.handoffs import DEFAULT_TIMEOUT_S, EXCERPT_CHARS, excerpt, handoff, limits_of
from tests.plans.samples import nothing, plan, task, team
from tests.state.folding import Run

LAST = Task(
    id="last",
    worker="worker",
    intent="sum it up",
    payload={"n": 1},
    depends_on=("a", "b", "c", "d", "e"),
    artifacts=("notes.txt",),
    done_when="it is summed up",
)


def after_all() -> Run:
    """A run in which all that `last` needs has ended, each in its own way."""
    the_plan = plan(*(task(id) for id in "abcde"), LAST)
    sure = Result(output={"n": 1}, summary="one", missing=("two",))
    half = Result(output="half", summary="the first half")
    lost = partial(TaskFailed, attempt=1, kind="error", message="no", final=True, decision="d")
    run = Run().told(
        partial(RunStarted, team="t", request="r", engine="model", deadline_s=None),
        partial(PlanProposed, plan=the_plan, by="planner"),
        PlanAccepted,
        *(partial(TaskDispatched, task_id=id, attempt=1, worker="worker") for id in "abcd"),
        partial(TaskCompleted, task_id="a", attempt=1, result=sure),
        partial(TaskCompleted, task_id="b", attempt=1, result=half, flag="accepted in doubt"),
        partial(lost, task_id="c", partial=half),
        partial(lost, task_id="d", message=""),
        partial(TaskSkipped, task_id="e", attempt=0, blame="d", reason="needs 'd'"),
    )
    run.state.tasks["last"].allowed = ("k",)
    return run


def test_a_handoff_has_the_task_and_what_came_of_all_that_it_needs() -> None:
    state, limits = after_all().state, Limits(timeout_s=5)
    worker = Worker("other", "d", run=nothing)
    assert handoff(state, state.tasks["last"], worker, limits, path="legal/") == Handoff(
        run_id="r",
        task_id="last",
        attempt=1,
        from_agent="supervisor",
        to_agent="other",
        intent="sum it up",
        payload={"n": 1},
        context=(
            Digest(
                task_id="a", status="completed", summary="one", excerpt='{"n": 1}',
                missing=("two",),
            ),
            Digest(
                task_id="b", status="completed", summary="the first half", excerpt="half",
                missing=("accepted in doubt",),
            ),
            Digest(
                task_id="c", status="failed", summary="the first half", excerpt="half",
                why_missing="no",
            ),
            Digest(task_id="d", status="failed", summary="", excerpt="", why_missing="failed"),
            Digest(
                task_id="e", status="skipped", summary="", excerpt="", why_missing="needs 'd'"
            ),
        ),
        inputs={"a": {"n": 1}, "b": "half"},
        artifacts=("notes.txt",),
        done_when="it is summed up",
        limits=limits,
        allowed=("k",),
        return_to="supervisor",
        key="r/legal/last",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("x" * EXCERPT_CHARS, "x" * EXCERPT_CHARS),
        ("x" * 2_001, f"{'x' * EXCERPT_CHARS} [cut: 2,001 characters in all]"),
        ({"é": None}, '{"é": null}'),
    ],
)
def test_others_see_the_beginning_of_a_long_output(output: JsonValue, shown: str) -> None:
    assert excerpt(Result(output=output)) == shown


@pytest.mark.parametrize(
    ("own", "workers", "teams", "found"),
    [
        (Limits(), Limits(), Limits(), Limits(timeout_s=DEFAULT_TIMEOUT_S)),
        (Limits(timeout_s=9), Limits(), Limits(), Limits(timeout_s=9)),
        (Limits(), Limits(timeout_s=8), Limits(), Limits(timeout_s=8)),
        (Limits(), Limits(), Limits(timeout_s=7), Limits(timeout_s=7)),
        (Limits(timeout_s=9), Limits(timeout_s=8), Limits(timeout_s=7), Limits(timeout_s=7)),
        (
            Limits(timeout_s=1, max_tokens=20, max_steps=3),
            Limits(timeout_s=2, max_tokens=10),
            Limits(max_steps=4, tier="fast"),
            Limits(timeout_s=1, max_tokens=10, max_steps=3, tier="fast"),
        ),
        (
            Limits(tier="strong"), Limits(tier="fast"), Limits(),
            Limits(timeout_s=DEFAULT_TIMEOUT_S, tier="strong"),
        ),
    ],
)  # fmt: skip
def test_a_tasks_limits_are_within_its_workers_and_the_teams(
    own: Limits, workers: Limits, teams: Limits, found: Limits
) -> None:
    worker = Worker("worker", "d", run=nothing, limits=workers)
    assert limits_of(Team("t", workers=(worker,), limits=teams), worker, own) == found


@pytest.mark.parametrize(("tier", "found"), [(None, "strong"), ("fast", "fast")])
def test_a_workers_tier_is_that_of_its_limits_or_else_its_own(
    tier: Tier | None, found: Tier
) -> None:
    worker = Worker("worker", "d", tier="strong", limits=Limits(tier=tier))
    assert limits_of(Team("t", workers=(worker,)), worker, Limits()).tier == found


def test_a_nested_team_has_the_time_of_its_run_where_nobody_says() -> None:
    worker = Worker("worker", "d", team=team())
    assert limits_of(Team("t", workers=(worker,)), worker, Limits()).timeout_s is None
