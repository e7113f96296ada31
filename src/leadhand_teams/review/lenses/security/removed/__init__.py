"""Protections that a change removes without a replacement, found by comparing before and after.

Every rule compares a definition with its successor; `sides` pairs them over all files. What moved,
was renamed or replaced is not reported.
"""

from collections.abc import Iterator, Sequence

from leadhand.extension.findings import NotAssessed
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, finding, findings
from leadhand_teams.review.lens import Seen
from leadhand_teams.review.lenses.security.removed import (
    calls,
    conditions,
    declarations,
    edited,
    expressions,
    fields,
    flags,
    handlers,
    lists,
    refusals,
    settings,
)
from leadhand_teams.review.lenses.security.removed.rules import CALL, FUNCTION, RULES, WEAK
from leadhand_teams.review.syntax import is_test

_COMPARISONS = (
    refusals, edited, conditions, handlers, flags, lists, calls, declarations, fields, settings,
    expressions,
)  # fmt: skip
"""In this order: of several that find something on one line, the first tells most."""


def find(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """The protections that the change removes from `files`."""
    sides = DefinitionPairs.of(change)
    compared: list[tuple[ChangedFile, list[Removal]]] = []
    for file in files:
        if is_test(file.path) or file.status == "added":
            continue
        for removal in settings.floors(file):
            yield finding(file, removal)
        if file.language != "python" or not (file.removed or flags.ADDED.search(file.head.lower())):
            continue
        try:
            compared += [(file, list(_removals(pair, sides))) for pair in sides.pairs(file)]
        except RecursionError:
            why = "its code is nested too deeply to compare"
            yield NotAssessed(lens="security", path=file.path, why=why)
    called = {removal.name for _, found in compared for removal in found if removal.rule is CALL}
    # Where a call is missing, it says more than that the function is gone as well.
    yield from findings(
        (file, [one for one in found if one.rule is not FUNCTION or one.name not in called])
        for file, found in compared
    )


def _removals(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """What all rules find in a definition, at most one removal for a line."""
    lines: set[tuple[bool, int]] = set()
    for rules in _COMPARISONS if pair.removes_lines else (flags, lists):
        for removal in rules.find(pair, sides):
            if removal.rule in WEAK and pair.is_rewritten:
                continue
            if (removal.added, removal.line) not in lines:
                lines.add((removal.added, removal.line))
                yield removal._replace(place=pair.place)


__all__ = ["RULES", "find"]
