"""Reads a team's folder file by file into a draft, before anything is built or imported."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from leadhand.teams.fields import Fields, TeamFields
from leadhand.teams.files import KeyPath, TeamFile, Value, read_markdown, read_yaml
from leadhand.teams.mistakes import validated
from leadhand.teams.notes import FileLine, Notes
from leadhand.teams.worker_fields import WorkerFields

M = TypeVar("M", bound=Fields)

TEAM_FILE = "team.yaml"
WORKERS_FOLDER = "workers"
_ROUNDS = 5
"""Removing a field may make the mapping around it wrong, at most once per level of nesting."""
_FILLER = "-"
_FILLED = frozenset({"description", "intent"})
"""Required prose that nothing else refers to: any text will do in its place."""


@dataclass(frozen=True, slots=True)
class WorkerDraft:
    name: str
    fields: WorkerFields
    """Its correct fields."""
    document: TeamFile
    written: TeamFile

    @property
    def has_function(self) -> bool:
        """Whether it declares how to do its work without a model, correctly or not."""
        return not self.written.values.keys().isdisjoint(
            {"agent", "draft", "offline", "run", "team"}
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A team's folder as read, with the problems of single files already noted."""

    folder: Path
    name: str
    """The name in team.yaml, else the folder's."""
    team: TeamFields | None
    """The correct fields of team.yaml; `None` if too little of it is correct."""
    document: TeamFile
    written: TeamFile
    """team.yaml as written; empty if it is missing or can't be read."""
    workers: tuple[WorkerDraft, ...]
    unreadable: tuple[str, ...]
    """Names of the workers whose files can't be read."""

    @property
    def names(self) -> list[str]:
        """All workers, with those whose files can't be read."""
        return [worker.name for worker in self.workers] + list(self.unreadable)

    def written_in_entries(self, key: str) -> set[str]:
        """The values of `key` in the template's entries, including wrong entries."""
        planner = self.written.values.get("planner")
        template = planner.get("template") if isinstance(planner, dict) else None
        entries = template if isinstance(template, list) else []
        values = (entry.get(key) for entry in entries if isinstance(entry, dict))
        return {value for value in values if isinstance(value, str)}


def read(folder: Path, notes: Notes) -> Draft:
    """Problems of single files go to `notes`."""
    written = _team_document(folder, notes) or TeamFile(TEAM_FILE, {})
    team, document = _checked(TeamFields, written, notes)
    workers: list[WorkerDraft] = []
    unreadable: list[str] = []
    for path in _worker_files(folder, notes, team):
        found = read_markdown(path, f"{WORKERS_FOLDER}/{path.name}", notes)
        fields, correct = _checked(WorkerFields, found, notes) if found else (None, None)
        if found and correct and fields:
            workers.append(WorkerDraft(fields.name or path.stem, fields, correct, found))
        else:
            unreadable.append(path.stem)
    return Draft(
        folder=folder,
        name=(team.name if team is not None else None) or folder.resolve().name[:100] or "team",
        team=team,
        document=document,
        written=written,
        workers=tuple(workers),
        unreadable=tuple(unreadable),
    )


def _checked(model: type[M], document: TeamFile, notes: Notes) -> tuple[M | None, TeamFile]:
    fields = validated(model, document, notes)
    if fields is not None:
        return fields, document
    return salvaged(model, document) or (None, document)


def _team_document(folder: Path, notes: Notes) -> TeamFile | None:
    if (folder / TEAM_FILE).exists():
        return read_yaml(folder / TEAM_FILE, TEAM_FILE, notes)
    similar = [name for name in ("team.yml", "Team.yaml", "team.json") if (folder / name).exists()]
    name = folder.resolve().name or "my-team"
    how = f"rename {similar[0]}" if similar else f"write one, beginning with `name: {name}`"
    notes.problem(FileLine(TEAM_FILE, 0), f"is missing: {how}")
    return None


def _worker_files(folder: Path, notes: Notes, team: TeamFields | None) -> Iterator[Path]:
    needed = team is None or team.worker_factory is None
    place = FileLine(WORKERS_FOLDER, 0)
    try:
        files = sorted((folder / WORKERS_FOLDER).iterdir())
    except FileNotFoundError:
        if needed:
            notes.problem(
                place, "is missing: make a folder with a file `<name>.md` for each worker"
            )
        return
    except OSError as error:
        notes.problem(place, f"can't be read as a folder: {error.strerror or error}")
        return
    found = [file for file in files if file.suffix == ".md" and not file.name.startswith(".")]
    if not found and needed:
        notes.problem(place, "has no workers: add a file `<name>.md` for each")
    yield from found


def salvaged(model: type[M], document: TeamFile) -> tuple[M, TeamFile] | None:
    """The file without its wrong fields, to check the rest; `None` if too little is left."""
    for _ in range(_ROUNDS):
        try:
            return model.model_validate(document.values), document
        except ValidationError as error:
            changes: dict[KeyPath, Value] = {}
            for row in error.errors(include_url=False):
                path = row["loc"]
                if path and path[-1] in _FILLED:
                    changes[path] = _FILLER
                else:
                    around = path[:-1] if row["type"] == "missing" else path
                    changes[document.nearest(around)] = None
            if () in changes:
                return None
            document = _changed(document, changes)
    return None


def _changed(document: TeamFile, changes: Mapping[KeyPath, Value]) -> TeamFile:
    """The document with some values replaced; `None` removes a value."""
    lines: dict[KeyPath, int] = {}

    def copy(value: Value, old: KeyPath, new: KeyPath) -> Value:
        if old in document.lines:
            lines[new] = document.lines[old]
        if isinstance(value, dict):
            kept = {key: changes.get((*old, key), inner) for key, inner in value.items()}
            kept |= {path[-1]: v for path, v in changes.items() if path[:-1] == old}
            return {
                str(key): copy(inner, (*old, key), (*new, key))
                for key, inner in kept.items()
                if inner is not None
            }
        if isinstance(value, list):
            every = [(n, changes.get((*old, n), inner)) for n, inner in enumerate(value)]
            left = [(n, inner) for n, inner in every if inner is not None]
            return [copy(inner, (*old, n), (*new, at)) for at, (n, inner) in enumerate(left)]
        return value

    values = copy(document.values, (), ())
    assert isinstance(values, dict), "a document is a mapping"
    return TeamFile(document.file, values, document.body, lines)
