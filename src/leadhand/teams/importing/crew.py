"""Reads a crewAI project: `agents.yaml`, `tasks.yaml`, and what is plain in its `crew.py`."""

import re
from collections.abc import Sequence
from pathlib import Path

from leadhand.teams.files import TeamFile, Value, document_in
from leadhand.teams.importing.counterparts import front_matter, model_keys, warn_of_lost
from leadhand.teams.importing.crew_code import CrewCode
from leadhand.teams.importing.definition import (
    Item,
    TeamDefinition,
    WorkerDefinition,
    one_line,
    read_inside,
)
from leadhand.teams.notes import FileLine, Notes, suggestion

_AGENTS = "agents.yaml"
_PLACES = ("", "config/", "src/*/config/", "crews/*/config/", "src/*/crews/*/config/")
_PROSE = ("role", "goal", "backstory", "description", "expected_output")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][\w-]*)\}", re.ASCII)


def crew_folders(source: Path) -> list[Path]:
    """The folders that have agents.yaml, or config/agents.yaml."""
    found = (path.parent.absolute() for place in _PLACES for path in source.glob(place + _AGENTS))
    here = [one for one in found if one.resolve().is_relative_to(source.resolve())]
    return sorted({one.parent if one.name == "config" else one for one in here})


def read(folder: Path, notes: Notes) -> TeamDefinition | None:
    """`None` if there is a problem, which is in `notes`."""
    config = folder / "config" if (folder / "config" / _AGENTS).exists() else folder
    files = [read_inside(config / name, folder, notes) for name in (_AGENTS, "tasks.yaml")]
    documents = [document_in(text, file, notes) for file, text in files if text is not None]
    code = _code(folder, notes)
    if len(documents) < 2 or documents[0] is None or documents[1] is None:
        return None
    crew = next(iter(code["crew"]), Item("crew", FileLine("crew.py", 0)))
    tasks = _items(documents[1], code["task"], crew.values.get("tasks"), [], notes)
    assigned = [task.text("agent") for task in tasks]
    agents = _items(documents[0], code["agent"], crew.values.get("agents"), assigned, notes)
    if not agents:
        notes.problem(FileLine(documents[0].file, 0), "has no agents: there is nothing to import")
    hierarchical = crew.text("process") == "hierarchical"
    for number, task in enumerate(tasks):
        _check(task, tasks[:number], [agent.name for agent in agents], hierarchical, notes)
    names = placeholders_in("\n".join(one.text(key) for one in (*agents, *tasks) for key in _PROSE))
    workers = tuple(_worker(agent, notes) for agent in agents)
    if notes.problems:
        return None
    if hierarchical:
        planner = _planner(tasks, names) | model_keys(crew, "manager_llm", notes)
        settings: dict[str, Value] = {"planner": planner}
    else:
        settings = _sequence(tasks, names)
    known = ["process"] if crew.text("process") in ("sequential", "hierarchical") else []
    warn_of_lost(crew, [*known, "agents", "tasks", "manager_llm"], notes)
    if names:
        stays, is_now = (", ".join(f"{a}{name}{z}" for name in names) for a, z in ("{}", "<>"))
        why = f"{stays}: is now {is_now}; the request of each run has to say what it stands for"
        notes.warn(FileLine(documents[1].file, 0), why)
    name = folder.resolve().name[:90] or "crew"
    request = "; ".join(f"{name}: ..." for name in names) or "..."
    return TeamDefinition(name, f"Imported from the crew {name}.", workers, settings, request)


def _code(folder: Path, notes: Notes) -> dict[str, list[Item]]:
    paths = sorted(folder.glob("*crew.py"), key=lambda path: (path.name != "crew.py", path.name))
    for other in paths[1:]:
        why = f"a team is made of one crew, and this folder has {paths[0].name}"
        notes.warn(FileLine(other.name, 0), f"not read: {why}")
    found = CrewCode(next(iter(paths), None), folder, notes).found
    if not any(found.values()):
        why = "tasks run in the order of tasks.yaml, one by one"
        notes.warn(FileLine("crew.py", 0), f"no crew is read of it: {why}")
    return found


def _items(
    document: TeamFile, parts: Sequence[Item], listed: Value, also: Sequence[str], notes: Notes
) -> list[Item]:
    """The entries of a YAML file in the order of the Python, of them those that the crew lists
    and those in `also`; all if it lists none."""
    entries: dict[str, Item] = {}
    for key, value in document.values.items():
        if not key.strip():
            notes.problem(document.place(key), "has no name: write one before the `:`")
        elif isinstance(value, dict):
            places = {inner: document.place(key, inner) for inner in value}
            entries[key] = Item(key, document.place(key), value, places)
        else:
            notes.problem(document.place(key), f"`{key}` must have `key: value` lines")
    used = {part.name: part for part in parts or entries.values()}
    names = list(map(str, listed)) if isinstance(listed, list) else [""]
    if all(name in used for name in names):
        names += [name for name in also if name in used]
        used = {name: used[name] for name in names}
    both = [(entries.get(part.text("config") or part.name, part), part) for part in used.values()]
    for key in entries.keys() - {entry.name for entry, _ in both}:
        notes.warn(entries[key].place, f"`{key}`: not imported, the crew does not use it")
    return [
        Item(part.name, entry.place, entry.values | part.values, entry.places | part.places)
        for entry, part in both
    ]


