"""Imports what the workers of a folder name: functions, tools, input and output types, teams."""

import builtins
import inspect
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, cast

from pydantic import JsonValue, TypeAdapter

from leadhand.contracts.ladder import Retry
from leadhand.contracts.team import AgentLike, Team, WorkFunction
from leadhand.errors import InputError
from leadhand.plans.payloads import schema_mistakes
from leadhand.plans.signatures import role_problem
from leadhand.teams import functions
from leadhand.teams.draft import Draft, WorkerDraft
from leadhand.teams.fields import TeamFields
from leadhand.teams.files import TeamFile
from leadhand.teams.notes import FileLine, Notes
from leadhand.teams.tools import tools
from leadhand.workers.foreign import adapter_of


class ImportedParts(NamedTuple):
    run: WorkFunction | AgentLike | None
    agent: object
    offline: WorkFunction | None
    draft: WorkFunction | None
    tools: tuple[object, ...]
    input: object
    output: object
    team: Team | None
    retry: Retry


LoadTeam = Callable[[WorkerDraft], Team | None]


def imported(
    draft: Draft, notes: Notes, *, own: bool, code: bool, load_team: LoadTeam
) -> dict[str, ImportedParts]:
    """The parts of every worker, by its name; `notes` gets a problem for each that fails.

    `own`: the team is the user's, so its folder becomes importable unless it shadows the standard
    library. Without `code` nothing is imported.
    """
    if own:
        shadowing = functions.shadowing(draft.folder)
        for name in shadowing:
            notes.problem(FileLine(name, 0), "hides Python's own module of that name: rename it")
        if shadowing and code:
            return {}
    if not code:
        for worker in draft.workers:
            if worker.fields.team is not None:
                load_team(worker)
        return {}
    if own:
        functions.make_importable(draft.folder)
    return {
        worker.name: _parts(worker, draft.folder, notes, load_team, own) for worker in draft.workers
    }


def _parts(
    worker: WorkerDraft, folder: Path, notes: Notes, load_team: LoadTeam, own: bool
) -> ImportedParts:
    fields = worker.fields
    retry = Retry(on=_exceptions(worker, folder, notes), attempts=fields.retry.attempts)
    taken = declared_form(fields.input, worker.document, "input", folder, notes)
    if fields.team is not None:
        team = load_team(worker)
        return ImportedParts(
            *(None, None, None, None), tools=(), input=taken, output=None, team=team, retry=retry
        )
    return ImportedParts(
        run=_work(worker, "run", fields.run, folder, notes, own),
        agent=_agent(worker, folder, notes),
        offline=cast(
            "WorkFunction | None", _work(worker, "offline", fields.offline, folder, notes, own)
        ),
        draft=cast("WorkFunction | None", _work(worker, "draft", fields.draft, folder, notes, own)),
        tools=tools(worker, folder, notes),
        input=taken,
        output=declared_form(fields.output, worker.document, "output", folder, notes),
        team=None,
        retry=retry,
    )


def team_code(draft: Draft, notes: Notes) -> dict[str, object]:
    """The code of planner, synthesizer and report, `None` for one that has none."""
    team = draft.team or TeamFields()
    names = {"planner": team.planner.run, "synthesizer": team.synthesizer.run}
    found: dict[str, object] = {}
    for name, written in {**names, "report": team.report}.items():
        found[name] = None
        place = draft.document.place(*((name,) if name == "report" else (name, "run")))
        with notes.problems_at(place):
            if written is not None:
                found[name] = code = functions.resolve(written, draft.folder)
                if problem := role_problem(name, code):
                    raise InputError(f"{written!r} can't be the {name}: {problem}")
    return found


def _exceptions(
    worker: WorkerDraft, folder: Path, notes: Notes
) -> tuple[type[BaseException], ...] | None:
    """`None` if `retry` names none."""
    names = worker.fields.retry.on
    if names is None:
        return None
    found: list[type[BaseException]] = []
    for name in names:
        with notes.problems_at(worker.document.place("retry", "on")):
            kind = functions.resolve(name, folder) if ":" in name else getattr(builtins, name)
            if not (isinstance(kind, type) and issubclass(kind, BaseException)):
                raise InputError(f"{name!r} is no exception class")
            found.append(kind)
    return tuple(found)


def _work(
    worker: WorkerDraft, key: str, name: str | None, folder: Path, notes: Notes, own: bool
) -> WorkFunction | AgentLike | None:
    if name is None:
        return None
    isolate = worker.fields.isolate
    with notes.problems_at(worker.document.place(key)):
        return functions.work_function(name, folder, isolate=isolate, agents=key == "run", own=own)
    return None


def _agent(worker: WorkerDraft, folder: Path, notes: Notes) -> object:
    name = worker.fields.agent
    if name is None:
        return None
    with notes.problems_at(worker.document.place("agent")):
        found = functions.resolve(name, folder)
        adapter_of(found)
        return found
    return None


def declared_form(
    declared: JsonValue,
    document: TeamFile,
    key: Literal["input", "output"],
    folder: Path,
    notes: Notes,
) -> object:
    """`None` if there is none or it is wrong."""
    found: object = declared
    if isinstance(declared, str):
        with notes.problems_at(document.place(key)):
            found = functions.resolve(declared, folder)
            if not isinstance(found, Mapping):
                _check_type(found, declared)
                return found
    if not isinstance(found, Mapping):
        return None
    schema = cast("Mapping[str, JsonValue]", found)
    for path, why in schema_mistakes(schema):
        notes.problem(document.place(key, *path), why)
    return schema


def _check_type(found: object, name: str) -> None:
    """Raises `InputError` for an object that can't describe data."""
    if inspect.isroutine(found) or inspect.ismodule(found):
        kind = type(found).__name__
        raise InputError(f"{name!r} is a {kind} and must be a class, or a JSON Schema as a dict")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TypeAdapter(cast("type[object]", found)).json_schema()
    except Exception as error:
        # A class may have schema hooks of its own, which may raise anything.
        why = " ".join(str(error).partition("\n")[0].split())
        raise InputError(
            f"{name!r} can't describe JSON data ({type(error).__name__}: {why}): name a pydantic "
            "model, a dataclass or a TypedDict"
        ) from error
