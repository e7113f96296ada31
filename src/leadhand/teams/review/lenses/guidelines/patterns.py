"""Rules of the catalogue that fixed patterns recognize."""

import re
from collections.abc import Iterator

from leadhand.teams.review.lenses.guidelines.guideline import Kind
from leadhand.teams.review.lenses.guidelines.phrases import END, NO, START

_LOGGING = r"\b(?:logg(?:ing|ers?)|structlog|loguru)\b"
_NOT = r"(?:instead of|over|not|rather than|never)"
_INDENT = r"[- ]spaces?(?: (?:for )?indent\w*| per indent\w*| tabs?)?"
_STRINGS = r"[- ]quote[sd]?(?: strings?| for (?:all )?strings?)?"
_FUTURE = r"`from __future__ import annotations`"
_EACH_FILE = (
    r"every (?:python )?(?:file|module) (?:must |should )?"
    r"(?:starts? with|includes?|has|have|begins? with)"
)
_DOCSTRING_IN = r"docstrings?(?: are| must be| should be| use| follow| in|:)(?: in| the)*"
_LOG_FILE = r"(?:changelog|changes|history|news)(?:\.(?:md|rst|txt))?"
_TESTS = r"tests?(?: files?)?"
_FOLDER = r"(?:in|under|into|inside) (?:the )?`[\w./-]+/?`"
_USE = r"(?:use |write |follow )?(?:the )?"
_DOCSTRINGS = rf"[- ](?:style )?docstrings?{END}"

_PATTERNS: dict[tuple[Kind, str], tuple[str, ...]] = {
    ("print", ""): (
        rf"(?:{NO}|remove) `?print(?:\(\))?`?(?: statements?| calls?)?{END}",
        rf"(?:use|prefer) (?:a |an |the )?[`\w. ()/-]{{0,40}}{_LOGGING}[`\w. ()/,-]{{0,40}}"
        rf"\b{_NOT} `?print\b",
    ),
    ("relative-import", ""): (
        rf"{NO} relative imports?{END}",
        r"(?:use |prefer )?(?:only )?absolute imports?(?: only| everywhere| throughout"
        rf"| instead of relative\b.*|,? (?:not|over|never|no) relative\b.*| must be used)?{END}",
    ),
    ("wildcard-import", ""): (
        rf"{NO} (?:`?(?:wildcard|star|\*)`? imports?|`from \S{{1,40}} import \*`|`import \*`){END}",
    ),
    ("bare-except", ""): (
        rf"{NO} (?:bare `?except:?`?s?(?: clauses?| blocks?| statements?| handlers?)?|`except:`)"
        rf"{END}",
    ),
    ("os-path", ""): (
        r"(?:use|prefer) `?pathlib(?:\.Path)?`?(?:\.?`?Path`?)?[\w ]{0,30},? "
        rf"{_NOT} (?:string |raw )?`?os\.path\b",
        rf"{NO} `os\.path(?:\.\*)?`{END}",
    ),
    ("quotes", "double"): (rf"(?:use |prefer )?double{_STRINGS}{END}",),
    ("quotes", "single"): (rf"(?:use |prefer )?single{_STRINGS}{END}",),
    ("indentation", "4"): (rf"(?:use |indent with )?(?:4|four){_INDENT}{END}",),
    ("indentation", "2"): (rf"(?:use |indent with )?(?:2|two){_INDENT}{END}",),
    ("import-placement", ""): (
        r"(?:place |put |keep )?(?:all )?imports? (?:must |should )?(?:be |go |stay |belong )?"
        r"(?:placed )?at (?:the )?top(?: of \w+)?",
        rf"{NO} (?:inline|local|function-level|in-function|nested|lazy|function-local) imports?"
        rf"{END}",
        r"(?:never|do not|don['’]t|avoid) import(?:ing)? (?:modules )?(?:inside|within|in) (?:a )?"
        rf"functions?{END}",
    ),
    ("required-import", "annotations"): (
        rf"(?:use|add|include|start (?:every|each) (?:file|module) with|{_EACH_FILE}) {_FUTURE}"
        r"(?: (?:at the top of|in|to|as the first import in) (?:every|each|all)\b.*| everywhere)?$",
    ),
    ("docstring-style", "google"): (
        rf"{_USE}google{_DOCSTRINGS}",
        rf"{_DOCSTRING_IN} google[- ](?:style|format|convention)\b",
    ),
    ("docstring-style", "numpy"): (
        rf"{_USE}numpy(?:doc)?{_DOCSTRINGS}",
        rf"{_DOCSTRING_IN} numpy(?:doc)?[- ](?:style|format|convention)\b",
    ),
    ("changelog", ""): (
        r"(?:add|include|put|write|create) (?:an? |the )?(?:\w+ )?(?:entry|line|note|item)"
        rf"[\w ]{{0,40}} (?:to|in|into) (?:the )?[`\[*]*(?:docs/)?{_LOG_FILE}\b",
        rf"(?:update|document (?:your |all )?changes in) (?:the )?[`\[*]*{_LOG_FILE}[`\])*]*{END}",
        r"(?:every|all|each) (?:pull requests?|prs?|changes?) (?:must|should|needs?|requires?)"
        r"[\w ]{0,30} (?:changelog|`?CHANGE(?:S|LOG)\.(?:md|rst)`?)",
    ),
    ("test-location", ""): (
        rf"(?:put|place|keep|add|write) (?:all |new |your |unit |the )*{_TESTS} {_FOLDER}",
        rf"(?:all |new |unit )*{_TESTS} (?:go|goes|lives?|belongs?|must (?:be|live|go)"
        r"|should (?:be|live|go)|are (?:placed|located|kept|stored))(?: placed| located)? "
        rf"{_FOLDER}",
    ),
}
"""The patterns of each (kind, value); the value of `test-location` is the sentence's code span."""
_COMPILED = {
    key: [re.compile(START + text, re.IGNORECASE) for text in texts]
    for key, texts in _PATTERNS.items()
}


def matches(text: str) -> Iterator[tuple[Kind, str]]:
    """The (kind, value) of the rules whose pattern a sentence matches."""
    for (kind, value), patterns in _COMPILED.items():
        if any(pattern.match(text) for pattern in patterns):
            yield kind, text.split("`")[1] if kind == "test-location" else value


# Limits on the length of lines, functions and files

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
