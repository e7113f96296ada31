"""A tool belongs to one worker, however it is wrapped, unless the team marks it as shared."""

from collections.abc import Sequence

import pytest
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.tools import Tool
from pydantic_ai.toolsets import AbstractToolset, CombinedToolset, FunctionToolset

from leadhand import Supervisor, Team, TeamError, Worker
from leadhand.contracts.task import Task
from leadhand.plans.checks import check
from leadhand.plans.team_checks import team_problems
from tests.plans.samples import plan


def find(word: str) -> str:
    """Finds a word."""
    return word


def count(word: str) -> int:
    """Counts letters."""
    return len(word)


def team(one: Sequence[object], other: Sequence[object], *shared: str) -> Team:
    return Team(
        "t",
        model="openai-chat:scripted",
        workers=(Worker("a", "does a", tools=(*one,)), Worker("b", "does b", tools=(*other,))),
        shared_tools=shared,
    )


def problems(one: Sequence[object], other: Sequence[object], *shared: str) -> tuple[str, ...]:
    return team_problems(team(one, other, *shared))


OURS: FunctionToolset[None] = FunctionToolset([find, count])
SERVER = MCPToolset("http://127.0.0.1:9/mcp", id="archive")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (OURS, OURS),
        (OURS, OURS.filtered(lambda context, tool: tool.name == "find")),
        (OURS, CombinedToolset([OURS])),
        (OURS, FunctionToolset([find])),
        (OURS, find),
        (OURS, Tool(find)),
        (OURS, OURS.prefixed("my")),
        (OURS.prefixed("your"), CombinedToolset([OURS.prefixed("my")])),
        (OURS, OURS.renamed({"look_up": "find", "size": "count"})),
        (find, Tool(find, name="look_up")),
    ],
    ids=[
        "the same toolset", "filtered", "combined", "the same function in two toolsets",
        "a function beside its toolset", "a Tool beside the toolset", "prefixed",
        "two prefixes", "renamed", "the same function under two names",
    ],
)  # fmt: skip
def test_a_tool_inside_a_toolset_is_refused_like_one_that_is_given_twice(
    one: object, other: object
) -> None:
    found = problems([one], [other])
    assert found, "it is shared"
    assert all("workers a and b share the tool" in problem for problem in found)
    with pytest.raises(TeamError, match="workers a and b share the tool"):
        Supervisor(team([one], [other]))


def test_one_mcp_server_given_to_two_workers_is_refused_however_it_is_wrapped() -> None:
    for other in (SERVER, SERVER.prefixed("x"), CombinedToolset([OURS, SERVER])):
        (problem,) = problems([SERVER], [other])
        assert "share the toolset MCPToolset 'archive'" in problem
        assert "name its id in the team's `shared_tools`" in problem
        assert problems([SERVER], [other], "archive") == ()


class Nameless(AbstractToolset[None]):
    """A toolset without an id, whose tools are known only when it is used."""

    @property
    def id(self) -> None:
        """None."""

    async def get_tools(self, ctx: object) -> dict[str, object]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """None."""
        return {}

    async def call_tool(self, name: str, tool_args: object, ctx: object, tool: object) -> object:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Nothing."""


def test_the_error_for_a_toolset_without_an_id_says_how_to_mark_it() -> None:
    one = Nameless()
    (problem,) = problems([one], [one])
    assert "share a toolset, Nameless" in problem
    assert "give it an id to name" in problem
    assert problems([Nameless()], [Nameless()]) == ()


def test_what_is_marked_as_shared_by_its_name_or_by_its_toolsets_id_is_shared() -> None:
    marked: FunctionToolset[None] = FunctionToolset([find, count], id="words")
    assert problems([OURS], [OURS], "find", "count") == ()
    assert problems([marked], [marked.prefixed("x")], "words") == ()
    (problem,) = problems([OURS], [OURS], "find")
    assert "'count'" in problem


def test_two_toolsets_with_tools_of_their_own_share_nothing() -> None:
    assert problems([FunctionToolset([find])], [FunctionToolset([count])]) == ()
    twice: FunctionToolset[None] = FunctionToolset([find])
    assert problems([twice, twice.prefixed("x")], []) == ()


def test_a_task_may_need_a_tool_inside_a_toolset() -> None:
    needs = Task(id="t", worker="a", intent="find the word", tools=("my_find",))
    assert check(plan(needs), team([OURS.prefixed("my")], [])) == ()
    assert check(plan(needs), team([SERVER], [])) == ()
    (problem,) = check(plan(needs), team([OURS], []))
    assert problem.code == "tool_out_of_reach"
