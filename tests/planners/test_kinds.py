"""A team names the kind of its planner, in Python or in team.yaml; each kind can stand alone."""

import asyncio
from pathlib import Path
from typing import get_args

import pytest

from leadhand import Handoff, InputError, Role, Route, Supervisor, Team, Worker
from leadhand.contracts.events import Event, PlanProposed
from leadhand.contracts.planner_kinds import PlannerKind
from leadhand.contracts.team import TaskTemplate
from leadhand.teams.loader import load
from leadhand.testing import ScriptedServer
from tests.team_folders import problems, worker, write_team

REQUEST = "I was charged twice"
KINDS: tuple[PlannerKind, ...] = get_args(PlannerKind)


RULE = Route("billing", words=["charged"])
TEMPLATE = TaskTemplate("look", "technical", "Look into {request}.")


def desk(planner: Role | PlannerKind, *, rules: bool, template: bool = False) -> Team:
    return Team(
        "desk",
        model="openai-chat:scripted",
        workers=[
            Worker("billing", "Invoices and refunds", instructions="You know invoices."),
            Worker("technical", "The app", instructions="You know the app."),
        ],
        routes=[RULE] if rules else (),
        template=[TEMPLATE] if template else (),
        planner=planner,
    )


def count(handoff: Handoff) -> int:
    return len(handoff.intent)


def planned_by(team: Team) -> list[tuple[str, int]]:
    """Who proposed plans of how many tasks; the run is complete."""
    events: list[Event] = []
    answer = asyncio.run(Supervisor(team).run(REQUEST, listener=events.append))
    assert answer.status == "complete"
    return [(one.by, len(one.plan.tasks)) for one in events if isinstance(one, PlanProposed)]


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_decides_who_plans_whatever_else_the_team_has(
    kind: PlannerKind, more: bool, model_server: ScriptedServer
) -> None:
    script: list[object] = [{"match": {"tool": "choose_worker"}, "reply": {"json": CHOSEN}}]
    model_server.configure(script=script)
    wanted = {"ahead": ("planner", 2), "stepwise": ("planner", 2), "routed": ("router", 1)}
    wanted["recursive"] = ("planner", 2)
    wanted["template"] = ("template", 1 if more else 2)
    assert planned_by(desk(kind, rules=more, template=more)) == [wanted[kind]]


CHOSEN = {"why": "money", "worker": "billing", "confidence": 90}


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_model_every_kind_does_the_work_by_code(kind: PlannerKind) -> None:
    team = Team("desk", workers=[Worker("count", "Counts", run=count)], planner=kind)
    answer = asyncio.run(Supervisor(team).run(REQUEST))
    assert (answer.status, answer.engine) == ("complete", "deterministic")


def test_without_a_kind_rules_come_before_the_model_and_the_model_before_the_template(
    model_server: ScriptedServer,
) -> None:
    assert planned_by(desk(Role(), rules=True, template=True)) == [("router", 1)]
    assert planned_by(desk(Role(), rules=False, template=True)) == [("planner", 2)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_in_the_team_file_is_the_kind(kind: PlannerKind, tmp_path: Path) -> None:
    word = load(write_team(tmp_path / "a", f"planner: {kind}\n", solo=worker()))
    mapping = load(write_team(tmp_path / "b", f"planner: {{kind: {kind}, tier: fast}}\n"))
    assert word.planner == Role(kind=kind) == Team("x", workers=[], planner=kind).planner
    assert mapping.planner == Role(kind=kind, tier="fast")


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`planner.kind` is 'odd' and must be 'ahead', "):
        desk("odd", rules=False)  # pyright: ignore[reportArgumentType]
    (found,) = problems(write_team(tmp_path, "planner: odd\n"))
    assert "team.yaml:1" in found
    assert "'ahead', " in found
