"""The troubleshooter: from errors, codes and symptoms to a cause, steps and pitfalls."""

from leadhand import Escalated, Handoff, Result
from leadhand_teams.support.evidence import concerned, signs
from leadhand_teams.support.library import SupportLibrary, library_of, signatures
from leadhand_teams.support.output import Diagnosis, Sign, brief_of
from leadhand_teams.support.runbooks import Symptoms, to_yaml, walk
from leadhand_teams.support.words import carrying, stems

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
    symptoms = Symptoms("\n".join((request, *(one.text for one in evidence))))
    known = [Symptoms(one.text).best(signatures()) for one in evidence]
    books = [symptoms.best(library.runbooks), *known]
    books += [symptoms.best(signatures())] if not evidence else []
    fitting = {one.title: one for one in books if one is not None}
    meant = [
        sign.model_copy(update={"meaning": one.title if one is not None else ""})
        for sign, one in zip(evidence, known, strict=True)
    ]
    ways = tuple(walk(one, symptoms) for one in fitting.values())
    return Diagnosis(ways=ways, signs=tuple(meant))


def known_error(text: str) -> str:
    """What a well-known error, exit code or HTTP status means, as a runbook in YAML."""
    found = Symptoms(text).best(signatures())
    return to_yaml([found]) if found is not None else "Not among the well-known errors."
