"""`leadhand teams save`: the workers made for a run become those of a folder."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leadhand import Plan, Supervisor, Task
from leadhand.cli.app import app
from leadhand.contracts.task import PlannedWorker
from leadhand.errors import InputError
from leadhand.plans.planned_workers import with_planned_workers
from leadhand.teams.loader import inspect, load
from leadhand.teams.saving import save_team
from leadhand.testing import VirtualClock, run_virtual
from tests.models.in_process import InProcess
from tests.team_folders import worker, write_team

FIND = f"{__name__}:find_stock"
TEAM = f"""\
name: mine  # the name of its runs
# What the planner may hand out.
worker_factory:
  shared_tools: ["{FIND}"]
  tools:
    - calculate   # exact
    - "{FIND}"
# How results become the answer.
synthesizer: merge
"""


def find_stock(metal: str) -> str:
    """Counts the tons of a metal in store."""
    return metal


def made(name: str, *tools: str, **fields: object) -> PlannedWorker:
    given = {"description": f"Counts\n as {name}", "instructions": f"Count as {name}.", **fields}
    return PlannedWorker(name=name, tools=tools, **given)  # pyright: ignore[reportArgumentType]


SCHEMA = {"type": "object", "properties": {"tons": {"type": "number"}}}
PLAN = Plan(
    goal="Count the tons",
    tasks=[
        Task(id=f"t{n}", worker=name, intent=f"Count part {n} of the tons")
        for n, name in enumerate(("counter", "Solo-2", "solo"), start=1)
    ],
    workers=[
        made("counter", "calculate", "find_stock", tier="strong", output=SCHEMA),
        made("Solo-2", "find_stock"),
    ],
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_team(tmp_path / "mine", TEAM, solo=worker())


def saved(*words: str, status: int = 0) -> str:
    ended = CliRunner().invoke(app, ["teams", "save", *words])
    assert ended.exit_code == status, (ended.output, ended.exception)
    return ended.output if ended.exception is None else f"{ended.output}{ended.exception}"


def ran(folder: Path, home: Path, plan: Plan) -> None:
    """A run of the team, kept in `home`."""
    team = replace(load(folder), model=InProcess().model)
    supervisor = Supervisor(team, home=home)
    answer = asyncio.run(supervisor.run(plan=plan, run_id="r"))
    assert answer.status == "complete"


def test_the_workers_of_a_run_are_saved_with_its_team(folder: Path, tmp_path: Path) -> None:
    ran(folder, tmp_path / "home", PLAN)
    into, where = tmp_path / "new", ["--home", str(tmp_path / "home"), "--team", str(folder)]
    told = saved("r", str(into), *where)
    assert told == (
        "saved team 'mine' with 2 workers made for run 'r'\n"
        f"  counter: workers/counter.md (calculate, {FIND})\n"
        f"  Solo-2: workers/Solo-2.md ({FIND})\n"
        f"check it: leadhand teams check {into}\n"
        f"run it: leadhand run 'Count the tons' --team {into}\n"
    )
    assert (into / "team.yaml").read_text() == (
        "name: mine  # the name of its runs\n"
        "# What the planner may hand out.\n"
        "# How results become the answer.\n"
        "synthesizer: merge\n"
        f"shared_tools:\n- {FIND}\n"
    )
    assert inspect(into).warnings == ()
    team = load(into)
    expected = with_planned_workers(load(folder), PLAN)
    by_name = {one.name: one for one in team.workers}
    for one in expected.workers:
        same = replace(one, description=" ".join(one.description.split()))
        assert by_name[one.name] == same
    model = InProcess()
    supervisor = Supervisor(replace(team, model=model.model), clock=VirtualClock())
    answer = run_virtual(supervisor.run("Count the tons"))
    assert (answer.status, len(answer.tasks)) == ("complete", 3)
    document = json.loads(saved("r", str(tmp_path / "other"), "--json", *where))
    assert [one["file"] for one in document["workers"]] == [
        "workers/counter.md",
        "workers/Solo-2.md",
    ]


def test_what_cannot_be_saved_writes_nothing(folder: Path, tmp_path: Path) -> None:
    ran(folder, tmp_path / "home", PLAN.model_copy(update={"workers": (), "tasks": PLAN.tasks[2:]}))
    home = ["--home", str(tmp_path / "home")]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note").touch()
    before = sorted(tmp_path.rglob("*"))
    into = str(tmp_path / "new")
    assert "its plan describes no workers" in saved(
        "r", into, *home, "--team", str(folder), status=1
    )
    assert "there is no run" in saved("other", into, *home, status=1)
    for folder_or_file, why in (
        (tmp_path / "full", "is not empty"),
        (folder / "inner", "is in the folder of the team itself"),
        (tmp_path / "no" / "new", "there is no folder"),
    ):
        with pytest.raises(InputError, match=why):
            save_team(folder, PLAN, folder_or_file)
    gone = made("counter", "shell")
    with pytest.raises(InputError, match="the worker factory of team 'mine' has no shell"):
        save_team(folder, PLAN.model_copy(update={"workers": (gone,)}), Path(into))
    (folder / "workers" / "late.md").write_text(worker("name: counter"))
    with pytest.raises(InputError, match=r"would be no sound team: .*also the name of"):
        save_team(folder, PLAN, Path(into))
    (folder / "workers" / "late.md").unlink()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_team_on_one_line_is_not_edited_by_guess(tmp_path: Path) -> None:
    line = "{name: mine, worker_factory: [calculate]}\n"
    folder = write_team(tmp_path / "mine", line, solo=worker())
    plan = PLAN.model_copy(update={"workers": (made("counter", "calculate"),)})
    with pytest.raises(InputError, match="without changing what else it says"):
        save_team(folder, plan, tmp_path / "new")
    assert not (tmp_path / "new").exists()
