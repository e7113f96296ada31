"""The answer: one reply to the customer of what the workers found, and the ticket for a person."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

from leadhand import Plan
from leadhand.extension.roles import Conflict, Gap, Source, Synthesis, TaskResult
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.report import Block, CodeBlock, Items, Markdown, Report, Section
from leadhand_teams.shared.statements import Added, Checked, check
from leadhand_teams.support.escalator import ticket
from leadhand_teams.support.findings import Brief, Diagnosis, Documented, Escalation, output_as
from leadhand_teams.support.library import library_of, signatures
from leadhand_teams.support.output import Data, SupportAnswer, Ticket, Triage
from leadhand_teams.support.report import document
from leadhand_teams.support.routing import DESK_OF, rerouted
from leadhand_teams.support.runbooks import to_yaml

T = TypeVar("T", bound=Data)
NEAR, MAYBE = 1.0, 1.7
"""A section with this score may bridge the time until a wish is fulfilled, or may answer."""
_FENCE: Final = re.compile(r"^[ ]{0,3}(```+|~~~+)(\w*).*?\n(.*?)^[ ]{0,3}\1[ \t]*$", re.M | re.S)


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """One reply, the typed answer, and what is missing; of whatever results there are."""
    payload = next((one.payload for one in plan.tasks if one.payload is not None), None)
    brief = output_as(Brief, payload) or Brief(request=plan.goal)
    if (triage := _of(results, "triage", Triage, key="added")) is not None:
        brief = rerouted(brief, triage)
    diagnosis = _of(results, "troubleshooter", Diagnosis) or Diagnosis()
    documented = _of(results, "documenter", Documented) or Documented(answered=False, sections=())
    escalation = _of(results, "escalator", Escalation)
    checked = _added(brief, results)
    made = escalation.ticket if escalation else _ticket(brief, diagnosis, documented)
    solved = bool(diagnosis.cause) and brief.route.primary != "escalator"
    answered = solved or documented.answered or bool(checked.kept)
    reply = _reply(brief, diagnosis, documented, made, checked)
    output = SupportAnswer(
        reply=reply,
        route=brief.route,
        kind=brief.kind,
        sections=documented.sections,
        answered=answered,
        ticket=made,
        cause=diagnosis.cause,
        signs=diagnosis.signs,
        removed=len(checked.removed),
        own_knowledge=diagnosis.own or documented.own,
    )
    unread = {
        one: None for each in (diagnosis, documented, escalation) if each for one in each.unread
    }
    task = results[0].task.id if results else "documenter"
    gaps = [Gap(task_id=task, why=f"not read: {one}") for one in unread]
    if not answered and not (escalation or diagnosis.ways):
        gaps.append(Gap(task_id=task, why="neither documents nor runbooks answer this"))
    return Synthesis(
        answer=f"{reply}\n{document(output).markdown(title=False)}",
        output=output.model_dump(mode="json"),
        sources=tuple(
            Source(task_id=one.task.id, ref=ref)
            for one in results
            if one.result is not None
            for ref in one.result.evidence
        ),
        gaps=tuple(gaps),
        conflicts=tuple(
            Conflict(
                task_ids=("documenter",),
                kind="contradiction",
                about=documented.sections[0].title,
                why=" / ".join(
                    f"{ref}: {text}" for ref, text in zip(one.refs, one.texts, strict=True)
                ),
            )
            for one in documented.contradictions
        ),
    )


def _of(results: Sequence[TaskResult], worker: str, kind: type[T], *, key: str = "") -> T | None:
    """What a worker found, or the worker that did its task found, if it is of this type."""
    for one in results:
        if one.worker == worker and one.result is not None:
            output = one.result.output
            part = output.get(key) if key and isinstance(output, dict) else output
            if (found := output_as(kind, part)) is not None:
                return found
    return None


def _added(brief: Brief, results: Sequence[TaskResult]) -> Checked:
    """What models added, and whether its citations hold."""
    outputs = [one.result.output for one in results if one.result is not None]
    parts = [
        one["added"]
        for one in outputs
        if isinstance(one, dict) and "statements" in str(one.get("added"))
    ]
    statements = [one for part in parts for one in Added.model_validate(part).statements]
    if not statements:
        return Checked((), ())
    library = library_of(next((one.task.artifacts for one in results), ()))
    texts = [Text("request", brief.request)]
    texts += [Text(one.ref, one.text, id=one.ref, title=one.title) for one in library.sections]
    texts += [Text(one.name, one.text) for one in library.logs]
    texts += [
        Text(one.ref, to_yaml([one]), id=one.ref) for one in (*library.runbooks, *signatures())
    ]
    return check(statements, texts)


def _ticket(brief: Brief, diagnosis: Diagnosis, documented: Documented) -> Ticket | None:
    """A ticket if a person is needed after all, which says what was tried."""
    person = next((one.person for one in diagnosis.ways if one.person), "")
    solved = diagnosis.ways or documented.answered
    if (solved or brief.kind == "feature") and not person and brief.kind != "feature":
        return None
    tried = [f"Runbook “{one.runbook}” [{one.ref}]" for one in diagnosis.ways]
    if documented.searched:
        tried.append(f"{documented.searched} sections of the documents were searched")
    made = ticket(brief, diagnosis.signs, tried=tried, why=person)
    severe = next((one.severity for one in diagnosis.ways if one.severity), "")
    return made.model_copy(update={"severity": "urgent"}) if severe == "urgent" else made


def _reply(
    brief: Brief,
    diagnosis: Diagnosis,
    documented: Documented,
    made: Ticket | None,
    checked: Checked,
) -> str:
    """The reply to the customer."""
    first = [*_diagnosed(diagnosis)]
    feature = brief.kind == "feature"
    score = documented.sections[0].score if documented.sections else 0.0
    maybe = score >= (NEAR if feature else MAYBE) and (feature or not diagnosis.cause)
    before = "" if documented.answered else "Until then: " if feature else "Perhaps this helps: "
    second = [*_documented(documented, before)] if documented.answered or maybe else []
    parts = first + second if brief.route.primary != "documenter" else second + first
    if checked.kept:
        lines = [f"{one.text} (`{one.ref}`)" for one in checked.kept]
        parts.insert(0, Section("", [Items(lines)]))
    if made is not None and made.missing and not diagnosis.cause:
        lead = "Please answer what you can of this, so that we need not ask again:"
        parts.append(Section("Please send us", [lead, Items(made.missing)]))
    lead = _lead(brief, diagnosis, documented, made)
    return Report(title="", lead=lead, sections=parts).markdown(title=False)


def _lead(
    brief: Brief, diagnosis: Diagnosis, documented: Documented, made: Ticket | None
) -> list[str]:
    """The direct answer, in one or two sentences."""
    title = documented.sections[0].title if documented.sections else ""
    if made is not None and "escalator" in (brief.route.primary, DESK_OF[brief.kind]):
        there = f" What there is already is in “{title}”, below." if documented.answered else ""
        return [f"I pass this on as “{made.title}”. {made.why_a_person}{there}"]
    if documented.answered and (brief.route.primary == "documenter" or not diagnosis.cause):
        return [f"This is described in “{title}”."]
    if diagnosis.cause:
        decides = diagnosis.asking.question if diagnosis.asking else ""
        which = f" One answer tells which: {decides}" if decides else ""
        person = [f"A person is needed as well: {made.why_a_person}"] if made is not None else []
        return [f"The likely cause: {diagnosis.cause}{which}", *person]
    if diagnosis.asking is not None or diagnosis.steps:
        return ["These steps narrow it down."]
    if brief.kind == "bug":
        return ["Nothing that we have on record explains this yet, so a person has to look at it."]
    return ["Our documents do not answer this, so I pass it on to a person who can."]


def _diagnosed(found: Diagnosis) -> Iterator[Section]:
    if found.steps:
        yield Section("What to do", [_listed(found.steps, numbered=True)])
    if found.asking is not None:
        question, branches = found.asking.question, found.asking.branches
        yield Section("Which of these is it?", [question, _listed(branches)])
    pitfalls = dict.fromkeys(one for way in found.ways for one in way.pitfalls)
    if pitfalls:
        yield Section("Watch out", [_listed(pitfalls)])


def _listed(lines: Iterable[str], *, numbered: bool = False) -> Markdown:
    """Lines of a runbook, which are Markdown, as a list."""
    shown = [
        (f"{n}." if numbered else "-", " ".join(one.split())) for n, one in enumerate(lines, 1)
    ]
    return Markdown("\n".join(f"{mark} {one[:1].upper()}{one[1:]}" for mark, one in shown))


def _documented(found: Documented, before: str) -> Iterator[Section]:
    best = found.sections[0]
    blocks: list[Block] = [*_blocks(found.text), *(CodeBlock(one) for one in found.code)]
    links = [f"[{label}]({address})" for label, address in found.links if address not in found.text]
    blocks += [
        f"Our documents say two things here: “{one.texts[0]}” (`{one.refs[0]}`) and "
        f"“{one.texts[1]}” (`{one.refs[1]}`). Please ask before you rely on either."
        for one in found.contradictions
    ]
    blocks += [Markdown("See also: " + ", ".join(links))] if links else []
    where = " › ".join((*found.path, best.title))
    yield Section(
        before + best.title,
        [*blocks, f"From {where} (`{best.ref}`)."],
    )


def _blocks(text: str) -> Iterator[Block]:
    """The text of a document, with its code as code."""
    at = 0
    for match in _FENCE.finditer(text):
        yield Markdown(text[at : match.start()].strip())
        yield CodeBlock(match[3].rstrip("\n"), match[2])
        at = match.end()
    yield Markdown(text[at:].strip())
