"""Routing rules: choose a worker by the words, a pattern or the labels of a text. Pure."""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.team import Route, Team

MAX_CHARS = 20_000

_WORD = re.compile(r"\w+(?:['’]\w+)?")
_LABEL = re.compile(r"\[([^\[\]\n]{1,100})\]|(?<![\w#])#([\w-]{1,100})")


def default_route(routes: Iterable[Route]) -> Route | None:
    return next((route for route in routes if route.is_default), None)


def route_of(routes: Iterable[Route], text: str) -> Route | None:
    """The first rule that matches `text`; None if no rule does."""
    return next(_matching(routes, text), None)


def is_routed(team: Team) -> bool:
    routers = team.routes or team.router or team.trained_router
    return bool(routers) or KINDS[team.planner.kind].must_route


def candidates(routes: Sequence[Route], text: str) -> tuple[str, ...]:
    """The likeliest first: those of each matching rule."""
    named = (name for route in _matching(routes, text) for name in (route.worker, route.secondary))
    return tuple(dict.fromkeys(name for name in named if name is not None))


def named_workers(text: str, workers: Iterable[str]) -> tuple[str, ...]:
    """Those of the workers whose names a person wrote, as whole words in any case, in order."""
    written = text.casefold()
    found = {
        name: match.start()
        for name in workers
        if (match := re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", written))
    }
    return tuple(sorted(found, key=found.__getitem__))


def reason(route: Route, text: str) -> str | None:
    if route.is_default:
        return "it takes everything"
    text = text[:MAX_CHARS]
    words, labels = _words(text), _labels(text)
    for phrase in route.words:
        if _words(phrase) in words:
            return f"it has {phrase!r}"
    for label in route.labels:
        if label.strip().casefold() in labels:
            return f"it has the label {label!r}"
    if route.pattern is not None and matches(route.pattern, text):
        return f"it matches {route.pattern!r}"
    return None


def pattern_problem(pattern: str) -> str | None:
    """Why a pattern can't be used, in one line; None if it can."""
    try:
        _matcher(pattern)
    except SchemaError as error:
        said = " ".join(str(error).split())
        _, known, why = said.rpartition(" error: ")
        return why if known else "it is too large or not a regular expression"
    return None


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in `text`, in any case."""
    try:
        _matcher(pattern).validate_python(text)
    except ValidationError:
        return False
    return True


def _matching(routes: Iterable[Route], text: str) -> Iterator[Route]:
    return (route for route in routes if reason(route, text) is not None)


def _labels(text: str) -> set[str]:
    return {(one or other).strip().casefold() for one, other in _LABEL.findall(text)}


@functools.lru_cache(maxsize=10_000)
def _words(text: str) -> str:
    """The words of a text with a blank around each, so that only whole words are found in it."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


@functools.lru_cache(maxsize=1_000)
def _matcher(pattern: str) -> SchemaValidator:
    # This engine takes linear time for any pattern, so that no pattern can hang.
    schema = core_schema.str_schema(pattern=f"(?i){pattern}", regex_engine="rust-regex")
    return SchemaValidator(schema)
