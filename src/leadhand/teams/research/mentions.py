"""Finds what texts say about the groups that an answer names, such as the fastest growing region.

A paragraph mentions a group if it or its heading names it. `North East` does not mention `North`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from leadhand.teams.research.excerpts import paragraphs
from leadhand.teams.research.fastest import FALLING, GROWING
from leadhand.teams.research.findings import Findings, findings_in
from leadhand.teams.research.quoting import block, cited, inline
from leadhand.teams.research.word_forms import matched, stems
from leadhand.tools.files import Passage, SearchIndex
from leadhand.tools.files.documents import citation
from leadhand.tools.text import joined_names

MAX_MENTIONS: Final = 3
_CANDIDATES: Final = 200
_REASONS: Final = """
    because since due thanks after driven reason cause result why led won lost opened launched hired
    new closed
"""
"""Words that are typical of paragraphs with a reason."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A paragraph about a group."""

    place: str
    """The place to cite, without brackets."""
    heading: str
    text: str
    relevance: float


def naming_groups(inputs: Iterable[JsonValue]) -> Findings | None:
    """The first of `inputs` that is findings whose answer names groups, or `None`."""
    found = (findings_in(output) for output in inputs)
    return next((findings for findings in found if findings and findings.groups), None)


def mentions_of(
    findings: Findings, index: SearchIndex, *, files: set[str], words: Sequence[str]
) -> list[Mention]:
    """The paragraphs of `files` about the groups of `findings`, the most relevant first."""
    found: dict[str, Mention] = {}
    for group in findings.groups:
        pattern = _pattern(group, findings.others)
        if pattern is None:
            continue
        for hit in index.search(f'"{group}"'.replace('""', '"'), _CANDIDATES):
            if hit.name in files:
                found |= {one.place: one for one in _within(hit, pattern, words)}
    return sorted(found.values(), key=lambda one: -one.relevance)[:MAX_MENTIONS]


def mentions_shown(findings: Findings, notes: Sequence[Mention]) -> tuple[str, ...]:
    """The mentions as Markdown, under a line that names the groups."""
    who = inline(joined_names(findings.groups))
    if not notes:
        return (f"No document mentions {who}.",)
    shown = [
        f"{inline(one.heading)} {cited(one.place)}".strip() + f"\n\n{block(one.text)}"
        for one in notes
    ]
    return (f"What the documents say on {who}, word for word:", *shown)


def _within(hit: Passage, pattern: re.Pattern[str], words: Sequence[str]) -> list[Mention]:
    mentions: list[Mention] = []
    reasons = stems(GROWING, FALLING, _REASONS)
    for piece in paragraphs(hit.text):
        heading = piece.heading or hit.heading
        in_text, in_heading = bool(pattern.search(piece.text)), bool(pattern.search(heading))
        if not in_text and not in_heading:
            continue
        line = hit.line + hit.text.count("\n", 0, piece.offset)
        place = citation(hit.name, line=line, page=hit.page)[1:-1]
        relevance = 1.0 * in_text + 0.8 * in_heading
        relevance += 0.5 * len(stems(piece.text) & reasons) + 0.5 * len(matched(words, piece.text))
        mentions.append(Mention(place, heading, piece.text, relevance))
    return mentions


def _pattern(group: str, others: Sequence[str]) -> re.Pattern[str] | None:
    """A pattern for `group` as whole words that are not part of another group's longer name."""
    parts = re.findall(r"\w+", group)
    if not parts:
        return None
    name = r"\W+".join(map(re.escape, parts))
    longer = [r"\W+".join(map(re.escape, re.findall(r"\w+", one))) for one in others]
    longer = [one for one in longer if one != name and re.search(rf"(?i)\b{name}\b", one)]
    guards = "".join(
        f"(?!{one[len(name) :]}\\b)" for one in longer if one.lower().startswith(name.lower())
    )
    return re.compile(rf"(?i)\b{name}\b{guards}")
