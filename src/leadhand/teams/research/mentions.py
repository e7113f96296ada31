"""What texts say of the group that the figures single out, such as the region that grows fastest.

A paragraph speaks of a group if it, or the heading above it, names it; `North East` is not `North`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue, ValidationError

from leadhand.teams.research.excerpts import paragraphs
from leadhand.teams.research.fastest import FALLING, GROWING
from leadhand.teams.research.findings import Findings
from leadhand.teams.research.quoting import block, cited, inline
from leadhand.teams.research.word_forms import matched, stems
from leadhand.tools.files import Index, Passage
from leadhand.tools.files.documents import reference
from leadhand.tools.text import listed

MAX_NOTES: Final = 3
_CANDIDATES: Final = 200
_REASONS: Final = """
    because since due thanks after driven reason cause result why led won lost opened launched hired
    new closed
"""
"""Words that paragraphs with a reason tend to have."""


@dataclass(frozen=True, slots=True)
class Note:
    """A paragraph on a group."""

    place: str
    """As it is cited, without the brackets."""
    heading: str
    text: str
    merit: float


def singled_out(inputs: Iterable[JsonValue]) -> Findings | None:
    """The findings among `inputs` that answer by naming a group; none where none do."""
    for one in inputs:
        try:
            findings = Findings.model_validate(one)
        except ValidationError:
            continue
        if findings.groups:
            return findings
    return None


def notes_on(
    findings: Findings, index: Index, *, files: set[str], words: Sequence[str]
) -> list[Note]:
    """The paragraphs of `files` on the groups that `findings` name, the most telling first."""
    found: dict[str, Note] = {}
    for group in findings.groups:
        pattern = _pattern(group, findings.others)
        if pattern is None:
            continue
        for hit in index.search(f'"{group}"'.replace('""', '"'), _CANDIDATES):
            if hit.name in files:
                found |= {one.place: one for one in _within(hit, pattern, words)}
    return sorted(found.values(), key=lambda one: -one.merit)[:MAX_NOTES]


def said_of(findings: Findings, notes: Sequence[Note]) -> tuple[str, ...]:
    """The notes as Markdown, under a line that says whom they are on."""
    who = inline(listed(findings.groups))
    if not notes:
        return (f"No document mentions {who}.",)
    shown = [
        f"{inline(one.heading)} {cited(one.place)}".strip() + f"\n\n{block(one.text)}"
        for one in notes
    ]
    return (f"What the documents say on {who}, word for word:", *shown)


def _within(hit: Passage, pattern: re.Pattern[str], words: Sequence[str]) -> list[Note]:
    notes: list[Note] = []
    telling = stems(GROWING, FALLING, _REASONS)
    for piece in paragraphs(hit.text):
        heading = piece.heading or hit.heading
        in_text, in_heading = bool(pattern.search(piece.text)), bool(pattern.search(heading))
        if not in_text and not in_heading:
            continue
        line = hit.line + hit.text.count("\n", 0, piece.offset)
        place = reference(hit.name, line=line, page=hit.page)[1:-1]
        merit = 1.0 * in_text + 0.8 * in_heading
        merit += 0.5 * len(stems(piece.text) & telling) + 0.5 * len(matched(words, piece.text))
        notes.append(Note(place, heading, piece.text, merit))
    return notes


def _pattern(group: str, others: Sequence[str]) -> re.Pattern[str] | None:
    """What finds `group` as words of their own, and no longer name of another group."""
    parts = re.findall(r"\w+", group)
    if not parts:
        return None
    name = r"\W+".join(map(re.escape, parts))
    longer = [r"\W+".join(map(re.escape, re.findall(r"\w+", one))) for one in others]
    longer = [one for one in longer if one != name and re.search(rf"(?i)\b{name}\b", one)]
    if longer:
        guards = "".join(
            f"(?!{one[len(name) :]}\\b)" for one in longer if one.lower().startswith(name.lower())
        )
        return re.compile(rf"(?i)\b{name}\b{guards}")
    return re.compile(rf"(?i)\b{name}\b")
