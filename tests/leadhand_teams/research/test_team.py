"""The research team has no problems, and one line describes each worker."""

from pathlib import Path

from leadhand.teams.loader import inspect, ready_made


def test_the_folder_has_no_problem_and_no_warning() -> None:
    inspection = inspect("research")
    assert (inspection.problems, inspection.warnings) == ((), ())


def test_workers_share_no_tools() -> None:
    team = inspect("research").team
    assert team is not None
    tools = {worker.name: set(map(str, worker.tools)) for worker in team.workers}
    assert tools == {
        "researcher": {"list_files", "search_files", "read_file", "search_web", "read_page"},
        "analyst": {"list_tables", "query", "calculate"},
    }
    assert team.shared_tools == ()


def test_a_description_fits_the_line_that_a_planner_sees() -> None:
    team = inspect("research").team
    assert team is not None
    assert all(len(worker.description) <= 110 for worker in team.workers)
    assert all(len(worker.instructions) > 500 for worker in team.workers)


def test_it_is_a_folder_that_can_be_copied_and_changed(tmp_path: Path) -> None:
    folder = ready_made()["research"]
    copy = tmp_path / "mine"
    (copy / "workers").mkdir(parents=True)
    for file in (folder / "team.yaml", *folder.glob("workers/*.md")):
        (copy / file.relative_to(folder)).write_text(file.read_text())
    assert inspect(copy).problems == ()
