"""Protections that a change removes without a replacement, found by comparing before and after.

Every rule compares a definition with its successor; `sides` pairs them over all files. What moved,
was renamed or replaced is not reported.
"""

from collections.abc import Iterable, Iterator, Sequence

from leadhand.extension.findings import Finding, NotAssessed
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lens import Seen
from leadhand_teams.review.lenses.security.removed import (
    calls,
    conditions,
    declarations,
    expressions,
    fields,
    flags,
    handlers,
    lists,
    refusals,
    settings,
)
from leadhand_teams.review.lenses.security.removed.rules import (
    CALL,
    FUNCTION,
    RULES,
    WEAK,
    Removal,
)  # fmt: skip
from leadhand_teams.review.lenses.security.removed.sides import Pair, Sides
from leadhand_teams.review.lenses.security.secrets import mask_secrets, safe_quote
from leadhand_teams.review.syntax import is_test

_COMPARISONS = (
    refusals, conditions, handlers, flags, lists, calls, declarations, fields, settings,
    expressions,
)  # fmt: skip
"""In this order: of several that find something on one line, the first tells most."""


def find(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """The protections that the change removes from `files`."""
    sides = Sides(change)
    compared: list[tuple[ChangedFile, list[Removal]]] = []
    for file in files:
        if is_test(file.path) or file.status == "added":
            continue
        for removal in settings.floors(file):
            yield _finding(file, removal, ())
        if file.language != "python" or not (file.removed or flags.ADDED.search(file.head.lower())):
            continue
        try:
            compared += [(file, list(_removals(pair, sides))) for pair in sides.pairs(file)]
        except RecursionError:
            why = "its code is nested too deeply to compare"
            yield NotAssessed(lens="security", path=file.path, why=why)
    called = {removal.name for _, found in compared for removal in found if removal.rule is CALL}
    alike: dict[tuple[str, str], list[tuple[ChangedFile, Removal]]] = {}
    for file, found in compared:
        # Where a call is missing, it says more than that the function is gone as well.
        left = [one for one in found if one.rule is not FUNCTION or one.name not in called]
        for removal in _grouped(left):
            words = removal.message.replace(removal.place, "")
            alike.setdefault((removal.rule.id, words), []).append((file, removal))
    for (file, first), *others in alike.values():
        yield _finding(file, first, others)


def _removals(pair: Pair, sides: Sides) -> Iterator[Removal]:
    """What all rules find in a definition, at most one removal for a line."""
    lines: set[tuple[bool, int]] = set()
    for rules in _COMPARISONS if pair.removes_lines else (flags, lists):
        for removal in rules.find(pair, sides):
            if removal.rule in WEAK and pair.is_rewritten:
                continue
            if (removal.added, removal.line) not in lines:
                lines.add((removal.added, removal.line))
                yield removal._replace(place=pair.place)


def _grouped(removals: Iterable[Removal]) -> Iterator[Removal]:
    """One removal for each rule that finds something in a definition, at the first place."""
    groups: dict[str, list[Removal]] = {}
    for removal in removals:
        groups.setdefault(removal.rule.id, []).append(removal)
    for found in groups.values():
        first, *more = sorted(found, key=lambda removal: removal.line)
        if more:
            there = ", ".join(str(removal.line) for removal in more[:5])
            noun = "line" if len(more) == 1 else "lines"
            message = f"{first.message} The same holds for old {noun} {there}."
            first = first._replace(message=message)
        yield first


def _finding(
    file: ChangedFile, removal: Removal, others: Sequence[tuple[ChangedFile, Removal]]
) -> Finding:
    """The finding for a removal, and for `others` in the same words."""
    hunk = None if removal.added else file.hunk_removing(removal.line)
    text = (file.added if removal.added else file.removed)[removal.line]
    message = removal.message
    if others:
        there = {one.place.strip("`"): None for _, one in others}
        named = ", ".join([*there][:5])
        message += f" It was removed in {len(others)} other places, too, such as {named}."
    return removal.rule.finding(
        file,
        hunk.new_line if hunk is not None else removal.line,
        message=mask_secrets(message),
        evidence=safe_quote(text),
    )


__all__ = ["RULES", "find"]
