"""Reads a crewAI project: `agents.yaml`, `tasks.yaml`, and what is plain in its `crew.py`."""

from collections.abc import Sequence
from pathlib import Path

from leadhand.errors import InputError
from leadhand.teams.files import TeamFile, Value, read_yaml
from leadhand.teams.importing.counterparts import model_keys, tool_names
from leadhand.teams.importing.crew_code import Item, Items, no_code, read_code
from leadhand.teams.importing.definition import TeamDefinition, WorkerDefinition, inside, one_line
from leadhand.teams.importing.process import CrewTask, Placeholders, planned, separator, sequence
from leadhand.teams.notes import FileLine, Notes, suggestion

_AGENTS = "agents.yaml"
_TASKS = "tasks.yaml"
_PLACES = (
    f"{_AGENTS}",
    f"config/{_AGENTS}",
    f"src/*/config/{_AGENTS}",
    f"crews/*/config/{_AGENTS}",
    f"src/*/crews/*/config/{_AGENTS}",
)
_PROSE = ("role", "goal", "backstory", "description", "expected_output")
_LIMITS = {"max_iter": "max_steps", "max_execution_time": "timeout_s"}
_OFF = {
    "allow_delegation",
    "human_input",
    "memory",
    "multimodal",
    "planning",
    "reasoning",
}
"""Keys that ask for nothing if they are false."""
_WHY = {
    "allow_code_execution": "no ready-made tool runs code",
    "allow_delegation": "workers give no tasks to each other, the planner assigns them",
    "callback": "read the run's events instead",
    "human_input": "`leadhand run --approve plan,escalation` asks about plans and escalations",
    "manager_agent": "the planner has a prompt of its own",
    "max_rpm": "set `rates` in team.yaml",
    "memory": "workers keep nothing between tasks",
    "output_file": "redirect what `leadhand run` prints",
    "output_json": "give the worker an `output`",
    "output_pydantic": "give the worker an `output`",
    "planning": "set `planner` in team.yaml",
}


def crew_folders(source: Path) -> list[Path]:
    """The folders of the crews in `source`: those that have agents.yaml, or config/agents.yaml."""
    found = (path.parent.absolute() for pattern in _PLACES for path in source.glob(pattern))
    here = [one for one in found if one.resolve().is_relative_to(source.resolve())]
    return sorted({one.parent if one.name == "config" else one for one in here})


def read(folder: Path, notes: Notes) -> TeamDefinition | None:
    """The team of the crew in `folder`; `None` if there is a problem, which is in `notes`."""
    config = folder / "config" if (folder / "config" / _AGENTS).exists() else folder
    documents = [_yaml(config / name, folder, notes) for name in (_AGENTS, _TASKS)]
    code = _code(folder, notes)
    agents, tasks = (
        _items(document, code[kind], notes) if document else []
        for document, kind in zip(documents, ("agent", "task"), strict=True)
    )
    if notes.problems:
        return None
    if not agents:
        raise InputError(f"{str(config / _AGENTS)!r} has no agents: there is nothing to import")
    crew = next(iter(code["crew"]), Item("crew", FileLine("crew.py", 0)))
    tasks = _chosen(tasks, crew.values.get("tasks"), (), notes)
    agents = _chosen(
        agents, crew.values.get("agents"), [task.text("agent") for task in tasks], notes
    )
    placeholders = Placeholders(
        one.text(key) for one in (*agents, *tasks) for key in _PROSE if key in one.values
    )
    workers = tuple(_worker(agent, placeholders, notes) for agent in agents)
    hierarchical = crew.values.get("process") == "hierarchical"
    steps = [_step(task, tasks, agents, hierarchical, notes) for task in tasks]
    if notes.problems:
        return None
    if hierarchical:
        key = "manager_llm"
        model = model_keys(key, crew.values.get(key), crew.at(key), notes)
        settings: dict[str, Value] = {"planner": planned(steps, placeholders) | model}
    else:
        settings = sequence(steps, placeholders, workers)
    known = ["agents", "tasks", *(["manager_llm"] if hierarchical else [])]
    is_known = crew.values.get("process") in ("sequential", "hierarchical")
    _list_lost(crew, [*known, *(["process"] if is_known else [])], notes)
    if placeholders.names and documents[1]:
        written = [str(settings), *(f"{one.front} {one.instructions}" for one in workers)]
        notes.warn(FileLine(documents[1].file, 0), placeholders.outcome("".join(written)))
    name = folder.resolve().name[:90] or "crew"
    return TeamDefinition(
        name, f"Imported from the crew {name}.", workers, settings, placeholders.request
    )


def _yaml(path: Path, folder: Path, notes: Notes) -> TeamFile | None:
    file = path.relative_to(folder).as_posix()
    if not path.exists():
        notes.problem(FileLine(file, 0), "is missing: a crew has agents.yaml and tasks.yaml")
        return None
    return read_yaml(path, file, notes) if inside(path, folder, file, notes) else None


def _code(folder: Path, notes: Notes) -> Items:
    found = sorted(folder.glob("*crew.py"), key=lambda path: (path.name != "crew.py", path.name))
    for other in found[1:]:
        why = f"a team is made of one crew, and this folder has {found[0].name}"
        notes.warn(FileLine(other.name, 0), f"not read: {why}")
    if found:
        return read_code(found[0], folder, notes)
    notes.warn(
        FileLine("crew.py", 0), "is missing: tasks run in the order of tasks.yaml, one by one"
    )
    return no_code()


