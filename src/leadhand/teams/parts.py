"""What the workers of a folder are made of besides plain data: functions, tools, output types."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast

from leadhand.contracts.team import AgentLike, Team, WorkFunction
from leadhand.teams import functions
from leadhand.teams.draft import Draft, WorkerDraft
from leadhand.teams.notes import Notes, Place
from leadhand.teams.outputs import output
from leadhand.teams.tools import tools


class Parts(NamedTuple):
    """What one worker's front matter names, as it was found."""

    run: WorkFunction | AgentLike | None
    offline: WorkFunction | None
    tools: tuple[object, ...]
    output: object
    team: Team | None


TeamOf = Callable[[WorkerDraft], Team | None]


def imported(draft: Draft, notes: Notes, *, own: bool, team_of: TeamOf) -> dict[str, Parts]:
    """The parts of every worker, by its name; what can't be had, `notes` says.

    `team_of` loads the team that does a worker's work, where it names one. `own`: the folder's
    modules are made importable, by worker processes too, unless they would hide Python's own.
    """
    if own:
        hiding = functions.hiding(draft.folder)
        for name in hiding:
            notes.problem(Place(name, 0), "hides Python's own module of that name: rename it")
        if hiding:
            return {}
        functions.importable(draft.folder)
    return {worker.name: _parts(worker, draft.folder, notes, team_of) for worker in draft.workers}


def _parts(worker: WorkerDraft, folder: Path, notes: Notes, team_of: TeamOf) -> Parts:
    fields = worker.fields
    if fields.team is not None:
        return Parts(run=None, offline=None, tools=(), output=None, team=team_of(worker))
    return Parts(
        run=_work(worker, "run", fields.run, folder, notes),
        offline=cast(
            "WorkFunction | None", _work(worker, "offline", fields.offline, folder, notes)
        ),
        tools=tools(worker, folder, notes),
        output=output(worker, folder, notes),
        team=None,
    )


def _work(
    worker: WorkerDraft, key: str, name: str | None, folder: Path, notes: Notes
) -> WorkFunction | AgentLike | None:
    if name is None:
        return None
    found = functions.work(name, folder, isolate=worker.fields.isolate, agents=key == "run")
    if isinstance(found, functions.Unusable):
        notes.problem(worker.document.place(key), found.why)
        return None
    return found
