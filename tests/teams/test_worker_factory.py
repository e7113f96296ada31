"""`worker_factory` in team.yaml: what is loaded, what is refused, and how it is shown."""

import io
from pathlib import Path

from rich.console import Console

from leadhand import WorkerFactory
from leadhand.cli.teams.actions import check_team
from leadhand.cli.teams.document import document
from leadhand.cli.teams.page import team_page
from leadhand.teams.loader import inspect, load
from tests.team_folders import problems, worker, write_team


def find_stock(metal: str) -> str:
    """Counts the tons of a metal in store."""
    return metal


FIND = f"{__name__}:find_stock"
TEAM = f"""\
name: mine
worker_factory:
  tools: [search_web, "{FIND}"]
  shared_tools: ["{FIND}"]
  tiers: [fast]
  max_workers: 3
"""


def alone(folder: Path, team: str) -> Path:
    """A folder without workers."""
    folder.mkdir()
    (folder / "team.yaml").write_text(team, encoding="utf-8")
    return folder


def test_a_folder_may_have_a_factory_and_no_workers(tmp_path: Path) -> None:
    folder = alone(tmp_path / "mine", TEAM)
    team = load(folder)
    factory = WorkerFactory(
        ["search_web", find_stock], shared_tools=["find_stock"], tiers=["fast"], max_workers=3
    )
    assert (team.workers, team.worker_factory) == ((), factory)
    out = io.StringIO()
    assert check_team(folder, Console(file=out, width=200))
    assert out.getvalue() == (
        "team 'mine' can be used with a model: 0 workers and up to 3 made for a plan\n"
    )
    out = io.StringIO()
    console = Console(file=out, width=80)
    console.print(team_page(team, console.width))
    shown = " ".join(out.getvalue().split())
    catalogue = f"worker_factory tools: search_web, {FIND} · shared_tools: find_stock"
    assert f"{catalogue} · tiers: fast · max_workers: 3" in shown
    assert document(team)["worker_factory"] == {
        "tools": ["search_web", FIND],
        "shared_tools": ("find_stock",),
        "tiers": ("fast",),
        "max_workers": 3,
    }


def test_a_list_is_the_catalogue(tmp_path: Path) -> None:
    folder = alone(tmp_path / "mine", "name: mine\nworker_factory: [calculate]\n")
    assert load(folder).worker_factory == WorkerFactory(["calculate"])


def test_everything_wrong_with_a_catalogue_is_named_with_its_line(tmp_path: Path) -> None:
    team = """\
name: mine
planner: stepwise
worker_factory:
  tools:
    - grep
    - query
    - read_file
  shared_tools: [other]
"""
    folder = write_team(tmp_path / "mine", team, reader=worker("tools: [read_file]"))
    assert problems(folder) == [
        "team.yaml:5: there is no tool 'grep': did you mean 'search_files'? ready-made are "
        "list_files, search_files, read_file, list_tables, query, calculate, search_web, "
        "read_page; for one of your own write `module:function`",
        "team.yaml:7: the tool 'read_file' belongs to 'reader' already: leave it out here, or "
        "list it under `shared_tools`",
        "team.yaml:8: the tool 'other' is not in the catalogue: it has grep, query, read_file",
    ]
    refused = "name: mine\nplanner: routed\nworker_factory: [calculate]\n"
    (problem,) = inspect(write_team(tmp_path / "other", refused)).problems
    assert "planner kind 'routed' makes no workers for its plans" in problem
