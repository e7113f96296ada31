"""What the commands about trained routers read and write."""

import sys
from pathlib import Path

from leadhand.contracts.team import Team
from leadhand.errors import InputError
from leadhand.routing.examples import Example, read_examples
from leadhand.teams.draft import read
from leadhand.teams.loader import find, ready_made
from leadhand.teams.notes import Notes
from leadhand.teams.sources import team_of


def workers_of(team: str, *, trust: bool) -> tuple[str, list[str]]:
    """The name of a team and of its workers; of a folder without importing its Python.

    So a router can be trained again after a worker was renamed, when the old one no longer fits.
    """
    if team in ready_made() or Path(team).is_dir():
        draft = read(find(Path(team) if Path(team).is_dir() else team), Notes())
        return draft.name, draft.names
    found = team_of(team, trust=trust)
    return found.name, [worker.name for worker in found.workers]


def routed_team(team: str, *, trust: bool) -> Team:
    """A team with a trained router. Raises `InputError` if it has none."""
    found = team_of(team, trust=trust)
    if found.trained_router is None:
        out = "" if Path(team).is_dir() else " --out FILE.json"
        raise InputError(
            f"team {found.name!r} has no trained router: make one with "
            f"`leadhand router train {team} --examples FILE.jsonl{out}`"
        )
    return found


def examples_in(file: Path, workers: list[str]) -> list[Example]:
    """The examples in a file. Raises `InputError`."""
    try:
        with file.open(encoding="utf-8-sig") as lines:
            return read_examples(lines, workers, source=str(file))
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise InputError(f"{file} can't be read: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    """Write a whole file, or leave the old one. Raises `InputError`."""
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror or error}") from error


def text_of(given: str) -> str:
    """The request: `-` is stdin."""
    return sys.stdin.read() if given == "-" else given
