"""The types of a worker's arguments, for type checkers which of them go together, and the factory
of workers that a plan describes: a catalogue of tools."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence, Set
from itertools import combinations, islice
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Protocol,
    Required,
    cast,
    runtime_checkable,
)

from annotated_types import Interval, MinLen
from pydantic import JsonValue
from typing_extensions import TypedDict

from leadhand.contracts.data import Many, argument, check_fields
from leadhand.contracts.ladder import Retry
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.role import TIERS, ModelSpec, Tier
from leadhand.contracts.task import Limits
from leadhand.contracts.tools import check_contexts

if TYPE_CHECKING:
    from leadhand.contracts.team import Team

Isolation = Literal["none", "process"]
WorkFunction = Callable[..., object]
# `Any` types the parameter of a lambda, and accepts functions of `Handoff[C]`.
MaterialFunction = Callable[[Handoff[Any]], Mapping[str, str]]
DepsFunction = Callable[[Handoff[Any]], object]
ReportFunction = Callable[..., Mapping[str, str | bytes]]


@runtime_checkable
class AgentLike(Protocol):
    """The attributes of a pydantic-ai `Agent` that leadhand uses."""

    @property
    def name(self) -> str | None: ...

    @property
    def output_type(self) -> object: ...

    @property
    def run(self) -> object: ...


@dataclasses.dataclass(frozen=True)
class ForeignAgent:
    """What `Worker(agent=...)` puts into `run`: an agent that its own library runs."""

    agent: object

    @property
    def __name__(self) -> str:
        if isinstance(self.agent, str):
            return self.agent
        return f"{type(self.agent).__module__.partition('.')[0]} agent"

    async def __call__(self, handoff: object) -> object:
        """Not called: the worker's runner has an adapter for the agent's framework."""
        raise NotImplementedError("an agent of another framework runs in a team only")


class AnyWorkerFields(TypedDict, total=False):
    """The fields of any worker."""

    offline_s: float | None
    instructions: str
    material: MaterialFunction | None
    input: object
    output: object
    plain: bool
    tier: Tier | None
    model: ModelSpec
    settings: Mapping[str, JsonValue]
    min_confidence: int | None
    max_tool_calls: int
    max_output_mb: float
    fallback: str | None
    retry: bool | Retry
    role: str | None
    max_queue: int | None
    read_only: bool | None
    concurrency: int | None
    expires_s: float | None
    limits: Limits


class ModelWorkerFields(AnyWorkerFields, total=False):
    """The team's model does the work."""

    tools: Sequence[object]
    offline: WorkFunction | None
    draft: WorkFunction | None
    isolate: Isolation
    run: None
    agent: None
    team: None


class FunctionWorkerFields(AnyWorkerFields, total=False):
    """A function or a pydantic-ai agent does the work; `tools` names what it uses."""

    run: Required[WorkFunction | AgentLike]
    deps: DepsFunction | None
    tools: Sequence[str]
    offline: WorkFunction | None
    isolate: Isolation


class AgentWorkerFields(AnyWorkerFields, total=False):
    """An agent of another framework does the work."""

    agent: Required[object]
    tools: Sequence[str]
    offline: WorkFunction | None


class TeamWorkerFields(AnyWorkerFields, total=False):
    """A team does the work."""

    team: Required["Team"]
    tools: Sequence[str]
    isolate: Isolation


READY_MADE_TOOLS: Mapping[str, str] = {
    "list_files": "Lists the files that were handed in, with their kind and size.",
    "search_files": "Searches the text of the files that were handed in.",
    "read_file": "Reads a file that was handed in: text, Markdown, HTML, PDF or DOCX.",
    "list_tables": "Lists the tables that were handed in, with their columns.",
    "query": "Answers a SQL query over the tables that were handed in.",
    "calculate": "Computes an arithmetic expression.",
    "search_web": "Searches the web, where that is configured.",
    "read_page": "Reads a web page, where that is configured.",
}
"""The name of each tool, and what it does in one line."""


MAX_TOOLS = 12
"""How many tools a worker that a plan describes may have."""
_MAX_SETS = 10_000
"""Sets of tools that are tried to find a smaller one."""
_WORD = re.compile(r"[^\W_]{3,}")
_STOP_WORD = re.compile(
    "and|any|are|for|from|had|handed|has|have|its|not|only|over|that|the|their|them|then|these|this"
    "|those|what|when|where|which|who|with|your"
)
_ENDINGS = ("ing", "ies", "es", "ed", "s")


