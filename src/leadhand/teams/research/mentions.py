"""Finds what texts say about the groups that an answer names, such as the fastest growing region.

A paragraph mentions a group if it or its heading names it. `North East` does not mention `North`.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import JsonValue

from leadhand.teams.research.excerpts import Quotation, quotations
from leadhand.teams.research.fastest import FALLING, GROWING
from leadhand.teams.research.findings import Findings, findings_in
from leadhand.teams.research.quoting import inline
from leadhand.teams.research.word_forms import matched, stems
from leadhand.tools.files.index import SearchIndex
from leadhand.tools.text import joined_names

MAX_MENTIONS: Final = 3
_CANDIDATES: Final = 200
_REASONS: Final = """
    because since due thanks after driven reason cause result why led won lost opened launched hired
    new closed
"""
"""Words that are typical of paragraphs with a reason."""


def naming_groups(inputs: Iterable[JsonValue]) -> Findings | None:
    """The first of `inputs` that is findings whose answer names groups, or `None`."""
    found = (findings_in(output) for output in inputs)
    return next((findings for findings in found if findings and findings.groups), None)


def mentions_of(
    findings: Findings, index: SearchIndex, *, files: set[str], words: Sequence[str]
) -> list[Quotation]:
    """The paragraphs of `files` about the groups of `findings`, the most relevant first."""
    found: dict[str, tuple[float, Quotation]] = {}
    for group in findings.groups:
        pattern = _pattern(group, findings.others)
        if pattern is None:
            continue
        for hit in index.search(f'"{group}"'.replace('""', '"'), _CANDIDATES):
            for quotation in quotations(hit) if hit.name in files else ():
                if score := _relevance(quotation, pattern, words):
                    found[quotation.citation] = score, quotation
    ranked = sorted(found.values(), key=lambda pair: -pair[0])
    return [quotation for _, quotation in ranked[:MAX_MENTIONS]]


def mentions_shown(findings: Findings, mentions: Sequence[Quotation]) -> tuple[str, ...]:
    """The mentions as Markdown, under a line that names the groups."""
    who = inline(joined_names(findings.groups))
    if not mentions:
        return (f"No document mentions {who}.",)
    return (f"What the documents say on {who}, word for word:", *(one.markdown for one in mentions))


def _relevance(mention: Quotation, pattern: re.Pattern[str], words: Sequence[str]) -> float:
    """How relevant a paragraph is to the groups that `pattern` finds; 0 if it names none."""
    text = mention.excerpt.text
    named = 1.0 * bool(pattern.search(text)) + 0.8 * bool(pattern.search(mention.heading))
    if not named:
        return 0
    reasons = stems(text) & stems(GROWING, FALLING, _REASONS)
    return named + 0.5 * len(reasons) + 0.5 * len(matched(words, text))


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