def placeholders_in(text: str) -> list[str]:
    return [*dict.fromkeys(_PLACEHOLDER.findall(text))]


def _plain(text: str) -> str:
    """`{topic}`, whose value only the request has, becomes `<topic>`."""
    return _PLACEHOLDER.sub(r"<\1>", text)


def _added(text: str, sentence: str) -> str:
    return ("\n\n" if "\n" in text else " ").join(filter(None, (text, sentence)))


def _worker(agent: Item, notes: Notes) -> WorkerDefinition:
    own = ("role", "goal", "backstory")
    role, goal, backstory = (_plain(agent.text(key)) for key in own)
    if not (role or goal or backstory):
        notes.problem(agent.place, f"agent {agent.name!r} has no `role`, `goal` or `backstory`")
    title = one_line(role) or agent.name
    front = front_matter(agent, f"{title}: {goal}" if goal else title, own, notes)
    prompt = [f"You are {title}.", backstory, f"Your goal: {goal}" if goal else ""]
    return WorkerDefinition(agent.name, front, "\n\n".join(filter(None, prompt)))


def _check(
    task: Item, before: Sequence[Item], workers: Sequence[str], hierarchical: bool, notes: Notes
) -> None:
    """Note what is missing in a task, and give it the only worker if it names none."""

    def problem(key: str, what: str) -> None:
        notes.problem(task.at(key), f"task {task.name!r} {what}")

    if len(workers) == 1:
        task.values.setdefault("agent", workers[0])
    worker = task.text("agent")
    if not worker and not hierarchical:
        problem("agent", "names no agent: add `agent: NAME`")
    elif worker and worker not in workers:
        problem("agent", f"is for {worker!r}, which is no agent: {suggestion(worker, workers)}")
    for name in _context(task) or ():
        if name not in [other.name for other in before]:
            problem("context", f"has the context {name!r}, which is no task before it")
    if not task.text("description"):
        problem("description", "has no `description`")
    known = ["description", "expected_output", "agent", "context", "markdown"]
    warn_of_lost(task, known if hierarchical else [*known, "async_execution"], notes)


def _context(task: Item) -> list[str] | None:
    """The tasks whose outputs it gets; `None`: those before it."""
    given = task.values.get("context")
    return None if given is None else list(map(str, given if isinstance(given, list) else [given]))


def _expected(task: Item) -> str:
    markdown = "It is formatted in Markdown." if task.values.get("markdown") is True else ""
    return _plain(_added(task.text("expected_output"), markdown))


def _sequence(tasks: Sequence[Item], names: Sequence[str]) -> dict[str, Value]:
    """A template in which each task depends on all before it, or on a group of asynchronous
    tasks that ends right before it, as in crewAI."""
    entries: list[Value] = []
    needed: set[str] = set()
    before: list[str] = []
    running: list[str] = []
    for task in tasks:
        is_async = task.values.get("async_execution") is True
        if running and not is_async:
            before, running = running, []
        context = _context(task)
        needs = context if context is not None else before[-1:] if is_async else [*before]
        (running if is_async else before).append(task.name)
        needed.update(needs)
        intent = _plain(task.text("description"))
        if names or not needs:
            what = "The request, with the values of what is in <>" if names else "The request"
            intent = _added(intent, f"{what}: {{request}}")
        entry: dict[str, Value] = {"id": task.name, "worker": task.text("agent"), "intent": intent}
        entry |= {"depends_on": [*needs], "done_when": _expected(task)}
        entries.append({key: value for key, value in entry.items() if value})
    settings: dict[str, Value] = {"planner": {"kind": "template", "template": entries}}
    if len(entries) - len(needed) == 1:
        settings["synthesizer"] = "last"
    return settings if entries else {}


def _planner(tasks: Sequence[Item], names: Sequence[str]) -> dict[str, Value]:
    """A planner that is told the tasks, in place of the manager of a hierarchical process."""
    lines = ["The work consists of these tasks; each may use the results of those before it."]
    for number, task in enumerate(tasks, 1):
        parts = (
            ("", _plain(task.text("description"))),
            (" Expected: ", _expected(task)),
            (" Worker: ", task.text("agent") and f"{task.text('agent')}."),
            (" It uses the results of: ", ", ".join(_context(task) or ()) + "."),
        )
        told = "".join(f"{label}{text}" for label, text in parts if text not in ("", "."))
        lines.append(f"{number}. {task.name}: {told}".replace("\n", "\n   "))
    if names:
        lines.append("The request states the values of what is in <>.")
    return {"kind": "ahead", "instructions": "\n".join(lines)}
