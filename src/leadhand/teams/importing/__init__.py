"""Turns crewAI projects and folders of Markdown subagents into a team's folder.

Nothing in them is imported or executed, and no reference to code is carried over.
"""

from pathlib import Path
from typing import NamedTuple

from leadhand.errors import InputError, TeamError
from leadhand.teams.edits import fill_new
from leadhand.teams.importing import crew, subagents
from leadhand.teams.importing.definition import TeamDefinition, write
from leadhand.teams.loader import inspect
from leadhand.teams.notes import Notes


class Imported(NamedTuple):
    folder: Path
    team: TeamDefinition
    lost: tuple[str, ...]
    """What could not be carried over, each as `file:line: what and why`."""


def import_team(source: Path, into: Path | None = None) -> Imported:
    """Write the crew or the subagents in `source` as a team into a new folder.

    `into` is by default `NAME-team` in the current folder. Raises `InputError`, and writes nothing,
    if there is nothing to import or the folder exists, and `TeamError` with what can't be read.
    """
    if not source.is_dir():
        raise InputError(f"there is no folder {str(source)!r}: name one with agents")
    notes = Notes()
    try:
        team = _read(source, notes)
    except OSError as error:
        why = f"{error.filename or source}: {error.strerror or error}"
        raise InputError(f"{str(source)!r} can't be imported: {why}") from error
    if notes.problems:
        raise TeamError(source.name, notes.problems)
    assert team is not None, "without problems there is a team"

    def write_checked(new: Path) -> None:
        write(team, new)
        problems = inspect(new, code=False).problems
        if problems:
            raise TeamError(source.name, problems)

    folder = fill_new(into or Path(f"{team.name}-team"), write_checked)
    return Imported(folder, team, notes.warnings)


def _read(source: Path, notes: Notes) -> TeamDefinition | None:
    found = crew.crew_folders(source)
    if len(found) > 1:
        names = ", ".join(str(one) for one in found[:10])
        raise InputError(f"{str(source)!r} has {len(found)} crews: import one of {names}")
    return crew.read(found[0], notes) if found else subagents.read(source, notes)
