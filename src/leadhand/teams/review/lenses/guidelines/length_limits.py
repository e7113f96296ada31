"""Reads limits on the length of lines, functions and files from sentences."""

import re
from collections.abc import Iterator

from leadhand.teams.review.lenses.guidelines.guideline import Kind

_ABOUT = re.compile(r"[~≈]|\babout\b|\baround\b|\broughly\b|\bapprox|\bguideline\b", re.IGNORECASE)
_OVER = (
    r"(?:over|above|longer than|larger than|more than|bigger than|exceeds?|exceeding|beyond|past)"
)
_UNDER = (
    r"(?:under|below|at most|no more than|no longer than|not (?:be )?(?:longer than|more than)"
    r"|(?:not|never) exceed|max(?:imum)?(?: of)?|<=?|≤|shorter than|less than|fewer than|within"
    r"|up to|limited to)"
)
_UNITS: tuple[tuple[Kind, str, int, int], ...] = (
    ("file-length", r"(?:files?|modules?)", 50, 5000),
    ("function-length", r"(?:functions?|methods?)", 5, 500),
)
_COUNT = r"(\d{1,4})\s*(?:lines|loc)\b"


def _patterns(thing: str) -> tuple[re.Pattern[str], ...]:
    lead = r"^(?:\W*)(?:(?:keep|all|every|each|source|python|individual|limit|must|should) ){0,4}"
    texts = (
        rf"\b(?:no|not|never|avoid)\b[\w ,`]{{0,30}}\b{thing}\b[\w ,`]{{0,20}}{_OVER} {_COUNT}",
        rf"\b{_UNDER}:? {_COUNT}(?: of code)? (?:per|a|in (?:a|each|any|every)) (?:\w+ )?{thing}\b",
        rf"{lead}{thing}\b(?: length| size)?[\w ,`:]{{0,20}}{_UNDER}:? {_COUNT}",
        rf"\b(?:max(?:imum)?|limit) {thing} (?:length|size)(?: is| of)?[:=]? {_COUNT}",
        rf"^{thing} (?:length|size)(?: limit| max(?:imum)?)?[:=]? (?:{_UNDER} )?{_COUNT}",
    )
    return tuple(re.compile(text, re.IGNORECASE) for text in texts)


_LENGTHS: tuple[tuple[Kind, int, int, tuple[re.Pattern[str], ...]], ...] = tuple(
    (kind, low, high, _patterns(thing)) for kind, thing, low, high in _UNITS
)
_LINE = tuple(
    re.compile(text, re.IGNORECASE)
    for text in (
        r"^\W*(?:the |use a? ?)?(?:max(?:imum)? )?line[- ]length(?: limit)?(?: is| of)?"
        r"(?: set to| limited to)?[:=]? (?:max(?:imum)?(?: of)? |at most )?(\d{2,3})\b",
        r"^\W*(?:max(?:imum)? )?(\d{2,3})[- ](?:characters?|chars?|columns?|col)"
        r"(?: max(?:imum)?)? (?:line[- ]length|per line|lines?)\b",
        rf"^\W*(?:keep |all |limit )*lines? (?:must |should )?(?:be |to )?(?:length )?{_UNDER}? ?"
        r"(\d{2,3}) (?:characters?|chars?|columns?)\b",
    )
)


def length_limits(text: str) -> Iterator[tuple[Kind, str]]:
    """The limits that a sentence states, as (kind, number)."""
    if not re.search(r"\d", text) or _ABOUT.search(text):
        return
    for kind, low, high, patterns in _LENGTHS:
        for pattern in patterns:
            found = pattern.search(text)
            if found and low <= int(found[1]) <= high:
                yield kind, str(found[1])
                break
    for pattern in _LINE:
        found = pattern.search(text)
        if found and 60 <= int(found[1]) <= 200:
            yield "line-length", str(found[1])
            break
