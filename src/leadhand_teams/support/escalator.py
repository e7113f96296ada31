"""The escalator: a ticket that an engineer, or a person who decides, need not ask back about."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from leadhand import Handoff, Result
from leadhand_teams.support.library import SupportLibrary, library_of
from leadhand_teams.support.output import Brief, Kind, Ticket, brief_of
from leadhand_teams.support.signals import PERSON, points, reasons
from leadhand_teams.support.troubleshooter import environment, evidence_of
from leadhand_teams.support.words import DATA, carrying, compiled, pattern, stems

_MOST: Final = 8


def escalate(handoff: Handoff) -> Result:
    """The worker's draft."""
    made = ticket(brief_of(handoff), library_of(handoff.artifacts))
    return Result(
        output=made.model_dump(mode="json"),
        summary=f"Ticket: {made.title}. {made.why_a_person}",
        confidence=70,
        evidence=["request"],
    )


def ticket(
    brief: Brief, library: SupportLibrary, *, tried: Iterable[str] = (), why: str = ""
) -> Ticket:
    """The ticket of a request; `tried` is what this desk did, `why` why a person is needed."""
    kind: Kind = "feature" if brief.route.secondary == "escalator" else brief.kind
    text = pattern("signature").sub("", brief.request.strip())
    said = [" ".join(match[0].split()) for match in pattern("sentence").finditer(text)]
    said = [one for one in said if any(map(str.isalpha, one)) and not pattern("trace").match(one)]
    errors = [
        one.text + (f" ({one.place})" if one.place else "") + f" [{one.ref}]"
        for one in evidence_of(brief.request, library)
    ]
    steps = [one for one in said if pattern("step").search(one)]
    own = [one for one in said if pattern("tried").search(one)]
    logged = (one.text[:20_000] for one in library.logs)
    surroundings = environment("\n".join((text, *logged)))
    about = reasons(text) or [kind]
    asked: dict[str, str] = {key: by for one in about for key, by in DATA["asked"][one].items()}
    shown = errors or pattern("no_error").search(text)
    known = {"environment": surroundings, "steps": steps, "evidence": shown}
    is_high = about[0] in PERSON or (kind == "bug" and pattern("affected").search(text))
    severity = "high" if is_high else "low" if kind == "feature" else "normal"
    return Ticket(
        title=_title(said, kind, about),
        need=" ".join(said)[:1_000],
        environment=surroundings,
        steps=tuple((*steps, *errors)[:_MOST]),
        tried=tuple((*own, *tried)[:_MOST]),
        missing=tuple(
            question
            for question, by in asked.items()
            if not (known[by] if by in known else compiled(by).search(text))
        ),
        why_a_person=why or " ".join(DATA["why"][one] for one in about),
        severity="urgent" if {"urgent", "leak"}.intersection(about) else severity,
        kind=kind,
    )


def _title(said: Sequence[str], kind: Kind, about: Sequence[str]) -> str:
    """The sentence that says most of what it is about, cut at a word."""

    def telling(one: str) -> int:
        reason = any(pattern(why).search(one) for why in about if why in PERSON)
        says = min(len(carrying(stems(one))), 8) + (points(kind, one) if kind != "question" else 0)
        return 9 * reason + says - 9 * (one.isupper() or len(one.split()) < 3)

    def plain(one: str) -> str:
        return pattern("greeting").sub("", one).removesuffix(", please?").strip(" .!?:,")

    title = plain(max(filter(plain, said), key=telling, default="No text"))
    title = title if len(title) <= 80 else title[:80].rsplit(" ", 1)[0] + " …"
    before = {"feature": "Feature request: ", "bug": "Problem: "}.get(kind, "Question: ")
    before = "Request: " if about[0] in PERSON else before
    said_so = re.match(r"feature request|feature:|bug\b|\[|problem", title, re.IGNORECASE)
    is_name = re.match(r"\w+[._]", title) is not None
    return ("" if said_so else before) + (title if is_name else title[:1].upper() + title[1:])
