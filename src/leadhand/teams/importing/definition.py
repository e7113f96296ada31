"""What is read of another program's files, and the team that is written of it as a folder."""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import yaml

from leadhand.teams.draft import TEAM_FILE, WORKERS_FOLDER
from leadhand.teams.files import Value, read_text
from leadhand.teams.notes import FileLine, Notes

_dump = cast("Callable[..., str]", yaml.safe_dump)


@dataclass(frozen=True, slots=True)
class Item:
    """An agent, a task or a crew, as the other program's files have it."""

    name: str
    place: FileLine
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    places: dict[str, FileLine] = field(default_factory=dict[str, FileLine])

    def at(self, key: str) -> FileLine:
        return self.places.get(key, self.place)

    def text(self, key: str) -> str:
        """The text of a key; empty without it."""
        return str(self.values.get(key, "")).strip()


@dataclass(frozen=True, slots=True)
class WorkerDefinition:
    name: str
    front: Mapping[str, Value]
    instructions: str


@dataclass(frozen=True, slots=True)
class TeamDefinition:
    name: str
    description: str
    workers: tuple[WorkerDefinition, ...]
    settings: Mapping[str, Value] = field(default_factory=dict[str, Value])
    request: str = "..."
    """What to write as the request, shown as an example."""


def write(team: TeamDefinition, folder: Path) -> None:
    lists = [worker.front.get("tools") for worker in team.workers]
    uses = Counter(str(tool) for tools in lists if isinstance(tools, list) for tool in tools)
    shared: list[Value] = [tool for tool, count in uses.items() if count > 1]
    settings: dict[str, Value] = {"name": team.name, "description": team.description}
    settings |= team.settings
    if shared:
        settings["shared_tools"] = shared
    (folder / WORKERS_FOLDER).mkdir(parents=True)
    (folder / TEAM_FILE).write_text(_yaml(settings), encoding="utf-8")
    taken: set[str] = set()
    for worker in team.workers:
        stem = file_stem(worker.name, taken)
        text = worker_text(worker, stem)
        (folder / WORKERS_FOLDER / f"{stem}.md").write_text(text, encoding="utf-8")


def worker_text(worker: WorkerDefinition, stem: str) -> str:
    front: dict[str, Value] = {} if stem == worker.name else {"name": worker.name}
    return f"---\n{_yaml(front | dict(worker.front))}---\n\n{worker.instructions.strip()}\n"


def read_inside(path: Path, folder: Path, notes: Notes) -> tuple[str, str | None]:
    """Its place within `folder`, and its text: `None` with a problem in `notes`."""
    file = Path(os.path.relpath(path, folder)).as_posix()
    if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        return file, read_text(path, file, notes)
    notes.problem(FileLine(file, 0), "is a link that leads out of the folder: put a copy there")
    return file, None


def one_line(text: str) -> str:
    """`text` with each run of blanks and line ends as one blank."""
    return " ".join(text.split())


def _yaml(values: Mapping[str, Value]) -> str:
    return _dump(dict(values), sort_keys=False, allow_unicode=True, width=88)


def file_stem(name: str, taken: set[str]) -> str:
    """Unique, also where case does not count."""
    plain = re.sub(r"[^\w-]+", "-", name).strip("-")[:60] or "worker"
    stem, number = plain, 1
    while stem.casefold() in taken:
        number += 1
        stem = f"{plain}-{number}"
    taken.add(stem.casefold())
    return stem
