"""The file of a team's trained router: reading it, writing it, and naming it in team.yaml."""

from pathlib import Path

from leadhand.errors import InputError
from leadhand.routing.trained import MAX_BYTES, TrainedRouter
from leadhand.teams.draft import TEAM_FILE, Draft
from leadhand.teams.edits import edit
from leadhand.teams.files import read_yaml
from leadhand.teams.notes import Notes

ROUTER_FILE = "router.json"
"""Where `leadhand router train` writes a folder's router."""
KEY = "trained_router"


def trained_router(draft: Draft, notes: Notes) -> TrainedRouter | None:
    """`None` if team.yaml names none, or a problem is in `notes`."""
    named = draft.team.trained_router if draft.team is not None else None
    if named is None:
        return None
    place = draft.document.place(KEY)
    with notes.problems_at(place):
        router = _read(draft.folder / named, repr(named))
        routes = draft.team.routes if draft.team is not None else []
        reached = {*router.workers, *(name for one in routes for name in (one.worker, *one.also))}
        if new := ", ".join(repr(name) for name in draft.names if name not in reached):
            why = f"the trained router has no examples of {new}, so never chooses it"
            notes.warn(place, f"{why}: train it again")
        return router
    return None


def _read(path: Path, name: str) -> TrainedRouter:
    """Errors call the file `name`. Raises `InputError`."""
    try:
        if not path.is_file():
            raise InputError(f"there is no file {name}: make it with `leadhand router train`")
        with path.open("rb") as stream:
            text = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{name} can't be read: {error}") from error
    if len(text) > MAX_BYTES:
        raise InputError(f"{name} is larger than any trained router")
    return TrainedRouter.from_json(text, name)


def name_in_team_file(folder: Path, file: str) -> bool:
    """Add `trained_router: FILE` to the team.yaml of a folder, unless it names a router. Returns
    whether it names `file` now; it does not if anything else would change."""
    before = read_yaml(folder / TEAM_FILE, TEAM_FILE, Notes())
    if before is None or KEY in before.values:
        return before is not None and before.values.get(KEY) == file
    try:
        edit(folder, {KEY: file})
    except InputError:
        return False
    return True
