"""Reads a folder of Markdown subagents: YAML front matter, then the agent's prompt."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from leadhand.errors import InputError
from leadhand.teams.files import Value, markdown_in
from leadhand.teams.importing.counterparts import front_matter
from leadhand.teams.importing.crew import placeholders_in
from leadhand.teams.importing.definition import Item, TeamDefinition, WorkerDefinition, read_inside
from leadhand.teams.notes import FileLine, Notes
from leadhand.tools.text import joined_names

_MANIFEST = ".claude-plugin/plugin.json"
_FENCED = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.MULTILINE | re.DOTALL)
MAX_FILES = 500
MAX_ENTRIES = 100_000


def read(source: Path, notes: Notes) -> TeamDefinition | None:
    """The team of a plugin's subagents, those in `.claude/agents`, or all. `None` with a problem
    in `notes`. Raises `InputError` if there is no agent."""
    nested = source / ".claude" / "agents"
    named, places = _plugin(source, notes) if (source / _MANIFEST).exists() else ("", [])
    folder = nested if nested.is_dir() and not places else source
    files: dict[str, str] = {}
    found = [_worker(path, source, files, notes) for path in _files(places or [folder])]
    workers = tuple(one for one in found if one is not None)
    if notes.problems:
        return None
    if not workers:
        raise InputError(
            f"{str(source)!r} has no agents: there is no config/agents.yaml of a crew, and no "
            "Markdown file whose front matter has a `name` or a `description`"
        )
    place = folder.resolve()
    name = named or (place.parents[1] if place.match(".claude/agents") else place).name
    return TeamDefinition(
        name=name[:90] or "agents",
        description=f"Imported from the subagents in {name}.",
        workers=workers,
    )


def _plugin(folder: Path, notes: Notes) -> tuple[str, list[Path]]:
    """The name of a plugin, and where its agents are: empty with a problem in `notes`."""
    try:
        text = read_inside(folder / _MANIFEST, folder, notes)[1] or "{}"
        values = dict[str, Value](json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        notes.problem(FileLine(_MANIFEST, 0), f"is not the JSON of a plugin: {error}")
        return "", []
    named = values.get("agents", "agents")
    found = [folder / str(one) for one in (named if isinstance(named, list) else [named])]
    root = folder.resolve()
    for path in found:  # an impossible name does not exist either
        if not os.path.exists(path) or not Path(os.path.realpath(path)).is_relative_to(root):
            notes.problem(FileLine(_MANIFEST, 0), f"`agents`: there is no {path} in the plugin")
    name = str(values.get("name") or "")
    return name if name == Path(name).name else "", [] if notes.problems else found


def _files(places: Sequence[Path]) -> list[Path]:
    entries = (path for one in places for path in ([one] if one.is_file() else _entries(one)))
    files = {path for path in islice(entries, MAX_ENTRIES) if path.suffix == ".md"}
    if len(files) > MAX_FILES:
        raise InputError(
            f"{str(places[0])!r} has more than {MAX_FILES} Markdown files: import fewer"
        )
    return sorted(files)


def _entries(folder: Path) -> Iterator[Path]:
    for at, folders, files in os.walk(folder):  # links to folders are not followed
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(at, name) for name in files if not name.startswith("."))


def _worker(
    path: Path, source: Path, files: dict[str, str], notes: Notes
) -> WorkerDefinition | None:
    """`None` for other Markdown, or with a problem, in `notes`. `files` has the file of each
    agent."""
    file, text = read_inside(path, source, notes)
    if text is None:
        return None
    document = markdown_in(text, file, notes, lenient=True) if text.startswith("---") else None
    if document is None or not {"name", "description"} & document.values.keys():
        why = "it has no front matter with a `name` or a `description`"
        notes.warn(FileLine(file, 0), f"not imported: {why}")
        return None
    values = document.values
    name, description = values.get("name", path.stem), values.get("description")
    if not isinstance(name, str):
        notes.problem(document.place("name"), "`name` must be text")
        return None
    if files.setdefault(name, file) != file:
        notes.problem(document.place("name"), f"{name!r} is also the name of {files[name]}")
    if not isinstance(description, str):
        notes.warn(document.place("description"), "`description`: its first line is used instead")
        lines = (line for line in document.body.splitlines() if line.strip())
        description = next(lines, name).lstrip("# ")
    if "tools" not in values:
        why = "so the other program allows every tool; here it has none"
        notes.warn(document.place(), f"there is no `tools`, {why}")
    places = {key: document.place(key) for key in values}
    agent = Item(name, document.place(), values, places)
    description = description.replace("\\n", " ")
    front = front_matter(agent, description, ("name", "description"), notes)
    if stays := placeholders_in(_FENCED.sub("", document.body)):
        named = joined_names([f"{{{one}}}" for one in stays])
        notes.warn(document.place(), f"{named}: not filled, stays in the prompt")
    return WorkerDefinition(name, front, document.body)
