"""Reads a folder of Markdown subagents: YAML front matter, then the agent's prompt."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from leadhand.errors import InputError
from leadhand.teams.files import TeamFile, Value, read_markdown, read_text
from leadhand.teams.importing.counterparts import model_keys, tool_names
from leadhand.teams.importing.definition import TeamDefinition, WorkerDefinition, inside, one_line
from leadhand.teams.importing.process import Placeholders
from leadhand.teams.notes import FileLine, Notes
from leadhand.teams.values import split_names
from leadhand.tools.text import joined_names

_MANIFEST = ".claude-plugin/plugin.json"
_FENCED = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.MULTILINE | re.DOTALL)
MAX_FILES = 500
"""How many Markdown files are read."""
MAX_ENTRIES = 100_000
"""How many entries of the folder are looked at."""
_LIMITS = {"maxTurns": "max_steps", "max_turns": "max_steps", "steps": "max_steps"}
_SETTINGS = ("temperature", "top_p")
_WHY = {
    "background": "the scheduler decides what runs side by side",
    "color": "only shown by the other program",
    "hooks": "hooks run commands",
    "mcpServers": "MCP servers are toolsets of a worker in Python",
    "memory": "workers keep nothing between tasks",
    "permissionMode": "its tools only read",
}


def plugins(source: Path) -> list[Path]:
    """The plugins with agents in the folder, or one level below; none if it is one itself."""
    below = islice((one for way in ("*", "*/*") for one in source.glob(way)), MAX_ENTRIES)
    folders = [one for one in sorted(below) if one.is_dir() and os.access(one, os.X_OK)]
    folders = [source, *(one for one in folders if one.name != "agents")]
    found = [one for one in folders if _plugin(one, notes := Notes())[1] or notes.problems]
    root = source.resolve()
    return [one for one in found if source not in found and one.resolve().is_relative_to(root)]


def _plugin(folder: Path, notes: Notes) -> tuple[str, list[Path]]:
    """The name of the plugin in or around `folder`, and its agents: none if it is no plugin."""
    place, manifest, agents = folder.resolve(), folder / _MANIFEST, folder / "agents"
    if not manifest.exists():
        if place.name == "agents":
            name, given = _plugin(place.parent, notes)
            return name, [folder] if given else []
        is_plugin = place.parent.name == "plugins" and agents.exists()
        return place.name, [agents] if is_plugin else []
    safe = inside(manifest, folder, _MANIFEST, notes)
    text = read_text(manifest, _MANIFEST, notes) if safe else None
    try:
        values = dict[str, Value](json.loads(text or "{}"))
    except (ValueError, TypeError, RecursionError) as error:
        notes.problem(FileLine(_MANIFEST, 0), f"is not the JSON of a plugin: {error}")
        return place.name, []
    name, named = str(values.get("name") or ""), values.get("agents") or []
    found = [agents] if agents.exists() and not named else []
    for one in named if isinstance(named, list) else [named]:
        path = folder / str(one)
        is_there = isinstance(one, str) and os.path.exists(path)  # of no name that is impossible
        if is_there and Path(os.path.realpath(path)).is_relative_to(place):
            found.append(path)
        else:
            notes.problem(FileLine(_MANIFEST, 0), f"`agents`: {one!r} is nothing in the plugin")
    return name if name and name == Path(name).name else place.name, found


def read(source: Path, notes: Notes) -> TeamDefinition | None:
    """The team of the subagents in `source`: a plugin's, those in `.claude/agents`, or all.

    `None` if there is a problem, which is in `notes`. Raises `InputError` if there is no agent.
    """
    nested = source / ".claude" / "agents"
    plugin, agents = _plugin(source, notes)
    is_own = inside(nested, source, ".claude/agents", notes)
    if notes.problems or not is_own:
        return None
    folder = nested if nested.is_dir() and not agents else source
    workers: dict[str, tuple[WorkerDefinition, str]] = {}
    for path in _files(agents or [folder]):
        file = Path(os.path.relpath(path, folder)).as_posix()
        document = _document(path, file, folder, notes)
        worker = _worker(document, path.stem, notes) if document else None
        if worker is None or document is None:
            continue
        if worker.name in workers:
            other = workers[worker.name][1]
            notes.problem(document.place("name"), f"{worker.name!r} is also the name of {other}")
        else:
            workers[worker.name] = (worker, file)
    if notes.problems:
        return None
    if not workers:
        raise InputError(
            f"{str(source)!r} has no agents: there is no config/agents.yaml of a crew, and no "
            "Markdown file whose front matter has a `name` or a `description`"
        )
    place = folder.resolve()
    name = place.parents[1].name if place.match(".claude/agents") else place.name
    name = plugin if agents else name
    return TeamDefinition(
        name=name[:90] or "agents",
        description=f"Imported from the subagents in {name}.",
        workers=tuple(worker for worker, _ in workers.values()),
    )


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


def _document(path: Path, file: str, folder: Path, notes: Notes) -> TeamFile | None:
    """The file of an agent; `None` for other Markdown, which `notes` names, and with a problem."""
    if not inside(path, folder, file, notes):
        return None
    text = read_text(path, file, notes)
    if text is None:
        return None
    if not text.startswith("---"):
        notes.warn(FileLine(file, 0), "not imported: it has no front matter, so it is no agent")
        return None
    document = read_markdown(path, file, notes, lenient=True)
    if document is not None and not {"name", "description"} & document.values.keys():
        notes.warn(FileLine(file, 0), "not imported: it has neither `name` nor `description`")
        return None
    return document


def _worker(document: TeamFile, stem: str, notes: Notes) -> WorkerDefinition | None:
    values = dict(document.values)
    name = values.pop("name", stem)
    given = values.pop("description", None)
    if not isinstance(name, str):
        notes.problem(document.place("name"), "`name` must be text")
        return None
    first = next((line for line in document.body.splitlines() if line.strip()), name)
    if not isinstance(given, str):
        notes.warn(document.place("description"), "`description`: its first line is used instead")
    description = given if isinstance(given, str) else first.lstrip("# ")
    front: dict[str, Value] = {"description": one_line(description.replace("\\n", " "))}
    front |= _tools(document, values.pop("tools", None), notes)
    front |= model_keys("model", values.pop("model", None), document.place("model"), notes)
    settings: dict[str, Value] = {}
    for key, value in values.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if key in _LIMITS and isinstance(value, int) and number and value > 0:
            front[_LIMITS[key]] = value
        elif key in _SETTINGS and number:
            settings[key] = value
        else:
            why = _WHY.get(key, "it has no counterpart")
            notes.warn(document.place(key), f"`{key}`: not carried over, {why}")
    if settings:
        front["settings"] = settings
    if stays := Placeholders([_FENCED.sub("", document.body)]).names:
        named = joined_names([f"{{{one}}}" for one in stays])
        notes.warn(document.place(), f"{named}: not filled, stays in the prompt")
    return WorkerDefinition(name, front, document.body)


def _tools(document: TeamFile, given: Value, notes: Notes) -> dict[str, Value]:
    if given is None:
        notes.warn(
            document.place(),
            "there is no `tools`, so the other program allows every tool; here it has none",
        )
        return {}
    place = document.place("tools")
    if isinstance(given, list):
        named = [(str(one), document.place("tools", n)) for n, one in enumerate(given)]
    elif isinstance(given, dict):  # a switch for each tool
        named = [(name, document.place("tools", name)) for name, on in given.items() if on]
    else:
        named = [(name, place) for name in split_names(str(given))]
    tools = tool_names(named, notes)
    return {"tools": tools} if tools else {}
