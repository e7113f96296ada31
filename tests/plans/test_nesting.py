"""Nested teams: inherited models, depth, and nested events."""

import dataclasses
from functools import partial

import pytest

from leadhand.contracts.events import (
    ApprovalGiven,
    ApprovalRequested,
    Event,
    ModelCalled,
    RunStopped,
    TaskDispatched,
    nested,
    unnested,
)
from leadhand.contracts.team import Team, Worker
from leadhand.plans.nesting import NestedTeam, nested_teams, nesting_problems, with_inherited_models
from leadhand.testing.journal_stories import NOON
from tests.plans.samples import nothing

LEAF = Team("leaf", workers=(Worker("solo", "d"),))


def outer(*teams: Team, **fields: object) -> Team:
    """A team whose workers are these teams."""
    workers = tuple(Worker(f"w{n}", "d", team=team) for n, team in enumerate(teams))
    return Team("outer", workers=workers, **fields)  # pyright: ignore[reportArgumentType]


def test_every_team_below_is_found_with_its_way_each_outer_one_first() -> None:
    middle = Team("middle", workers=(Worker("x", "d", run=nothing), Worker("y", "d", team=LEAF)))
    assert [*nested_teams(outer(middle, LEAF))] == [
        NestedTeam(middle, ("outer", "middle")),
        NestedTeam(LEAF, ("outer", "middle", "leaf")),
        NestedTeam(LEAF, ("outer", "leaf")),
    ]


def test_a_team_that_contains_itself_or_is_too_deep_is_a_problem() -> None:
    assert nesting_problems(outer(outer(LEAF), max_depth=2)) == ()
    assert nesting_problems(outer(outer(LEAF), max_depth=1)) == (
        "teams are nested deeper than 1 levels (outer -> outer -> leaf): nest fewer, or raise "
        "`max_depth`",
    )
    ring = Team("ring", workers=())
    object.__setattr__(ring, "workers", (Worker("again", "d", team=ring),))
    assert nesting_problems(ring) == (
        "it contains itself (ring -> ring): take worker 'again' out of 'ring'",
    )


def test_only_a_team_with_use_for_a_model_and_none_of_its_own_inherits_one() -> None:
    own = dataclasses.replace(LEAF, model="b:own")
    by_hand = Team(
        "by hand", workers=(Worker("x", "d", run=nothing), Worker("y", "d", model="c:d"))
    )
    deep = Team("deep", workers=(Worker("x", "d", team=LEAF), Worker("y", "d", run=nothing)))
    team = with_inherited_models(outer(LEAF, own, by_hand, deep, model="a:outer"))
    inner = [worker.team for worker in team.workers]
    assert [one.model if one else None for one in inner] == ["a:outer", "b:own", None, "a:outer"]
    assert inner[3] is not None
    below = inner[3].workers[0].team
    assert (below.model if below else None, inner[2]) == ("a:outer", by_hand)


@pytest.mark.parametrize("team", [outer(LEAF), outer(Team("none", workers=()), model="a:b")])
def test_where_nothing_is_inherited_the_team_stays_the_same_one(team: Team) -> None:
    assert with_inherited_models(team) is team


@pytest.mark.parametrize(
    ("event", "inside", "outside"),
    [
        (partial(TaskDispatched, attempt=1, worker="w"), "t", "legal/t"),
        (partial(ModelCalled, role="worker", model="m", duration_s=1.0), "t", "legal/t"),
        (partial(ModelCalled, role="planner", model="m", duration_s=1.0), None, "legal"),
        (partial(ApprovalRequested, question="?"), None, "legal"),
        (partial(ApprovalGiven, verdict="approved", by="ann"), "t", "legal/t"),
    ],
)
def test_an_event_is_about_the_task_around_it_and_back(
    event: partial[Event], inside: str | None, outside: str
) -> None:
    made = event(seq=1, at=NOON, elapsed_s=0.0, run_id="r", task_id=inside)
    once = nested(made, "legal")
    assert (getattr(once, "task_id", None), once.within) == (outside, ("legal",))
    twice = nested(once, "a")
    assert (getattr(twice, "task_id", None), twice.within) == (f"a/{outside}", ("a", "legal"))
    assert unnested(twice) == once
    assert unnested(once) == made


def test_an_event_about_no_task_says_only_where_it_happened() -> None:
    event = RunStopped(seq=1, at=NOON, elapsed_s=0.0, run_id="r", reason="enough")
    assert nested(event, "legal") == dataclasses.replace(event, within=("legal",))
    assert unnested(nested(event, "legal")) == event
