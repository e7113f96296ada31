"""The planner's prompt: its content, its length, and that its examples are valid."""

import json
import re

import pytest

from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team, Worker
from leadhand.models.prompts import prompt
from leadhand.planners.proposal import object_in, proposed
from leadhand.plans.checks import check

TEXT = prompt("leadhand.planners", "planner")
GOOD, BAD = TEXT.partition("## Good plans")[2].split("## Bad tasks")
EXAMPLES = re.findall(r'^"(?P<request>[^\n]+)"\n\n```json\n(?P<plan>.+?)\n```$', GOOD, re.M | re.S)
MAX_TOKENS = 900


def company() -> Team:
    """The team that the prompt's examples are for, as the prompt describes it."""
    described = re.findall(r"`(\w+)` \(([^)]+)\)", GOOD)
    return Team("company", workers=tuple(Worker(name, about) for name, about in described))


def planned(request: str, written: str) -> Plan:
    data = object_in(written)
    assert data is not None
    assert data == json.loads(written)
    plan = proposed(data, request, company())
    assert isinstance(plan, Plan)
    return plan


def test_the_good_plans_are_a_graph_parallel_tasks_and_a_single_one() -> None:
    graph, parallel, single = (planned(*example) for example in EXAMPLES)
    assert [task.depends_on for task in parallel.tasks] == [(), ()]
    assert [task.depends_on for task in graph.tasks] == [(), (), ("charges", "export")]
    assert {task.worker for task in graph.tasks} == {worker.name for worker in company().workers}
    assert len(single.tasks) == 1


@pytest.mark.parametrize(("request_text", "written"), EXAMPLES)
def test_the_good_plans_pass_the_check(request_text: str, written: str) -> None:
    plan = planned(request_text, written)
    assert check(plan, company(), author="model", request=request_text) == ()


def test_the_bad_tasks_have_their_reasons() -> None:
    listed = [line for line in BAD.splitlines() if line.startswith("- ")]
    assert len(listed) == 3
    assert all(re.fullmatch(r"- (\".+?\"|`export` with .+?\.) \S.+", line) for line in listed)


@pytest.mark.parametrize(
    "rule",
    [
        "A request for one worker is one task",
        "Plan no task that only puts results together",
        "Tasks that don't need each other's output must not depend on each other",
        "not the plan, not the request, not the other workers",
        "every `intent` stands by itself",
    ],
)
def test_the_prompt_says_every_rule(rule: str) -> None:
    assert rule in TEXT


def test_the_prompt_is_short_and_ends_where_the_team_begins() -> None:
    assert len(TEXT) / 4 <= MAX_TOKENS
    assert TEXT.endswith("## Your team")
