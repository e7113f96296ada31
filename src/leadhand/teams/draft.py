"""A team's folder as it was read, file by file, before anything is made of it or imported."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from leadhand.teams.fields import Fields, TeamFields, WorkerFields
from leadhand.teams.files import TeamFile, read_markdown, read_yaml
from leadhand.teams.mistakes import validated
from leadhand.teams.notes import FileLine, Notes
from leadhand.teams.salvage import salvaged

M = TypeVar("M", bound=Fields)

TEAM_FILE = "team.yaml"
WORKERS_FOLDER = "workers"


@dataclass(frozen=True, slots=True)
class WorkerDraft:
    """One worker's file that could be read."""

    name: str
    fields: WorkerFields
    """What is right in it."""
    document: TeamFile
    """The same with its lines, and the instructions."""
    written: TeamFile
    """The file as it is written."""

    @property
    def has_function(self) -> bool:
        """Whether its work can be done without a model; the function may prove to be wrong."""
        return not self.written.values.keys().isdisjoint({"offline", "run", "team"})


@dataclass(frozen=True, slots=True)
class Draft:
    """What a folder says of a team."""

    folder: Path
    name: str
    """As team.yaml has it, else the folder's own."""
    team: TeamFields | None
    """What is right in team.yaml; none where there is nothing to go by."""
    document: TeamFile
    """The same with its lines."""
    written: TeamFile
    """team.yaml as it is written; empty where it is missing or can't be read."""
    workers: tuple[WorkerDraft, ...]
    unread: tuple[str, ...]
    """Names of workers whose files can't be read: they are in the team, more is not known."""

    @property
    def names(self) -> list[str]:
        """Everyone who is in the team, those with an unreadable file too."""
        return [worker.name for worker in self.workers] + list(self.unread)

    def written_in_entries(self, key: str) -> set[str]:
        """What the template's entries have under `key`, the wrong ones too."""
        planner = self.written.values.get("planner")
        template = planner.get("template") if isinstance(planner, dict) else None
        entries = template if isinstance(template, list) else []
        values = (entry.get(key) for entry in entries if isinstance(entry, dict))
        return {value for value in values if isinstance(value, str)}


def read(folder: Path, notes: Notes) -> Draft:
    """The team in `folder`; whatever is wrong with single files goes to `notes`."""
    written = _team_document(folder, notes) or TeamFile(TEAM_FILE, {})
    team, document = _checked(TeamFields, written, notes)
    workers: list[WorkerDraft] = []
    unread: list[str] = []
    for path in _worker_files(folder, notes):
        found = read_markdown(path, f"{WORKERS_FOLDER}/{path.name}", notes)
        fields, right = _checked(WorkerFields, found, notes) if found else (None, None)
        if found and right and fields:
            workers.append(WorkerDraft(fields.name or path.stem, fields, right, found))
        else:
            unread.append(path.stem)
    return Draft(
        folder=folder,
        name=(team.name if team is not None else None) or folder.resolve().name[:100] or "team",
        team=team,
        document=document,
        written=written,
        workers=tuple(workers),
        unread=tuple(unread),
    )


def _checked(model: type[M], document: TeamFile, notes: Notes) -> tuple[M | None, TeamFile]:
    """The fields of a file with their lines; of a file with mistakes, those that are right."""
    fields = validated(model, document, notes)
    if fields is not None:
        return fields, document
    return salvaged(model, document) or (None, document)


def _team_document(folder: Path, notes: Notes) -> TeamFile | None:
    if (folder / TEAM_FILE).exists():
        return read_yaml(folder / TEAM_FILE, TEAM_FILE, notes)
    here = [name for name in ("team.yml", "Team.yaml", "team.json") if (folder / name).exists()]
    how = f"rename {here[0]}" if here else f"write one, beginning with `name: {_suggested(folder)}`"
    notes.problem(FileLine(TEAM_FILE, 0), f"is missing: {how}")
    return None


def _suggested(folder: Path) -> str:
    return folder.resolve().name or "my-team"


def _worker_files(folder: Path, notes: Notes) -> Iterator[Path]:
    place = FileLine(WORKERS_FOLDER, 0)
    try:
        files = sorted((folder / WORKERS_FOLDER).iterdir())
    except FileNotFoundError:
        notes.problem(place, "is missing: make it a folder with a file `<name>.md` for each worker")
        return
    except OSError as error:
        notes.problem(place, f"can't be read as a folder: {error.strerror or error}")
        return
    found = [file for file in files if file.suffix == ".md" and not file.name.startswith(".")]
    if not found:
        notes.problem(place, "holds no workers: add a file `<name>.md` for each")
    yield from found
