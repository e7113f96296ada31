"""Checks how the parts of a team fit together, on a draft: opens no file, imports nothing."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations

from rapidfuzz import fuzz, utils

from leadhand.plans import graph
from leadhand.plans.team_checks import unused_settings
from leadhand.teams import models
from leadhand.teams.draft import TEAM_FILE, Draft, WorkerDraft
from leadhand.teams.fields import EntryFields, TeamFields
from leadhand.teams.notes import FileLine, Notes, suggestion
from leadhand.teams.tools import name_for_model

MANY_WORKERS = 7
"""How many workers a planner can tell apart without a template."""
MANY_TOOLS = 12
"""How many tools a worker can tell apart."""
OVERLAP = 85
"""The similarity, 0 to 100, from which two descriptions are reported as overlapping."""
_MAX_COMPARED = 500
"""Characters of a description that are compared: longer ones differ before, or not at all."""


def check(draft: Draft, notes: Notes) -> None:
    """Note everything in `draft` that does not fit together."""
    _names(draft, notes)
    _fallbacks(draft, notes)
    _routes(draft, notes)
    _overlaps(draft, notes)
    for worker in draft.workers:
        models.check_worker(worker, notes)
        _own_tools(worker, notes)
    if draft.team is not None:
        models.check_team(draft, draft.team, notes)
        models.check_rates(draft, draft.team, notes)
        _tools(draft, notes)
        _factory(draft, draft.team, notes)
        planner = draft.team.planner
        by_code = {"max_rounds"} if planner.run is not None else set[str]()
        for key, text in unused_settings(planner.kind, planner.model_fields_set - by_code):
            notes.warn(draft.document.place("planner", key), text)
        if draft.team.planner.template:
            _template(draft, notes)
            # A planner with a model can give tasks to any worker.
            if all(worker.has_function for worker in draft.workers):
                _reach(draft, notes)
        elif len(draft.names) > MANY_WORKERS and planner.run is None:
            notes.warn(
                draft.document.place(),
                f"{len(draft.names)} workers under one supervisor, which can tell about "
                f"{MANY_WORKERS} apart: group them into teams of their own, or let a template "
                "choose (`planner: {template: [...]}`)",
            )


def _names(draft: Draft, notes: Notes) -> None:
    files: defaultdict[str, list[WorkerDraft]] = defaultdict(list)
    for worker in draft.workers:
        files[worker.name].append(worker)
    for name, same in files.items():
        for worker in same[1:]:
            notes.problem(
                worker.document.place("name"),
                f"{name!r} is also the name of {same[0].document.file}: give each its own",
            )


def _fallbacks(draft: Draft, notes: Notes) -> None:
    for worker in draft.workers:
        fallback, place = worker.fields.fallback, worker.document.place("fallback")
        if fallback == worker.name:
            notes.problem(place, f"{fallback!r} is its own fallback: name another worker, or none")
        elif fallback is not None:
            _check_member(draft, fallback, place, f"{worker.name!r} falls back to", notes)
        if worker.fields.max_queue is not None and fallback is None:
            notes.warn(
                worker.document.place("max_queue"),
                f"{worker.name!r} has no fallback: `max_queue` has no effect without a `fallback`",
            )


def _check_member(draft: Draft, name: str, place: FileLine, what: str, notes: Notes) -> None:
    if name not in draft.names:
        who = f"{name!r}, who is not in the team: {suggestion(name, draft.names)}"
        notes.problem(place, f"{what} {who}")


def _routes(draft: Draft, notes: Notes) -> None:
    routes = draft.team.routes if draft.team else []
    for index, route in enumerate(routes):
        named = [("worker", route.worker), ("secondary", route.secondary)]
        for key, name in (*named, *(("also", name) for name in route.also)):
            if name is not None:
                place = draft.document.place("routes", index, key)
                _check_member(draft, name, place, "the route leads to", notes)
        if not (route.words or route.pattern or route.labels) and index + 1 < len(routes):
            notes.problem(
                draft.document.place("routes", index),
                "the route has no condition and takes everything: put it last",
            )


def _own_tools(worker: WorkerDraft, notes: Notes) -> None:
    tools = worker.fields.tools
    if len(tools) > MANY_TOOLS:
        notes.warn(
            worker.document.place("tools"),
            f"{worker.name!r} has {len(tools)} tools and can tell about {MANY_TOOLS} apart: split "
            "it into workers with fewer tools each",
        )
    names = [name_for_model(tool) for tool in tools]
    for index, name in enumerate(names):
        if name in names[:index]:
            notes.problem(
                worker.document.place("tools", index),
                f"{worker.name!r} has another tool called {name!r} already: rename one",
            )


def _tools(draft: Draft, notes: Notes) -> None:
    written = draft.team.shared_tools if draft.team else []
    shared = [name_for_model(tool) for tool in written]
    owners: defaultdict[str, list[tuple[WorkerDraft, int]]] = defaultdict(list)
    for worker in draft.workers:
        names = [name_for_model(tool) for tool in worker.fields.tools]
        for name in dict.fromkeys(names):
            owners[name].append((worker, names.index(name)))
    for name, users in owners.items():
        for worker, index in users[1:] if name not in shared else ():
            notes.problem(
                worker.document.place("tools", index),
                f"the tool {name!r} belongs to {users[0][0].name!r} already: give it to one of "
                f"them, or list it under `shared_tools` in {TEAM_FILE}",
            )
    factory = draft.team.worker_factory if draft.team else None
    granted = [name_for_model(tool) for tool in factory.tools] if factory is not None else []
    for index, name in enumerate(shared):
        if name in granted:
            continue
        # A worker whose file can't be read may be the one that has the tool.
        if len(owners[name]) < 2 and not draft.unreadable:
            who = f"only {owners[name][0][0].name!r} has" if owners[name] else "no worker has"
            place = draft.document.place("shared_tools", index)
            notes.warn(place, f"the tool {name!r} is marked as shared, and {who} it")


def _factory(draft: Draft, team: TeamFields, notes: Notes) -> None:
    """The catalogue of the worker factory: each tool once, and no worker's unless it is shared."""
    factory = team.worker_factory
    if factory is None:
        return
    names = [name_for_model(tool) for tool in factory.tools]
    shared = {name_for_model(tool) for tool in (*team.shared_tools, *factory.shared_tools)}
    owner = {name_for_model(tool): w.name for w in draft.workers for tool in w.fields.tools}
    for index, name in enumerate(names):
        place = draft.document.place("worker_factory", "tools", index)
        if name in names[:index]:
            notes.problem(place, f"the catalogue has another tool called {name!r}: rename one")
        elif name in owner and name not in shared:
            notes.problem(
                place,
                f"the tool {name!r} belongs to {owner[name]!r} already: leave it out here, or list "
                "it under `shared_tools`",
            )
    for index, tool in enumerate(factory.shared_tools):
        if name_for_model(tool) not in names:
            notes.problem(
                draft.document.place("worker_factory", "shared_tools", index),
                f"the tool {tool!r} is not in the catalogue: {suggestion(tool, names)}",
            )


