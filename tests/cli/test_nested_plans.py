"""Plans of tasks that are broken down, on the command line: asked about, answered, shown."""

import asyncio
import sys
from pathlib import Path

import pytest

from leadhand import Answer, Reply, Supervisor
from leadhand.cli import main
from tests.handles import replied, resumed
from tests.run.kinds.test_recursive import Tree, team


def test_nested_plans_are_approved_by_command_one_by_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def does(*arguments: str) -> str:
        sys.argv = ["leadhand", *arguments, "--home", str(tmp_path)]
        with pytest.raises(SystemExit):
            main()
        said = capsys.readouterr()
        return said.out + said.err

    async def started() -> Answer:
        tree = Tree({"m": {"x": None, "y": None}, "l": {"x": None}, "n": None})
        by = Supervisor(team(), planner=tree, home=tmp_path, approve=["plan"])
        await by.run("All", run_id="r")
        return await replied(by, "r", Reply(verdict="approved"))

    assert [one.task_id for one in asyncio.run(started()).waiting] == ["m", "l"]
    assert "m: Is this plan to be carried out? It breaks down task m." in does("show", "r")
    assert "r --home" in (asked := does("answer", "r", "--no-input"))
    assert "--task l --approve | --refuse [WHY] | --plan FILE" in asked
    assert "say which plan the answer is for: --task m or --task l" in does(
        "answer", "r", "--approve"
    )
    assert "no plan or call waits" in does("answer", "r", "--approve", "--task", "n")
    for task, how in (("m", "--approve"), ("l", "--refuse")):
        assert "the reply waits for the program" in does("answer", "r", "--task", task, how)
    by = Supervisor(team(), planner=Tree({}), home=tmp_path)
    answer = asyncio.run(resumed(by, "r"))
    assert [(task.id, task.status) for task in answer.tasks] == [
        ("m", "completed"), ("l", "failed"), ("n", "completed"),
    ]  # fmt: skip
    shown = does("show", "r")
    assert "    ✓ y completed · a" in shown
    assert "l: plan: a person refused the plan" in shown
