"""The tools of workers, toolsets too, which are recognised by their methods: importing pydantic-ai
takes seconds. And the context of a run, which they receive and no model sees: it is never stored,
logged or shown. Pure."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, cast, get_args, get_origin, get_type_hints

from pydantic import JsonValue
from typing_extensions import TypeVar

from leadhand.errors import InputError

if TYPE_CHECKING:
    from leadhand.contracts.team import Team, Worker

C = TypeVar("C", default=object)
"""The type of a run's context."""
C_co = TypeVar("C_co", default=object, covariant=True)
"""The same, for what only hands it out."""
Out_co = TypeVar("Out_co", default=object, covariant=True)
"""The type of a team's output."""

Restore = Callable[[Mapping[str, JsonValue]], C | Awaitable[C]]
"""Makes the context of a resumed run from the `origin` that the run was started with."""


@dataclass(frozen=True, kw_only=True)  # no slots: `ToolContext[C](...)` would fail
class ToolContext(Generic[C_co]):
    """What a tool call knows of its run. A tool takes it as its first parameter.

    In the tools and toolsets of pydantic-ai it is `ctx.deps` of a `RunContext[ToolContext[C]]`.
    """

    context: C_co = field(repr=False, compare=False)
    """The `context` that the run was started or resumed with; None if there is none."""
    run_id: str
    task_id: str
    attempt: int
    """Counts from 1."""
    idempotency_key: str
    """The call's: the same in every attempt, and after the run was resumed. Outside of a call, in
    the instructions of a toolset for example, it is the task's."""
    approved: bool = False
    """Whether a person has approved this call."""


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One tool, or a toolset whose tools are known only when it is used."""

    name: str | None
    """The tool's name for the model; None for a toolset."""
    tool: object
    ids: tuple[str, ...] = ()
    """The ids of the toolsets that contain it, and its own."""

    @property
    def thing(self) -> object:
        """The function or toolset itself, the same one under any name."""
        return getattr(self.tool, "function", self.tool)

    @property
    def key(self) -> object:
        """Equal for entries with the same function or toolset."""
        try:
            hash(self.thing)
        except TypeError:
            return id(self.thing)
        return self.thing

    @property
    def label(self) -> str:
        if self.name is not None:
            return f"the tool {self.name!r}"
        kind = type(self.thing).__name__
        return f"the toolset {kind} {self.ids[-1]!r}" if self.ids else f"a toolset, {kind}"


def tool_name(tool: object) -> str | None:
    """The name of a worker's tool; None for a toolset, whose tools are known when it is used."""
    if isinstance(tool, str):
        return tool
    name = getattr(tool, "name", None) or getattr(tool, "__name__", None)
    return name if isinstance(name, str) else None


def unwrapped(tool: object) -> Iterator[ToolEntry]:
    """The single tools in `tool`; a toolset of unknown content is one entry."""
    methods = (getattr(tool, name, None) for name in ("get_tools", "call_tool"))
    if not all(map(callable, methods)):
        yield ToolEntry(tool_name(tool), tool)
        return
    id = getattr(tool, "id", None)
    wrapped, several, tools = (getattr(tool, key, None) for key in ("wrapped", "toolsets", "tools"))
    if wrapped is not None:
        found = [_renamed(one, tool) for one in unwrapped(wrapped)]
    elif isinstance(several, Sequence):
        found = [one for part in cast("Sequence[object]", several) for one in unwrapped(part)]
    elif isinstance(tools, Mapping):
        named = cast("Mapping[str, object]", tools)
        found = [ToolEntry(name, one) for name, one in named.items()]
    else:
        found = [ToolEntry(None, tool)]
    for one in found:
        yield replace(one, ids=(*one.ids, id)) if isinstance(id, str) else one


