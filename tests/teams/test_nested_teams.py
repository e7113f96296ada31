"""Folders of teams that name other teams, and routes to workers."""

import asyncio
import re
from pathlib import Path

import pytest

from leadhand.contracts.team import Role, Route
from leadhand.errors import TeamError
from leadhand.supervisor import Supervisor
from leadhand.teams.loader import load
from tests.team_folders import problems, warnings, worker, write_team


def nested(team: str, more: str = "") -> str:
    """A worker's file that names a team."""
    return f"---\ndescription: Contract questions\nteam: {team}\n{more}---\n"


def test_a_worker_names_another_folder_and_its_team_does_the_work(tmp_path: Path) -> None:
    write_team(tmp_path / "law", "name: law\n", reader=worker())
    write_team(tmp_path / "office", "name: office\n", legal=nested("../law", "timeout_s: 9\n"))
    team = load(tmp_path / "office")
    legal = team.workers[0]
    assert legal.team is not None
    assert (legal.team.name, legal.limits.timeout_s) == ("law", 9)
    answer = asyncio.run(Supervisor(team).run("May we cancel?"))
    assert (answer.status, answer.output) == ("complete", "reader: May we cancel?")
    assert warnings(tmp_path / "office") == []


def test_a_worker_names_a_ready_made_team(tmp_path: Path) -> None:
    write_team(tmp_path, "name: office\n", study=nested("research"))
    (study,) = load(tmp_path).workers
    assert study.team is not None
    assert study.team.name == "research"


def test_folders_that_name_each_other_are_refused_with_the_way(tmp_path: Path) -> None:
    """F13"""
    write_team(tmp_path / "law", "name: law\n", boss=nested("../office"))
    write_team(tmp_path / "office", "name: office\n", legal=nested("../law"))
    (problem,) = problems(tmp_path / "office")
    assert problem.startswith("workers/legal.md:3: in team '../law': workers/boss.md:3: the team ")
    assert "(office -> law -> office)" in problem
    write_team(tmp_path / "alone", "name: alone\n", me=nested("."))
    (problem,) = problems(tmp_path / "alone")
    assert "would contain itself (alone -> alone)" in problem


def test_folders_are_nested_no_deeper_than_three_levels(tmp_path: Path) -> None:
    """F13"""
    write_team(tmp_path / "t4", "name: t4\n", solo=worker())
    for level in (3, 2, 1, 0):
        write_team(tmp_path / f"t{level}", f"name: t{level}\n", a=nested(f"../t{level + 1}"))
    assert load(tmp_path / "t1").name == "t1"
    (problem,) = problems(tmp_path / "t0")
    assert "nested deeper than `max_depth` allows (t0 -> t1 -> t2 -> t3 -> t4)" in problem


def test_a_team_says_how_deep_others_may_be_nested_in_it(tmp_path: Path) -> None:
    """F13: for all of its tree; a team within it can only be stricter."""
    write_team(tmp_path / "t5", "name: t5\n", solo=worker())
    for level in (4, 3, 2, 1):
        depth = "max_depth: 9\n" if level < 3 else ""
        write_team(tmp_path / f"t{level}", f"name: t{level}\n{depth}", a=nested(f"../t{level + 1}"))
    for allowed, found in (("max_depth: 5\n", 0), ("max_depth: 4\n", 1), ("max_depth: 0\n", 1)):
        team = write_team(tmp_path / "t0", f"name: t0\n{allowed}", a=nested("../t1"))
        said = problems(team)
        assert len(said) == found
        assert all("deeper than `max_depth` allows (t0 -> t1" in line for line in said)
    write_team(tmp_path / "t1", "name: t1\nmax_depth: 0\n", a=nested("../t2"))
    (problem,) = problems(write_team(tmp_path / "t0", "max_depth: 5\n", a=nested("../t1")))
    assert problem.startswith("workers/a.md:3: in team '../t1': workers/a.md:3: teams are nested")
    assert load(write_team(tmp_path / "flat", "max_depth: 0\n")).max_depth == 0


def test_what_is_wrong_with_a_named_team_is_said_of_who_names_it(tmp_path: Path) -> None:
    write_team(tmp_path / "law", "name: law\n", reader="---\ntier: 3\n---\n")
    folder = write_team(tmp_path / "office", "name: o\n", a=nested("../law"), b=nested("../lw"))
    found = problems(folder)
    assert found[0].startswith("workers/a.md:3: in team '../law': workers/reader.md:")
    assert found[-1].startswith("workers/b.md:3: there is no folder")
    assert re.search(r"ready-made teams are .*research, review", found[-1])


def test_keys_that_a_team_in_a_workers_place_has_no_use_for_are_named(tmp_path: Path) -> None:
    write_team(tmp_path / "law", "name: law\n", reader=worker())
    more = "tier: fast\ntools: calculate\nmax_queue: 2\n"
    folder = write_team(tmp_path / "office", "name: o\n", legal=nested("../law", more))
    said = "workers/legal.md:{}: `team` always does the work of 'legal': `{}` has no effect"
    found = warnings(folder)
    assert said.format(4, "tier") in found
    assert said.format(5, "tools") in found
    assert any("`max_queue` has no effect without a `fallback`" in line for line in found)


# Routes

ROUTES = """\
name: support
routes:
  - worker: billing
    words: invoice, charged twice
    secondary: technical
  - {worker: technical, pattern: 'error \\d+', labels: [bug]}
  - worker: billing
router: {tier: fast, instructions: Money first.}
"""
BOTH = {
    "billing": worker("description: Invoices\nrole: desk\nfallback: technical\nmax_queue: 4"),
    "technical": worker("description: Errors"),
}


def test_the_rules_of_a_folder_say_whose_a_request_is(tmp_path: Path) -> None:
    team = load(write_team(tmp_path, ROUTES, **BOTH))
    assert team.routes == (
        Route("billing", words=("invoice", "charged twice"), secondary="technical"),
        Route("technical", pattern=r"error \d+", labels=("bug",)),
        Route("billing"),
    )
    assert team.router == Role(tier="fast", instructions="Money first.")
    assert (team.workers[0].role, team.workers[0].max_queue) == ("desk", 4)
    assert warnings(tmp_path) == []


@pytest.mark.parametrize(
    ("routes", "said"),
    [
        ("[{worker: biling}]", "3: the route leads to 'biling', who is not in the team: did you"),
        ("[{worker: billing}, {worker: technical}]", "3: the route has no condition"),
        ("[{words: [x]}]", "3: needs `worker`: who does it"),
        (
            "[{worker: billing, pattern: '(a'}]",
            "3: `pattern` is '(a' and must be a regular expression: unclosed group",
        ),
        ("[{worker: billing, pattern: 'a(?=b)'}]", "look-around"),
    ],
)
def test_a_wrong_rule_is_explained_in_words(tmp_path: Path, routes: str, said: str) -> None:
    found = problems(write_team(tmp_path, f"name: x\nroutes:\n  {routes}\n", **BOTH))
    assert len(found) == 1
    assert said in found[0]
    with pytest.raises(TeamError):
        load(tmp_path)
