"""The troubleshooter: what a request and its logs show, its cause, steps and pitfalls."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from leadhand import Escalated, Handoff, Result
from leadhand_teams.support.library import SupportLibrary, library_of, signatures
from leadhand_teams.support.output import Diagnosis, Sign, brief_of
from leadhand_teams.support.runbooks import Symptoms, walk
from leadhand_teams.support.signals import concerns
from leadhand_teams.support.words import DATA, carrying, compiled, foreign, pattern, stems

_MOST: Final = 8
UNCLEAR = "the request does not say what happens, in which program and when"


def diagnose(handoff: Handoff) -> Result | Escalated:
    """The worker's draft."""
    request = brief_of(handoff).request
    found = diagnosis(request, library_of(handoff.artifacts))
    if not found.ways and not found.signs and len(carrying(stems(request))) < 3:
        partial = Result(output=found.model_dump(mode="json"))
        return Escalated(reason="ambiguous_input", message=UNCLEAR, partial=partial)
    asked = found.asking.question if found.asking else ""
    return Result(
        output=found.model_dump(mode="json"),
        summary=found.cause or asked or "No runbook and no known error fits.",
        confidence=(80 if found.signs else 65) if found.cause else 40 if found.ways else 10,
        evidence=[*(one.ref for one in found.signs), *(one.ref for one in found.ways)],
    )


def evidence_of(request: str, library: SupportLibrary) -> list[Sign]:
    """What went wrong by a request and the logs that came with it."""
    found = signs(request, "request")
    return found + [sign for log in library.logs for sign in signs(log.text, log.name)]


def diagnosis(request: str, library: SupportLibrary) -> Diagnosis:
    """What is wrong by a request and the logs that came with it, and what to do."""
    evidence = concerned(request, evidence_of(request, library))
    symptoms = symptoms_of(request, evidence)
    known = [Symptoms(one.text).best(signatures()) for one in evidence]
    books = [library.runbook_for(concerns(request)[0], symptoms), *known]
    books += [symptoms.best(signatures())] if not evidence else []
    fitting = {one.title: one for one in books if one is not None}
    meant = [
        sign.model_copy(update={"meaning": one.title if one is not None else ""})
        for sign, one in zip(evidence, known, strict=True)
    ]
    ways = tuple(walk(one, symptoms) for one in fitting.values())
    return Diagnosis(ways=ways, signs=tuple(meant))


def symptoms_of(request: str, evidence: Sequence[Sign]) -> Symptoms:
    """What a request and the signs that it is about say."""
    return Symptoms("\n".join((request, *(one.text for one in evidence))))


def signs(text: str, source: str) -> list[Sign]:
    """What went wrong by a text, the most telling first; `source` begins their references."""

    def ref(at: int) -> str:
        return f"{source}:{text.count(chr(10), 0, at) + 1}"

    found = [*_tracebacks(text, ref)]
    names = [one.text.partition(":")[0] for one in found]
    found += [one for one in _logged(text, ref) if not any(name in one.text for name in names)]
    for what, code in DATA["codes"]:
        for match in compiled(code).finditer(text):
            # A line of a log may have several codes, each with a meaning of its own.
            others = [one.text for one in found if not what or one.kind == "code"]
            if not any(match["code"] in one for one in others):
                said = _said(f"{what} {match['code']}".strip(), match.groupdict().get("said"))
                found.append(Sign(text=said, ref=ref(match.start())))
    return found[:_MOST]


def concerned(request: str, evidence: Sequence[Sign]) -> list[Sign]:
    """What a request is about: its own signs; those of a log if it reports a problem, or names the
    log, or the code or words of one. A question how to do something, or about money, says less."""
    own = [one for one in evidence if one.ref.startswith("request:")]
    if foreign(request):
        return own
    money = pattern("money").search(request) or pattern("rights").search(request)
    fails = any(pattern(one).search(request) for one in ("problem", "attached"))
    fails = fails or not pattern("asks").search(request)
    least = 0 if own or (fails and not pattern("how").match(request)) else 1 if fails else 2
    words = {*carrying(stems(request))} - {*stems(DATA["general"])}
    codes = {*pattern("code").findall(request.casefold())}
    return [
        one
        for one in evidence
        if one in own
        or codes.intersection(pattern("code").findall(one.text.casefold()))
        or (not money and not one.is_past and len(words.intersection(stems(one.text))) >= least)
    ]


def _tracebacks(text: str, ref: Callable[[int], str]) -> Iterator[Sign]:
    """The error of each traceback, the first of a chain first: it caused the others."""
    starts = [*pattern("traceback").finditer(text)]
    ends = [*(one.start() for one in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=False):
        if (error := pattern("last_line").search(text, start.end(), end)) is None:
            continue
        frames = [*pattern("frame").finditer(text, start.end(), error.start())]
        own = [one for one in frames if not pattern("library").search(one[1])] or frames
        place = f"{own[-1][1]}, line {own[-1][2]}" if own else ""
        said = _said(error[1], error[2])
        yield Sign(kind="traceback", text=said, place=place, ref=ref(error.start()))
    for match in reversed([*pattern("other_traceback").finditer(text)]):
        said, place = _said(match[1], match[2]), match[3].strip()
        yield Sign(kind="traceback", text=said, place=place, ref=ref(match.start()))


def _said(name: str, message: str | None) -> str:
    return f"{name}: {message.strip()}" if message and message.strip() else name


def _logged(text: str, ref: Callable[[int], str]) -> list[Sign]:
    """The error lines of a log, alike ones counted as one, those that came last first."""
    alike: defaultdict[str, list[re.Match[str]]] = defaultdict(list)
    lines = [*pattern("log_line").finditer(text)] or pattern("failed_line").finditer(text)
    for match in lines:
        alike[pattern("varying").sub("#", match[2])].append(match)
    newest = sorted(alike.values(), key=lambda one: one[-1].start(), reverse=True)[:3]
    return [
        Sign(
            kind="log",
            text=first[2].strip()[:300],
            place=(first[1] or "").strip("[]"),
            ref=ref(first.start()),
            times=1 + len(others),
            is_past=[first, *others][-1].start() < newest[0][0].start(),
        )
        for first, *others in newest
    ]


def environment(text: str) -> tuple[str, ...]:
    """Systems and versions that a text names, each once."""
    named = "|".join(rf"\b(?:{one})" for one in DATA["environment"])
    names = [*dict.fromkeys(" ".join(one[0].split()) for one in compiled(named).finditer(text))]
    within = [one for one in names if any(one != other and one in other for other in names)]
    return tuple(one for one in names if one not in within)[:_MOST]
