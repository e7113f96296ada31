"""Protections that a change removes or weakens, found by comparing definitions before and after.

What moved, was renamed or replaced is not reported.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from leadhand.extension.findings import NotAssessed
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.comparison import (
    DefinitionPairs,
    Pair,
    Removal,
    finding,
    findings,
    of_edits,
)
from leadhand_teams.review.lens import Seen
from leadhand_teams.review.lenses.security import edited, lost, refusals, switches
from leadhand_teams.review.syntax import is_test

_CALL, _FUNCTION = "security/removed-call", "security/removed-check"
_WEAK = frozenset(f"security/removed-{name}" for name in ("clause", "wrapper", "fallback", "limit"))
"""Rules that see what is missing, and not whether it protected: they don't judge rewritten code."""
_FOR_DEVELOPERS = re.compile(r"(?:^|[/_-])(?:docs?|dev|tests?)\b")
"""Requirements that only documentation and development have."""
_COMPARISONS: tuple[Callable[[Pair, DefinitionPairs], Iterator[Removal]], ...] = (
    refusals.find,
    lambda pair, sides: of_edits(pair, sides, edited.FIRST),
    switches.find,
    lost.find,
    lambda pair, sides: of_edits(pair, sides, () if pair.grows else edited.LAST),
)
"""In this order: of several that find something on one line, the first tells most."""


def find(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """The protections that the change removes from `files`."""
    sides = DefinitionPairs.of(change)
    compared: list[tuple[ChangedFile, list[Removal]]] = []
    for file in files:
        if is_test(file.path) or file.status == "added":
            continue
        for removal in _floors(file):
            yield finding(file, removal)
        if file.language != "python":
            continue
        if not file.removed and not switches.ADDED.search(file.head.lower()):
            continue
        try:
            compared += [(file, list(_removals(pair, sides))) for pair in sides.pairs(file)]
        except RecursionError:
            why = "its code is nested too deeply to compare"
            yield NotAssessed(lens="security", path=file.path, why=why)
    called = {removal.name for _, found in compared for removal in found if removal.rule == _CALL}
    # Where a call is missing, it says more than that the function is gone as well.
    yield from findings(
        (file, [one for one in found if one.rule != _FUNCTION or one.name not in called])
        for file, found in compared
    )


def _removals(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """What all rules find in a definition, at most one removal for a line."""
    lines: set[tuple[bool, int]] = set()
    for find_in in _COMPARISONS if pair.removes_lines else (switches.find,):
        for removal in find_in(pair, sides):
            if removal.rule in _WEAK and pair.is_rewritten:
                continue
            if (removal.added, removal.line) not in lines:
                lines.add((removal.added, removal.line))
                yield removal._replace(place=pair.place)


def _floors(file: ChangedFile) -> Iterator[Removal]:
    """Requirements in `file` that now allow an older release."""
    name = file.path.rsplit("/", 1)[-1].lower()
    if not (name in ("setup.py", "setup.cfg", "pyproject.toml") or "requirements" in file.path):
        return
    if _FOR_DEVELOPERS.search(file.path):
        return
    now = dict(filter(None, map(_floor, file.added.values())))
    for line, text in file.removed.items():
        found = _floor(text)
        if found and found[0] in now and now[found[0]] < found[1]:
            message = f"Are releases of {found[0]} before {found[1]} safe? They are allowed now."
            yield Removal("security/removed-version-floor", line, message)


def _floor(line: str) -> tuple[str, Version] | None:
    """The package that a line requires, and the oldest release that it allows."""
    text = re.split(r"\s[#\\]|\s--", line)[0].strip(" \t,\"'")
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return None
    floors = (one for one in wanted.specifier if one.operator in (">=", ">", "==", "~="))
    versions = [Version(one.version.removesuffix(".*")) for one in floors]
    return (canonicalize_name(wanted.name), max(versions)) if versions else None