def _overlaps(draft: Draft, notes: Notes) -> None:
    plain = [
        (worker, utils.default_process(worker.fields.description[:_MAX_COMPARED]))
        for worker in draft.workers
    ]
    for (first, description), (second, similar) in combinations(plain, 2):
        if description and fuzz.token_sort_ratio(description, similar) >= OVERLAP:
            notes.warn(
                second.document.place("description"),
                f"the description is nearly that of {first.name!r}: say what only {second.name!r} "
                "does, or make them one worker",
            )


def _template(draft: Draft, notes: Notes) -> None:
    ids: dict[str, FileLine] = {}
    for place, entry in _entries(draft):
        if entry.id in ids:
            where = f"also on line {ids[entry.id].line}"
            notes.problem(place("id"), f"template entry {entry.id!r} is {where}: rename one")
        ids.setdefault(entry.id, place("id"))
    known = sorted(draft.written_in_entries("id"))
    for place, entry in _entries(draft):
        who = f"template entry {entry.id!r}"
        _check_member(draft, entry.worker, place("worker"), f"{who} is for", notes)
        for index, needed in enumerate(entry.depends_on):
            where = place("depends_on", index)
            if needed == entry.id:
                notes.problem(where, f"{who} depends on itself: remove {needed!r}")
            elif needed not in known:
                hint = f"which is not an entry: {suggestion(needed, known)}"
                notes.problem(where, f"{who} depends on {needed!r}, {hint}")
    cycle = graph.cycle({entry.id: entry.depends_on for _, entry in _entries(draft)})
    if cycle is not None:
        notes.problem(
            ids[cycle[0]],
            f"these template entries wait for each other: {' -> '.join(cycle)}: remove one of "
            "these dependencies",
        )


def _entries(draft: Draft) -> Iterator[tuple[Callable[..., FileLine], EntryFields]]:
    """The entries of the template, each with a function for places within it."""
    for index, entry in enumerate(draft.team.planner.template if draft.team else []):
        yield partial(draft.document.place, "planner", "template", index), entry


def _reach(draft: Draft, notes: Notes) -> None:
    """Warn of workers that no template entry, route or fallback names."""
    fallback = {worker.name: worker.fields.fallback for worker in draft.workers}
    reached: set[str] = set()
    routes = draft.team.routes if draft.team else []
    routed = [name for route in routes for name in (route.worker, *route.also)]
    for start in (*draft.written_in_entries("worker"), *routed):
        name: str | None = start
        while name is not None and name not in reached:
            reached.add(name)
            name = fallback.get(name)
    for worker in draft.workers:
        if worker.name not in reached:
            notes.warn(
                worker.document.place("name"),
                f"no template entry and no fallback leads to {worker.name!r}: add an entry to "
                f"{TEAM_FILE}, or remove {worker.document.file}",
            )
