"""Tools that workers name: loaded tools, labels, or problems."""

from pathlib import Path
from typing import cast

import pytest

from leadhand import ToolContext
from leadhand.contracts.worker import READY_MADE_TOOLS
from leadhand.teams.loader import load
from tests.team_folders import WORK, problems, warnings, worker, write_team

HERE = "tests.teams.test_tools"


def find_invoice(number: int) -> str:
    """The invoice of that number."""
    return str(number)


def find_order(number: int) -> str:
    """The order of that number."""
    return str(number)


def find_contract(ctx: ToolContext[object], number: int) -> str:
    """The contract of that number."""
    return f"{ctx.run_id}: {number}"


def bare(number, *, size: int = 1) -> int:  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
    return size


NOTHING = cast("str", object())
"""A default that JSON can't hold."""


class Desk:
    """Something that is no tool."""

    def __init__(self, number: int) -> None:
        self.number = number

    async def serve(self, guest: str, *, mark: str = NOTHING) -> str:
        """What the desk says to a guest."""
        return f"{self.number}: {guest}{mark}"


def take_desk(desk: Desk) -> str:
    """A tool that no model can call: it can't make a desk."""
    return str(desk.number)


DESK = Desk(3)
FIRST = [find_invoice][0]
NUMBER = 3


def model_worker(front: str, description: str = "Does a thing") -> str:
    """A worker's file for a model: without a function."""
    return f"---\ndescription: {description}\n{front}\n---\nDo it well.\n"


def test_a_worker_has_functions_of_ones_own_and_ready_made_tools_by_name(tmp_path: Path) -> None:
    tools = f"tools: {HERE}:find_invoice, calculate, {HERE}:DESK.serve, {HERE}:find_contract"
    folder = write_team(tmp_path, solo=model_worker(tools))
    assert warnings(folder) == []
    given = (find_invoice, "calculate", DESK.serve, find_contract)
    assert load(folder).workers[0].tools == given


def test_a_toolset_of_pydantic_ai_is_a_tool(tmp_path: Path) -> None:
    folder = write_team(tmp_path, solo=model_worker("tools: tests_toolset_x:TOOLS"))
    (folder / "tests_toolset_x.py").write_text(
        "from pydantic_ai.toolsets import FunctionToolset\nTOOLS = FunctionToolset()\n"
    )
    assert warnings(folder) == []
    (tool,) = load(folder).workers[0].tools
    assert type(tool).__name__ == "FunctionToolset"


@pytest.mark.parametrize("key", ["offline", "run"])
def test_what_a_function_uses_may_have_any_name(tmp_path: Path, key: str) -> None:
    front = f"{key}: {WORK}\ntools: read, git_grep, Bash(git:*)"
    folder = write_team(tmp_path, solo=model_worker(front))
    assert warnings(folder) == []
    assert load(folder).workers[0].tools == ("read", "git_grep", "Bash(git:*)")


def test_a_slip_in_the_name_of_a_ready_made_tool_is_warned_of(tmp_path: Path) -> None:
    assert warnings(write_team(tmp_path, solo=worker("tools: serach_files"))) == [
        "workers/solo.md:2: 'serach_files' is no tool that a model can use: did you mean "
        "'search_files'?"
    ]


@pytest.mark.parametrize(
    ("tool", "hint"),
    [
        ("Read", "did you mean 'read_file'? "),
        ("Bash(git:*)", ""),
        ("WebFetch(domain:x)", "did you mean 'read_page'? "),
        ("calcluate", "did you mean 'calculate'? "),
        ("zzz", ""),
    ],
)
def test_a_tool_that_a_model_could_not_call_is_a_problem(
    tmp_path: Path, tool: str, hint: str
) -> None:
    assert problems(write_team(tmp_path, solo=model_worker(f"tools:\n- calculate\n- {tool}"))) == [
        f"workers/solo.md:5: there is no tool {tool!r}: {hint}"
        f"ready-made are {', '.join(READY_MADE_TOOLS)}; for one of your own write `module:function`"
    ]


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("no_such_module_x:f", "there is no module 'no_such_module_x': put no_such_module_x.py"),
        (f"{HERE}:find_invoce", f"module {HERE!r} has no 'find_invoce': did you mean 'find_invoi"),
        (f"{HERE}:NUMBER", f"'{HERE}:NUMBER' is int and must be a function with a name, or a pyd"),
        (f"{HERE}:Desk", f"'{HERE}:Desk' is a class and must be a function with a name"),
        (f"{HERE}:take_desk", f"a model can't fill in the parameters of '{HERE}:take_desk' ("),
    ],
)  # fmt: skip
def test_a_function_that_is_no_tool_is_a_problem(tmp_path: Path, tool: str, said: str) -> None:
    for text in (model_worker(f"tools: {tool}"), worker(f"description: x\ntools: {tool}")):
        (found,) = problems(write_team(tmp_path, solo=text))
        assert found.startswith(f"workers/solo.md:3: {said}")


def test_a_tool_that_a_model_would_misuse_is_warned_of(tmp_path: Path) -> None:
    folder = write_team(tmp_path, solo=model_worker(f"tools: {HERE}:bare"))
    assert warnings(folder) == [
        "workers/solo.md:3: the tool 'bare' has no docstring: write what it returns, since "
        "the model reads it",
        "workers/solo.md:3: the tool 'bare' takes `number` without a type: annotate it, so that "
        "the model's arguments are checked",
    ]


def test_a_tool_of_two_workers_is_a_problem_unless_it_is_shared(tmp_path: Path) -> None:
    workers = {
        "one": model_worker(f"tools: [calculate, '{HERE}:FIRST']", "Sums"),
        "two": model_worker(f"tools:\n- '{HERE}:FIRST'\n- calculate", "Bills"),
    }
    assert problems(write_team(tmp_path, **workers)) == [
        "workers/two.md:4: the tool 'FIRST' belongs to 'one' already: give it to one of them, or "
        "list it under `shared_tools` in team.yaml",
        "workers/two.md:5: the tool 'calculate' belongs to 'one' already: give it to one of them, "
        "or list it under `shared_tools` in team.yaml",
    ]
    shared = f"shared_tools: [calculate, '{HERE}:FIRST']\n"
    assert warnings(write_team(tmp_path, shared, **workers)) == []
    assert load(tmp_path).shared_tools == ("calculate", "FIRST", "find_invoice")


def test_two_tools_of_one_name_in_one_hand_are_a_problem(tmp_path: Path) -> None:
    folder = write_team(
        tmp_path, solo=model_worker(f"tools: ['{HERE}:find_order', tests_other_x:find_order]")
    )
    (folder / "tests_other_x.py").write_text("def find_order(number: int) -> str:\n    'x'\n")
    assert problems(folder) == [
        "workers/solo.md:3: 'solo' has another tool called 'find_order' already: rename one"
    ]
