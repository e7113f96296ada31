"""What a task may take holds for the team that does it, through real HTTP."""

from leadhand import Team, Worker
from leadhand.contracts.events import ModelCalled
from leadhand.contracts.task import Limits
from leadhand.contracts.team import ModelSpec, Tier
from leadhand.testing import ScriptedServer
from tests.nested_teams import LEGAL, ONCE, Ran, plan

STANDARD, STRONG = "openai-chat:scripted", "openai-chat:large"
MODELS: dict[Tier, tuple[ModelSpec, ...]] = {"standard": (STANDARD,), "strong": (STRONG,)}


def ran(limits: Limits, inner_limits: Limits | None = None) -> Ran:
    """A run of one task with these limits, which a team of two readers does."""
    readers = tuple(
        Worker(f"reader{n}", f"Reads part {n} of contracts", instructions="You read contracts.")
        for n in (1, 2)
    )
    inner = Team("law", workers=readers, limits=inner_limits or Limits(), retry=ONCE)
    legal = Worker("legal", "Contract questions", team=inner)
    team = Team("office", workers=(legal,), models=MODELS, retry=ONCE)
    return Ran(team, plan(LEGAL.model_copy(update={"limits": limits})))


def models_of_workers(run: Ran) -> set[str]:
    calls = [event for event in run.events if isinstance(event, ModelCalled)]
    return {call.model for call in calls if call.role == "worker"}


def test_a_nested_teams_workers_start_with_the_tier_of_its_task(
    model_server: ScriptedServer,
) -> None:
    assert models_of_workers(ran(Limits())) == {STANDARD}
    assert models_of_workers(ran(Limits(tier="strong"))) == {STRONG}
    # What the team says itself is nearer to its workers.
    its_own = ran(Limits(tier="strong"), Limits(tier="standard"))
    assert models_of_workers(its_own) == {STANDARD}


def test_a_nested_team_takes_no_more_tokens_than_its_task_may(model_server: ScriptedServer) -> None:
    free = ran(Limits())
    assert free.answer.status == "complete"
    used = free.answer.metrics.input_tokens + free.answer.metrics.output_tokens
    bound = ran(Limits(max_tokens=used // 2))
    metrics = bound.answer.metrics
    assert metrics.input_tokens + metrics.output_tokens <= used // 2
    assert bound.answer.status in ("partial", "failed")
    assert ran(Limits(max_tokens=100 * used)).answer.status == "complete"
    assert any(f"the task's limit of {used // 2:,} tokens" in why for why in bound.gaps.values())