@argument
@dataclasses.dataclass(frozen=True)
class WorkerFactory:
    """What the workers that a planner describes for one plan may be given.

    They are done by the team's models, last as long as their run, and have no tools that are not in
    this catalogue.
    """

    tools: Many[object] = ()
    """The catalogue: functions, names of ready-made tools, and toolsets with an `id`, which are
    granted as a whole."""
    _: dataclasses.KW_ONLY
    shared_tools: Many[str] = ()
    """Names of tools that more than one worker may have."""
    tiers: Annotated[Many[Tier], MinLen(1)] = TIERS
    """The tiers of model that they may start with."""
    max_workers: Annotated[int, Interval(ge=1, le=200)] = 7
    """How many workers one plan may describe."""

    def __post_init__(self) -> None:
        check_fields(self)
        check_contexts("WorkerFactory", self.tools)

    @functools.cached_property
    def catalogue(self) -> Mapping[str, object]:
        """The tools by the name under which a plan grants them."""
        return {name: tool for tool in self.tools if (name := granted_name(tool)) is not None}

    @functools.cached_property
    def descriptions(self) -> Mapping[str, str]:
        """What each tool of the catalogue does, in a line; empty if nothing says so."""
        return {name: _description(tool) for name, tool in self.catalogue.items()}

    def tools_for(self, description: str) -> tuple[str, ...]:
        """The names of the tools for a worker of that description, in the catalogue's order.

        The smallest set of tools whose names and descriptions have all words of `description` that
        any tool has; of equal sets, the one whose tools say least that is not asked for. Words are
        compared without case, endings and words such as "the". At most `MAX_TOOLS`; no model is
        asked, and the same catalogue gives the same tools.
        """
        wanted = _words(description)
        own = {name: _words(f"{name} {said}") for name, said in self.descriptions.items()}
        has = {name: words & wanted for name, words in own.items() if words & wanted}
        # Of tools with the same words, the one that says least besides.
        order = sorted(has, key=lambda name: len(own[name]) - len(has[name]))
        chosen = _smallest_cover(has, order)
        return tuple(name for name in self.catalogue if name in chosen)[:MAX_TOOLS]


def granted_name(tool: object) -> str | None:
    if isinstance(tool, str):
        return tool
    # Of a toolset the id, because the names of its tools may be known only when it is used.
    names = (getattr(tool, key, None) for key in ("name", "__name__", "id"))
    return next((name for name in names if isinstance(name, str) and name), None)


def _description(tool: object) -> str:
    if isinstance(tool, str):
        return READY_MADE_TOOLS.get(tool, "")
    if hasattr(tool, "get_tools"):
        tools = getattr(tool, "tools", None)  # those of other toolsets are known when they are used
        known = [*cast("Mapping[str, object]", tools)] if isinstance(tools, Mapping) else []
        return f"Tools: {', '.join(known)}" if known else ""
    said = getattr(tool, "description", None) or inspect.getdoc(tool) or ""
    return " ".join(str(said).split("\n\n")[0].split())


def _words(text: str) -> Set[str]:
    """The words of a text without endings: `pages` is `page`, and `searching` is `search`."""
    found = _WORD.findall(text.casefold().replace("_", " "))
    return {_stem(word) for word in found if not _STOP_WORD.fullmatch(word)}


def _stem(word: str) -> str:
    ending = next((one for one in _ENDINGS if word.endswith(one) and len(word) - len(one) > 2), "")
    return word[: len(word) - len(ending)].rstrip("ey") or word


def _smallest_cover(has: Mapping[str, Set[str]], order: Sequence[str]) -> Set[str]:
    """The fewest names of `has` that together have all its words; earlier ones of `order` first."""
    every = frozenset(word for words in has.values() for word in words)
    sets = (names for size in range(len(order) + 1) for names in combinations(order, size))
    for names in islice(sets, _MAX_SETS):
        if every == frozenset[str]().union(*(has[name] for name in names)):
            return {*names}
    # With so many, the one that has most of the words that are left, again and again.
    chosen, left = set[str](), {*every}
    while left:
        name = max(order, key=lambda name: len(has[name] & left))
        chosen.add(name)
        left -= has[name]
    return chosen
