"""The fixed catalogue of rules that code can check, and the sentences that state them.

Patterns match the start of a sentence or an unambiguous phrase, so that conditions, questions and
stories match nothing. Sentences that state no rule of the catalogue are ignored.
"""

import re
from collections.abc import Callable, Iterator

from leadhand.teams.review.lenses.guidelines.bans import banned
from leadhand.teams.review.lenses.guidelines.guideline import Guideline, Kind
from leadhand.teams.review.lenses.guidelines.patterns import length_limits, matches
from leadhand.teams.review.lenses.guidelines.phrases import CONDITIONAL, SOFT, START, folders_named
from leadhand.teams.review.lenses.guidelines.prose import Sentence

KindValues = Iterator[tuple[Kind, str]]

_ANY_PROJECT: frozenset[Kind] = frozenset(
    ("bare-except", "docstring", "docstring-style", "file-length", "os-path", "required-import",
     "changelog")
)  # fmt: skip
"""Kinds that are about Python even in a project that is mostly in another language."""
_NEGATED = re.compile(r"\W*(?:do not|don['’]t|never|avoid|no)\b", re.IGNORECASE)
_IN_TESTS = re.compile(r"\b(?:in|inside|within) (?:unit |the )?tests?\b", re.IGNORECASE)


def _when(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.IGNORECASE)


_THING = r"(?:functions?|methods?|classes|class|modules?|apis?|symbols?)"
_JOINER = r"(?:,|/|&|\b(?:and|or|all|every|public|new|exported)\b)"
_MUST = r"\s*(?:must|should|need|needs|require|requires|have|has)(?: to)?"
_STYLED = r"(?:google[- ]style |numpy[- ]style )?"
_DOCSTRINGS = (
    _when(
        rf"{START}(?P<what>(?:{_JOINER}\s*){{0,3}}{_THING}(?:\s*{_JOINER}?\s*{_THING}){{0,4}})",
        rf"{_MUST}(?: have| include| be documented with)?(?: an?| proper| clear| complete)* ",
        rf"{_STYLED}docstrings?\b",
    ),
    _when(
        rf"{START}(?:write |add |include |provide |use )?{_STYLED}docstrings? (?:are )?",
        r"(?:required |mandatory )?(?:for|on|to|in) (?P<what>(?:all|every|each|public)\b",
        r"[\w ,/&]{0,60})$",
    ),
)
_CALLABLES = r"\b(?:functions?|methods?|apis?|signatures?)\b"
_HINTS = (
    _when(
        rf"{START}(?:all|every|each|public|new)\b[\w ,/&]{{0,40}}?{_CALLABLES}[\w ,/&]{{0,30}}?",
        rf"{_MUST}(?: have| include| be| use)?(?: full| complete| proper| explicit)* ",
        r"(?:type[- ](?:hints?|annotations?|hinted|annotated)|fully typed)\b",
    ),
    _when(
        rf"{START}(?:use |add |include |write )?(?:full |complete )?type[- ]",
        r"(?:hints?|annotations?)",
        r" (?:are )?(?:required |mandatory |must be used )?(?:for|on|in|to) ",
        rf"(?:all|every|each|public)\b[\w ,/&]{{0,20}}{_CALLABLES}[\w ,/&]{{0,40}}$",
    ),
)
_FOR = r"`? (?:names? )?(?:for|in) (?:all )?(?:[\w/]+[, ]+(?:and )?){0,3}?"
_ARE = r"(?: names?)?(?::| in| use| are| must be| should be)+ `?"
_PASCAL = r"(?:PascalCase|CapWords|UpperCamelCase)"
_UPPER = r"(?:UPPER_CASE|UPPER_SNAKE_CASE|SCREAMING_SNAKE_CASE|ALL_CAPS)"
_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("function", _when(rf"\bsnake_case{_FOR}(?:functions?|methods?)\b")),
    (
        "function",
        _when(rf"{START}(?:functions?|methods?)(?:(?:, | and |/)\w+){{0,3}}{_ARE}snake_case\b"),
    ),
    ("class", _when(rf"\b{_PASCAL}{_FOR}class(?:es)?\b")),
    ("class", _when(rf"{START}class(?:es)?{_ARE}{_PASCAL}\b")),
    ("file", _when(rf"\bsnake_case{_FOR}(?:modules?|files?|file ?names?)\b")),
    ("file", _when(rf"{START}(?:modules?|files?|file ?names?){_ARE}snake_case\b")),
    ("variable", _when(r"\bsnake_case`? (?:names? )?for [\w, /]{0,40}\bvariables?\b")),
    ("constant", _when(rf"\b{_UPPER}`? (?:names? )?for [\w ]{{0,20}}constants?\b")),
)
_TEST_FILES = _when(
    rf"{START}(?:all )?(?:unit )?tests?[ -](?:files?|modules?) (?:are|must be|should be|is)",
    r"(?: named| called)? `(?:tests/)?([\w*]{2,40}\.py)`",
)


def guidelines(sentence: Sentence, *, mostly_python: bool, folder: str) -> Iterator[Guideline]:
    """The rules of the catalogue that `sentence` states."""
    text = sentence.text
    if sentence.forbids and not _NEGATED.match(text):
        text = f"avoid {text[:1].lower()}{text[1:]}"
    if CONDITIONAL.search(re.sub(r"`[^`]*`", "``", text)):
        return
    named = "python" in f"{sentence.context} {text}".lower()
    seen: set[tuple[Kind, str]] = set()
    for reader in _READERS:
        for kind, value in reader(text):
            if kind == "indentation" and value != "4" and not named:
                continue  # probably meant for files in another language
            if (mostly_python or named or kind in _ANY_PROJECT) and (kind, value) not in seen:
                seen.add((kind, value))
                yield Guideline(
                    kind=kind,
                    value=value,
                    source=sentence.source,
                    folder=folder,
                    within=() if kind in ("test-location", "changelog") else folders_named(text),
                    tests_only=_IN_TESTS.search(text) is not None,
                    soft=SOFT.search(text) is not None,
                )


def _docstrings(text: str) -> KindValues:
    for pattern in _DOCSTRINGS:
        if (found := pattern.match(text)) and "private" not in text:
            for what in _targets(found["what"].lower()):
                yield "docstring", what
            style = re.search(r"\b(google|numpy)[- ]style docstring", text, re.IGNORECASE)
            if style:
                yield "docstring-style", style[1].lower()
            return


def _targets(what: str) -> Iterator[str]:
    if re.search(r"\bapis?\b|\bsymbols?\b", what):
        yield from ("function", "method", "class")
        return
    for word in ("function", "method", "class", "module"):
        if re.search(rf"\b{word}", what):
            yield word


def _hints(text: str) -> KindValues:
    if any(pattern.match(text) for pattern in _HINTS):
        yield "type-hints", "public"


def _names(text: str) -> KindValues:
    for value, pattern in _NAMES:
        if pattern.search(text):
            yield "naming", value
    if found := _TEST_FILES.match(text):
        yield "naming", f"test-file:{found[1]}"


_READERS: tuple[Callable[[str], KindValues], ...] = (
    matches, _docstrings, _hints, _names, length_limits, banned,
)  # fmt: skip
