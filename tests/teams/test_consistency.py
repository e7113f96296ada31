"""How the parts of a team's folder fit together."""

from pathlib import Path

import pytest

from leadhand.errors import TeamError
from leadhand.supervisor import Supervisor
from leadhand.teams.loader import load
from tests.team_folders import problems, warnings, worker, write_team


def test_template_entries_that_wait_for_each_other_are_a_problem(tmp_path: Path) -> None:
    entries = "".join(
        f"    - {{id: {id}, worker: solo, intent: Do {id}, depends_on: [{needed}]}}\n"
        for id, needed in ("ab", "bc", "ca")
    )
    assert problems(write_team(tmp_path, f"planner:\n  template:\n{entries}")) == [
        "team.yaml:3: these template entries wait for each other: a -> b -> c -> a: remove one of "
        "these dependencies"
    ]


@pytest.mark.parametrize(
    ("planner", "said"),
    [
        ("kind: ahead\n  max_levels: 2", "3: `max_levels` has no effect: it is for a `recursive` "
         "planner, and this one is `ahead`: leave it out, or make the planner's kind `recursive`"),
        ("max_rounds: 2", "2: `max_rounds` has no effect: it is for a `stepwise` planner, and this "
         "one has no kind: leave it out, or make the planner's kind `stepwise`"),
    ],
)  # fmt: skip
def test_a_setting_that_the_kind_of_planner_does_not_have_is_warned_of(
    tmp_path: Path, planner: str, said: str
) -> None:
    assert warnings(write_team(tmp_path, f"planner:\n  {planner}\n")) == [f"team.yaml:{said}"]
    own = "planner:\n  kind: stepwise\n  max_rounds: 2\n"
    assert warnings(write_team(tmp_path, own)) == []


def test_two_workers_of_one_name_are_a_problem(tmp_path: Path) -> None:
    folder = write_team(
        tmp_path, one=worker(), two=worker("description: Else\nname: one\ntools: [x]")
    )
    assert problems(folder) == [
        "workers/two.md:3: 'one' is also the name of workers/one.md: give each its own"
    ]


def test_a_worker_without_a_function_is_for_a_model_and_no_problem(tmp_path: Path) -> None:
    folder = write_team(tmp_path, solo="---\ndescription: Talks\n---\nTalk.\n")
    assert (problems(folder), warnings(folder)) == ([], [])
    with pytest.raises(TeamError, match="'solo' needs a model, and there is none"):
        Supervisor(load(folder))
    assert load(folder).workers[0].instructions == "Talk."


def test_a_worker_for_a_model_that_is_told_nothing_is_warned_of(tmp_path: Path) -> None:
    (found,) = warnings(write_team(tmp_path, solo="---\ndescription: Talks\n---\n"))
    assert found.startswith("workers/solo.md:2: 'solo' has no instructions: write them below")


def many(count: int) -> dict[str, str]:
    topics = ["tax", "law", "sea", "air", "ants", "iron", "jazz", "oaks"]
    return {topic: worker(f"description: {topic * 3}") for topic in topics[:count]}


def test_more_workers_than_a_supervisor_tells_apart_are_warned_of(tmp_path: Path) -> None:
    assert warnings(write_team(tmp_path / "7", **many(7))) == []
    (found,) = warnings(write_team(tmp_path / "8", **many(8)))
    assert found.startswith("team.yaml:1: 8 workers under one supervisor")


def test_many_workers_are_fine_where_a_template_chooses(tmp_path: Path) -> None:
    entries = ", ".join(f"{{id: {one}, worker: {one}, intent: Look}}" for one in many(8))
    assert warnings(write_team(tmp_path, f"planner: {{template: [{entries}]}}\n", **many(8))) == []


def test_more_tools_than_a_worker_tells_apart_are_warned_of(tmp_path: Path) -> None:
    tools = [f"tool_{n}" for n in range(13)]
    assert warnings(write_team(tmp_path / "12", solo=worker(f"tools: {tools[:12]}"))) == []
    (found,) = warnings(write_team(tmp_path / "13", solo=worker(f"\ntools: {', '.join(tools)}")))
    assert found.startswith("workers/solo.md:2: 'solo' has 13 tools")


def test_descriptions_that_promise_the_same_are_warned_of(tmp_path: Path) -> None:
    folder = write_team(
        tmp_path,
        one=worker("description: Handles invoices, refunds and payments"),
        three=worker("description: Handles crashes and set-up"),
        two=worker("description: Handles payments, refunds and invoices."),
    )
    (found,) = warnings(folder)
    assert found.startswith("workers/two.md:2: the description is nearly that of 'one'")


def test_a_worker_that_nothing_leads_to_is_warned_of(tmp_path: Path) -> None:
    team = "planner: {template: [{id: a, worker: tax, intent: Look.}]}\n"
    workers = many(4) | {"tax": worker("description: Tax\nfallback: law")}
    assert warnings(write_team(tmp_path, team, **workers)) == [
        f"workers/{one}.md:2: no template entry and no fallback leads to {one!r}: add an entry to "
        f"team.yaml, or remove workers/{one}.md"
        for one in ("air", "sea")
    ]


def test_where_a_model_plans_a_worker_outside_the_template_is_within_reach(tmp_path: Path) -> None:
    team = "planner: {template: [{id: a, worker: tax, intent: Look.}]}\n"
    workers = many(2) | {"sea": "---\ndescription: Ships\n---\nSail.\n"}
    assert warnings(write_team(tmp_path, team, **workers)) == []


def test_a_shared_tool_that_nobody_shares_is_warned_of(tmp_path: Path) -> None:
    folder = write_team(tmp_path, "shared_tools: [a, b]\n", solo=worker("tools: a"))
    assert warnings(folder) == [
        "team.yaml:1: the tool 'a' is marked as shared, and only 'solo' has it",
        "team.yaml:1: the tool 'b' is marked as shared, and no worker has it",
    ]
