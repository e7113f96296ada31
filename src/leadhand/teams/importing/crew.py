"""Reads a crewAI project: `agents.yaml`, `tasks.yaml`, and what is plain in its `crew.py`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from leadhand.errors import InputError
from leadhand.teams.files import TeamFile, Value, read_yaml
from leadhand.teams.importing.counterparts import model_keys, tool_names
from leadhand.teams.importing.crew_code import CrewCode, Part, read_code
from leadhand.teams.importing.definition import TeamDefinition, WorkerDefinition, inside, one_line
from leadhand.teams.importing.placeholders import Placeholders, separator
from leadhand.teams.importing.process import Step, planned, sequence
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


@dataclass(frozen=True, slots=True)
class Item:
    """An agent or a task: its keys from YAML, and those that the Python adds or changes."""

    name: str
    values: dict[str, Value]
    places: dict[str, FileLine]
    place: FileLine

    def at(self, key: str) -> FileLine:
        """The line of a key."""
        return self.places.get(key, self.place)

    def text(self, key: str) -> str:
        """The text of a key; empty without it."""
        value = self.values.get(key, "")
        return value.strip() if isinstance(value, str) else str(value)

    def list_lost(self, known: Sequence[str], notes: Notes) -> None:
        """Warn of each key that is not `known`, unless it asks for nothing."""
        for key, value in self.values.items():
            if key == "verbose":  # every run has a trace of each step
                continue
            if key not in known and not (key in _OFF and value is False) and value is not None:
                why = _WHY.get(key, "it has no counterpart")
                notes.warn(self.at(key), f"`{key}`: not carried over, {why}")


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
        _items(document, parts, notes) if document else []
        for document, parts in zip(documents, (code.agents, code.tasks), strict=True)
    )
    if notes.problems:
        return None
    if not agents:
        raise InputError(f"{str(config / _AGENTS)!r} has no agents: there is nothing to import")
    crew = code.crew.values if code.crew else {}
    tasks = _chosen(tasks, crew.get("tasks"), (), notes)
    agents = _chosen(agents, crew.get("agents"), [task.text("agent") for task in tasks], notes)
    placeholders = Placeholders(
        one.text(key) for one in (*agents, *tasks) for key in _PROSE if key in one.values
    )
    workers = tuple(_worker(agent, placeholders, notes) for agent in agents)
    hierarchical = crew.get("process") == "hierarchical"
    steps = [_step(task, tasks, agents, notes) for task in tasks]
    if not hierarchical:
        for task, step in zip(tasks, steps, strict=True):
            if step.worker is None:
                notes.problem(task.place, f"task {task.name!r} names no agent: add `agent: NAME`")
    for task in tasks if hierarchical else ():
        if task.values.get("async_execution") is True:
            why = "the planner decides what runs side by side"
            notes.warn(task.at("async_execution"), f"`async_execution`: not carried over, {why}")
    if notes.problems:
        return None
    settings = (
        planned(steps, placeholders) if hierarchical else sequence(steps, placeholders, workers)
    )
    _crew(code, settings, notes)
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


def _code(folder: Path, notes: Notes) -> CrewCode:
    found = sorted(folder.glob("*crew.py"), key=lambda path: (path.name != "crew.py", path.name))
    for other in found[1:]:
        why = f"a team is made of one crew, and this folder has {found[0].name}"
        notes.warn(FileLine(other.name, 0), f"not read: {why}")
    if found:
        return read_code(found[0], folder, notes)
    notes.warn(
        FileLine("crew.py", 0), "is missing: tasks run in the order of tasks.yaml, one by one"
    )
    return CrewCode()


def _items(document: TeamFile, parts: Sequence[Part], notes: Notes) -> list[Item]:
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
            entries[key] = Item(key, values, places, document.place(key))
        else:
            notes.problem(document.place(key), f"`{key}` must have `key: value` lines")
    if not parts:
        return list(entries.values())
    items: list[Item] = []
    for part in parts:
        entry = entries.get(part.key, Item(part.name, {}, {}, part.place))
        items.append(
            Item(part.name, entry.values | part.values, entry.places | part.places, entry.place)
        )
    for key in entries.keys() - {part.key for part in parts}:
        notes.warn(entries[key].place, f"`{key}`: not imported, the crew's Python does not use it")
    return items


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
    agent.list_lost(known, notes)
    prompt = [f"You are {title}.", backstory, f"Your goal: {goal}" if goal else ""]
    prompt.append(placeholders.legend("".join(prompt)))
    return WorkerDefinition(agent.name, front, "\n\n".join(part for part in prompt if part))


def _step(task: Item, tasks: list[Item], agents: list[Item], notes: Notes) -> Step:
    workers = [agent.name for agent in agents]
    given = task.values.get("agent")
    worker = str(given) if given is not None else workers[0] if len(workers) == 1 else None
    if worker is not None and worker not in workers:
        notes.problem(
            task.at("agent"),
            f"task {task.name!r} is for {worker!r}, which is no agent: "
            f"{suggestion(worker, workers)}",
        )
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
    task.list_lost(known, notes)
    return Step(
        name=task.name,
        worker=worker,
        text=task.text("description"),
        expected=separator(expected[0]).join(filter(None, expected)),
        context=None if needs is None else tuple(str(name) for name in needs),
        is_async=task.values.get("async_execution") is True,
    )


def _crew(code: CrewCode, settings: dict[str, Value], notes: Notes) -> None:
    """Carry over the arguments of the crew itself, and list the others."""
    if code.crew is None:
        return
    crew = Item("crew", code.crew.values, code.crew.places, code.crew.place)
    planner = settings.get("planner")
    known = ["agents", "tasks"]
    if crew.values.get("process") in ("sequential", "hierarchical", None):
        known.append("process")
    if isinstance(planner, dict) and planner.get("kind") == "ahead":
        key = "manager_llm"
        planner |= model_keys(key, crew.values.get(key), crew.at(key), notes)
        known.append(key)
    crew.list_lost(known, notes)
