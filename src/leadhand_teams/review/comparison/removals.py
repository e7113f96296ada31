"""What a rule finds in a comparison, and how it becomes findings."""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from leadhand.extension.findings import Finding
from leadhand.tools.text import counted
from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.comparison.code import span
from leadhand_teams.review.comparison.edits import Edit
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.rules import rule
from leadhand_teams.review.secrets import mask_secrets, safe_quote


class Removal(NamedTuple):
    """What one definition lost."""

    rule: str
    """Its id."""
    line: int
    """The line of the old file that is quoted; the change removes it."""
    message: str
    """A question, and what was removed."""
    added: bool = False
    """Whether `line` is one of the new file, which the change adds."""
    name: str = ""
    """The function that is gone or no longer called."""
    place: str = ""
    """The definition as the message names it."""
    at: int = 0
    """The line of the new file to point at, if the hunk that removes `line` has it."""


Row = Callable[[Edit, Pair, DefinitionPairs], str]
Rows = Sequence[tuple[str, Row]]
"""Ids of rules, each with what asks about an edit; an empty text asks nothing."""


def of_edits(
    pair: Pair, sides: DefinitionPairs, rows: Rows, *, sure: Rows = ()
) -> Iterator[Removal]:
    """What the first row with a question asks about each edit of a definition; only `sure` rows
    ask about one that is rewritten."""
    for edit in pair.edits:
        asks = (
            (rule, row(edit, pair, sides)) for rule, row in (sure if pair.is_rewritten else rows)
        )
        rule, question = next((one for one in asks if one[1]), ("", ""))
        if question and (line := _removed_line(edit, pair)):
            at = edit.new.lineno if isinstance(edit.new, ast.stmt | ast.expr) else 0
            yield Removal(rule, line, question, place=pair.place, at=at)


def _removed_line(edit: Edit, pair: Pair) -> int:
    """The first line of an edit, or of its statement, that the change removes, or 0."""
    for node in (edit.old, *edit.above):
        placed = isinstance(node, ast.stmt | ast.expr | ast.excepthandler)
        if placed and (line := next((n for n in span(node) if pair.removes(n)), 0)):
            return line
        if isinstance(node, ast.stmt):
            break
    return 0


def findings(found: Iterable[tuple[ChangedFile, Sequence[Removal]]]) -> Iterator[Finding]:
    """One finding for each rule and file, and one for the same words about several places."""
    alike: dict[tuple[str, str], list[tuple[ChangedFile, Removal]]] = {}
    for file, removals in found:
        for removal in _grouped(removals):
            words = removal.message.replace(removal.place, "")
            alike.setdefault((removal.rule, words), []).append((file, removal))
    for (file, first), *others in alike.values():
        yield finding(file, first, others)


def _grouped(removals: Iterable[Removal]) -> Iterator[Removal]:
    """One removal for each rule that finds something in a definition, at the first place."""
    groups: dict[str, list[Removal]] = {}
    for removal in removals:
        groups.setdefault(removal.rule, []).append(removal)
    for found in groups.values():
        first, *more = sorted(found, key=lambda removal: removal.line)
        if more:
            also = counted(len(more), "more line")
            first = first._replace(message=f"{first.message} The same holds for {also} there.")
        yield first


def finding(
    file: ChangedFile, removal: Removal, others: Sequence[tuple[ChangedFile, Removal]] = ()
) -> Finding:
    """The finding for a removal, and for `others` in the same words; it quotes the old line."""
    hunk = None if removal.added else file.hunk_removing(removal.line)
    text = (file.added if removal.added else file.removed)[removal.line]
    message = removal.message
    if others:
        there = {one.place.strip("`"): None for _, one in others}
        named = ", ".join([*there][:5])
        message += f" It was removed in {len(others)} other places, too, such as {named}."
    line = removal.line
    if hunk is not None:
        line = removal.at if hunk.new_start <= removal.at <= hunk.new_end else hunk.new_line
    return rule(removal.rule).finding(
        file,
        line,
        message=mask_secrets(message),
        evidence=safe_quote(text),
    )


def shown(text: str) -> str:
    """`text` on one line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:97]}..."
