"""What a request and its logs say by themselves: tracebacks, error lines, codes, systems. Pure."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, cast

from leadhand_teams.support.output import Sign
from leadhand_teams.support.words import DATA, carrying, compiled, foreign, pattern, stems

_PYTHON: Final = re.compile(r"^Traceback \(most recent call last\):[ \t]*\r?\n", re.MULTILINE)
_FRAME: Final = re.compile(r'^\s*File "([^"\n]+)", line (\d+)(?:, in (\S+))?', re.MULTILINE)
_ERROR: Final = re.compile(r"^((?:\w+\.)*[A-Z]\w*)(?::[ \t]*(.*))?[ \t]*$", re.MULTILINE)
_OTHERS: Final = re.compile(
    r"^(?:Exception in thread \"[^\"\n]*\" |Caused by: |Uncaught )?"
    r"((?:[a-z_]\w*\.)*[A-Z]\w*(?:Exception|Error))(?: \[\w+\])?(?:: (.*))?\r?\n\s+at ([^\n]+)",
    re.MULTILINE,
)
"""Java and JavaScript."""
_NAMED: Final = re.compile(
    r"\b((?:\w+\.)*[A-Z]\w+(?:Error|Exception|Timeout))\b(?::\s*([^\n]{1,200}))?"
)
_LOG: Final = re.compile(
    r"^(\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\s\]]*\]?|\[?\d\d:\d\d:\d\d\S*)?[ \t]*.{0,60}?"
    r"\b((?:ERROR|FATAL|CRITICAL|PANIC|SEVERE)\b[\]:|]*[ \t]*.+)$",
    re.MULTILINE,
)
_VARYING: Final = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b|\d+", re.IGNORECASE)
_LIBRARY: Final = re.compile(r"(?:site|dist)-packages|[/\\]lib[/\\]python|node_modules|<frozen")
_MOST: Final = 8
_HOW: Final = re.compile(r"\s*how (?:do|can|to|should)\b", re.IGNORECASE)
_CODE: Final = re.compile(r"\b[a-z]+[-_]?\d+\b")
_GENERAL: Final = {
    *stems("error code exit status system fatal critical failed account user customer")
}


def signs(text: str, source: str) -> list[Sign]:
    """What went wrong by a text, the most telling first; `source` begins their references."""

    def ref(at: int) -> str:
        return f"{source}:{text.count(chr(10), 0, at) + 1}"

    found = [*_tracebacks(text, ref)]
    names = [one.text.partition(":")[0] for one in found]
    found += [one for one in _logged(text, ref) if not any(name in one.text for name in names)]
    for match in _NAMED.finditer(text):
        sign = Sign(text=_said(match[1], match[2]), ref=ref(match.start()))
        found += [sign] if not any(match[1] in one.text for one in found) else []
    for what, code in cast("list[tuple[str, str]]", DATA["codes"]):
        for match in compiled(code).finditer(text):
            sign = Sign(text=f"{what} {match['code']}", ref=ref(match.start()))
            codes = [one.text for one in found if one.kind == "code"]
            found += [sign] if not any(match["code"] in one for one in codes) else []
    return found[:_MOST]


def concerned(request: str, evidence: Sequence[Sign]) -> list[Sign]:
    """What a request is about: its own signs; those of a log if it says that something fails, or
    names the code or words of one. A question how to do something, or about money, says less."""
    own = [one for one in evidence if one.ref.startswith("request:")]
    if foreign(request):
        return own
    money = pattern("money").search(request) or pattern("rights").search(request)
    fails = pattern("problem").search(request) is not None
    least = 0 if own or (fails and not _HOW.match(request)) else 1 if fails else 2
    words = {*carrying(stems(request))} - _GENERAL
    codes = {*_CODE.findall(request.casefold())}
    return [
        one
        for one in evidence
        if one in own
        or codes.intersection(_CODE.findall(one.text.casefold()))
        or (not money and len(words.intersection(stems(one.text))) >= least)
    ]


def _tracebacks(text: str, ref: Callable[[int], str]) -> Iterator[Sign]:
    """The error of each traceback, the first of a chain first: it caused the others."""
    starts = [*_PYTHON.finditer(text)]
    ends = [*(one.start() for one in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=False):
        if (error := _ERROR.search(text, start.end(), end)) is None:
            continue
        frames = [*_FRAME.finditer(text, start.end(), error.start())]
        own = [one for one in frames if not _LIBRARY.search(one[1])] or frames
        place = f"{own[-1][1]}, line {own[-1][2]}" if own else ""
        said = _said(error[1], error[2])
        yield Sign(kind="traceback", text=said, place=place, ref=ref(error.start()))
    for match in reversed([*_OTHERS.finditer(text)]):
        said, place = _said(match[1], match[2]), match[3].strip()
        yield Sign(kind="traceback", text=said, place=place, ref=ref(match.start()))


def _said(name: str, message: str | None) -> str:
    return f"{name}: {message.strip()}" if message and message.strip() else name


def _logged(text: str, ref: Callable[[int], str]) -> list[Sign]:
    """The error lines of a log, alike ones counted as one, the most frequent first."""
    alike: defaultdict[str, list[re.Match[str]]] = defaultdict(list)
    for match in _LOG.finditer(text):
        alike[_VARYING.sub("#", match[2])].append(match)
    most = sorted(alike.values(), key=len, reverse=True)[:3]
    return [
        Sign(
            kind="log",
            text=first[2].strip()[:300],
            place=(first[1] or "").strip("[]"),
            ref=ref(first.start()),
            times=1 + len(others),
        )
        for first, *others in most
    ]


def environment(text: str) -> tuple[str, ...]:
    """Systems and versions that a text names, each once."""
    named = "|".join(rf"\b(?:{one})" for one in cast("list[str]", DATA["environment"]))
    names = [*dict.fromkeys(" ".join(one[0].split()) for one in compiled(named).finditer(text))]
    within = [one for one in names if any(one != other and one in other for other in names)]
    return tuple(one for one in names if one not in within)[:_MOST]