def _items(document: TeamFile, parts: Sequence[Item], notes: Notes) -> list[Item]:
    """The entries of a YAML file in their order; with Python, those that it uses, in its order."""
    entries: dict[str, Item] = {}
    for key, value in document.values.items():
        if not key.strip():
            notes.problem(document.place(key), "has no name: write one before the `:`")
        elif isinstance(value, dict):
            values = _merged(value)
            places = {
                inner: document.place(key, inner if inner in value else "<<") for inner in values
            }
            entries[key] = Item(key, document.place(key), values, places)
        else:
            notes.problem(document.place(key), f"`{key}` must have `key: value` lines")
    if not parts:
        return list(entries.values())
    for key in entries.keys() - {part.key for part in parts}:
        notes.warn(entries[key].place, f"`{key}`: not imported, the crew's Python does not use it")
    both = [(entries.get(part.key, Item(part.name, part.place)), part) for part in parts]
    return [
        Item(part.name, entry.place, entry.values | part.values, entry.places | part.places)
        for entry, part in both
    ]


def _merged(values: dict[str, Value]) -> dict[str, Value]:
    """The values with those that a merge key (`<<: *base`) names, which count less."""
    given = values.get("<<")
    bases = [
        one for one in (given if isinstance(given, list) else [given]) if isinstance(one, dict)
    ]
    merged: dict[str, Value] = {}
    for base in reversed(bases):
        merged |= _merged(base)
    return merged | {key: value for key, value in values.items() if key != "<<" or not bases}


def _chosen(items: list[Item], names: Value, also: Sequence[str], notes: Notes) -> list[Item]:
    """The items that the crew lists, in its order, then those in `also`; all if it lists none."""
    by_name = {item.name: item for item in items}
    if not isinstance(names, list) or not all(name in by_name for name in names):
        return items
    kept = dict.fromkeys([*map(str, names), *(name for name in also if name in by_name)])
    for name in by_name.keys() - kept:
        notes.warn(by_name[name].place, f"`{name}`: not imported, the crew does not list it")
    return [by_name[name] for name in kept]


def _worker(agent: Item, placeholders: Placeholders, notes: Notes) -> WorkerDefinition:
    role, goal, backstory = (
        placeholders.in_prompt(agent.text(key)) for key in ("role", "goal", "backstory")
    )
    if not (role or goal or backstory):
        notes.problem(agent.place, f"agent {agent.name!r} has no `role`, `goal` or `backstory`")
    title = one_line(role) or agent.name
    front: dict[str, Value] = {"description": one_line(f"{title}: {goal}" if goal else title)}
    tools = agent.values.get("tools")
    if tools is not None:
        named = tools if isinstance(tools, list) else [tools]
        found = tool_names([(str(name), agent.at("tools")) for name in named], notes)
        front |= {"tools": found} if found else {}
    front |= model_keys("llm", agent.values.get("llm"), agent.at("llm"), notes)
    known = ["role", "goal", "backstory", "tools", "llm"]
    for key, ours in _LIMITS.items():
        value = agent.values.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            front[ours] = value
            known.append(key)
    _list_lost(agent, known, notes)
    prompt = [f"You are {title}.", backstory, f"Your goal: {goal}" if goal else ""]
    prompt.append(placeholders.legend("".join(prompt)))
    return WorkerDefinition(agent.name, front, "\n\n".join(part for part in prompt if part))


def _step(
    task: Item, tasks: list[Item], agents: list[Item], hierarchical: bool, notes: Notes
) -> CrewTask:
    workers = [agent.name for agent in agents]
    given = task.values.get("agent")
    worker = str(given) if given is not None else workers[0] if len(workers) == 1 else None
    if worker is not None and worker not in workers:
        notes.problem(
            task.at("agent"),
            f"task {task.name!r} is for {worker!r}, which is no agent: "
            f"{suggestion(worker, workers)}",
        )
    if worker is None and not hierarchical:
        notes.problem(task.place, f"task {task.name!r} names no agent: add `agent: NAME`")
    is_async = task.values.get("async_execution") is True
    if is_async and hierarchical:
        why = "the planner decides what runs side by side"
        notes.warn(task.at("async_execution"), f"`async_execution`: not carried over, {why}")
    context = task.values.get("context")
    needs = None if context is None else context if isinstance(context, list) else [context]
    names = [one.name for one in tasks]
    for name in needs or ():
        if name not in names:
            why = f"which is no task: {suggestion(str(name), names)}"
        elif names.index(str(name)) >= names.index(task.name):
            why = "which does not come before it: change their order"
        else:
            continue
        notes.problem(task.at("context"), f"task {task.name!r} has the context {name!r}, {why}")
    if not task.text("description"):
        notes.problem(task.place, f"task {task.name!r} has no `description`")
    markdown = task.values.get("markdown") is True
    expected = [task.text("expected_output"), "It is formatted in Markdown." if markdown else ""]
    known = ("description", "expected_output", "agent", "context", "async_execution", "markdown")
    _list_lost(task, known, notes)
    return CrewTask(
        name=task.name,
        worker=worker,
        text=task.text("description"),
        expected=separator(expected[0]).join(filter(None, expected)),
        context=None if needs is None else tuple(str(name) for name in needs),
        is_async=is_async,
    )


def _list_lost(item: Item, known: Sequence[str], notes: Notes) -> None:
    """Warn of each key that is not `known`, unless it asks for nothing."""
    for key, value in item.values.items():
        asks = value is not None and not (key in _OFF and value is False)
        if asks and key not in known and key != "verbose":  # every run has a trace of each step
            why = _WHY.get(key, "it has no counterpart")
            notes.warn(item.at(key), f"`{key}`: not carried over, {why}")
