"""Writes team folders for tests, and has the functions of their workers."""

from pathlib import Path

from leadhand.contracts.outcome import Handoff
from leadhand.teams.loader import inspect

WORK = "tests.team_folders:work"


def work(handoff: Handoff) -> str:
    """The workers' function: it returns the intent."""
    return f"{handoff.to_agent}: {handoff.intent}"


def worker(front: str = "", body: str = "Do it well.") -> str:
    """A worker's file with these lines of front matter, a description and a function."""
    given = front.strip("\n")
    lines = [given] if given else []
    if "description:" not in given:
        lines.append("description: Does a thing of its own")
    if "offline:" not in given:
        lines.append(f"offline: {WORK}")
    return "\n".join(["---", *lines, "---", "", body, ""])


def write_team(folder: Path, team: str = "name: mine\n", **workers: str) -> Path:
    """A folder with this team.yaml and a file for each worker; by default one."""
    (folder / "workers").mkdir(parents=True, exist_ok=True)
    (folder / "team.yaml").write_text(team, encoding="utf-8")
    for name, text in (workers or {"solo": worker()}).items():
        (folder / "workers" / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def problems(folder: Path) -> list[str]:
    """The problems of the team in `folder`."""
    found = inspect(folder)
    assert (found.team is None) == bool(found.problems)
    return list(found.problems)


def warnings(folder: Path) -> list[str]:
    """The warnings about the team in `folder`, which has no problems."""
    found = inspect(folder)
    assert found.problems == ()
    return list(found.warnings)
