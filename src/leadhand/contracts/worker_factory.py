"""The worker factory of a team: a catalogue of tools for workers that a plan describes."""

import dataclasses
import functools
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Annotated, cast

from annotated_types import Interval, MinLen

from leadhand.contracts.context import check_contexts
from leadhand.contracts.data import Many, argument, check_fields
from leadhand.contracts.role import TIERS, Tier


@dataclass(frozen=True)
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
_MAX_VISITS = 10_000
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


def _smallest_cover(has: Mapping[str, Set[str]], order: Sequence[str]) -> Sequence[str]:
    """The fewest names of `has` that together have all its words; earlier ones of `order` first."""

    def cover(left: Set[str], most: int, visits: Iterator[int]) -> tuple[str, ...] | None:
        if not left:
            return ()
        if not most or next(visits, None) is None:
            return None
        by_word = {word: [name for name in order if word in has[name]] for word in left}
        rarest = min(sorted(left), key=lambda word: len(by_word[word]))
        for name in sorted(by_word[rarest], key=lambda name: -len(has[name] & left)):
            others = cover(left - has[name], most - 1, visits)
            if others is not None:
                return (name, *others)
        return None

    every = frozenset(word for words in has.values() for word in words)
    visits = iter(range(_MAX_VISITS))
    found = (cover(every, most, visits) for most in range(len(has) + 1))
    smallest = next((names for names in found if names is not None), None)
    # With so many, the first name that is tried for each word is taken.
    return smallest or cover(every, len(has), iter(range(len(has) + 1))) or ()