def _renamed(one: ToolEntry, wrapper: object) -> ToolEntry:
    if one.name is None:
        return one
    prefix, names = getattr(wrapper, "prefix", None), getattr(wrapper, "name_map", None)
    name = one.name
    if isinstance(names, Mapping):
        given = cast("Mapping[str, str]", names)
        name = next((new for new, old in given.items() if old == name), name)
    return replace(one, name=f"{prefix}_{name}" if isinstance(prefix, str) and prefix else name)


def check_contexts(of: str, tools: Iterable[object]) -> None:
    """Raises `InputError` if a model would fill the `ctx` of one of the tools `of` a worker."""
    for one in (one for tool in tools for one in unwrapped(tool)):
        function = one.thing
        if getattr(one.tool, "takes_ctx", False) or not callable(function):
            continue
        with suppress(TypeError, ValueError):  # it has no known signature
            first = next(iter(inspect.signature(function).parameters.values()), None)
            if first is not None and first.name == "ctx" and first.annotation is first.empty:
                name = getattr(function, "__name__", type(function).__name__)
                raise InputError(
                    f"{of}: the model would fill `ctx` of the tool {name!r}, which has no type: "
                    "write `ctx: ToolContext`, or give it another name"
                )


def context_types(tools: Iterable[object]) -> Iterator[tuple[str, object]]:
    """The names of the functions that say which context they take, with its type."""
    for function in (one.thing for tool in tools for one in unwrapped(tool)):
        with suppress(NameError, TypeError, AttributeError):  # some names only type checkers know
            for hint in get_type_hints(function).values():
                for part in (hint, *get_args(hint)):  # of RunContext[ToolContext[C]] the second
                    if get_origin(part) is ToolContext:
                        yield getattr(function, "__name__", repr(function)), get_args(part)[0]


def tools_of(worker: "Worker") -> Iterator[ToolEntry]:
    for tool in worker.tools:
        yield from unwrapped(tool)


def is_read_only(worker: "Worker") -> bool:
    """Whether a worker's work changes nothing outside the run, as far as that is known."""
    if worker.read_only is not None:
        return worker.read_only
    if worker.team is not None:
        return all(is_read_only(inner) for inner in worker.team.workers)
    code = worker.run is not None or worker.offline is not None
    # A name is that of a ready-made tool, and these only read.
    return not code and all(isinstance(tool, str) for tool in worker.tools)


def may_start_early(worker: "Worker", team: "Team") -> bool:
    """Whether a task of `worker` may start before there is a plan: it and all that may take it
    over unasked are read-only."""
    others = (
        one
        for one in team.workers
        if one.name == worker.fallback or (worker.role is not None and one.role == worker.role)
    )
    return is_read_only(worker) and all(map(is_read_only, others))


def sharing_problems(team: "Team") -> Iterator[str]:
    """Tools that more than one worker has, under the same or another name."""
    named: dict[str, set[str]] = {}
    same: dict[object, list[tuple[str, ToolEntry]]] = {}
    for worker in team.workers:
        for one in tools_of(worker):
            if one.name is not None:
                named.setdefault(one.name, set()).add(worker.name)
            if not isinstance(one.thing, str):
                same.setdefault(one.key, []).append((worker.name, one))
    allowed = {*team.shared_tools}
    marked = {
        one.name
        for found in same.values()
        for _, one in found
        if allowed & {*one.ids} and one.name is not None
    }
    refused: set[str] = set()
    for name, owners in named.items():
        if len(owners) > 1 and name not in allowed | marked:
            refused.add(name)
            yield _sharing(owners, f"the tool {name!r}", "name it")
    for found in same.values():
        owners = {owner for owner, _ in found}
        free = all(one.name in allowed or allowed & {*one.ids} for _, one in found)
        if len(owners) > 1 and not free and not {one.name for _, one in found} & refused:
            _, one = found[0]
            how = "name it" if one.name else "name its id" if one.ids else "give it an id to name"
            yield _sharing(owners, one.label, how)


def _sharing(owners: set[str], what: str, how: str) -> str:
    return (
        f"workers {' and '.join(sorted(owners))} share {what}: give it to one of them, or {how} in "
        "the team's `shared_tools`"
    )
