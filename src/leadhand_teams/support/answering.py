"""The answer: one reply to the customer of what the workers found, and the ticket for a person."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from pydantic import BaseModel

from leadhand import Plan
from leadhand.extension.roles import Conflict, Gap, Source, Synthesis, TaskResult
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.report import Block, CodeBlock, Items, Markdown, Report, Section
from leadhand_teams.shared.statements import Added, Checked, check
from leadhand_teams.support.escalator import ticket
from leadhand_teams.support.findings import Brief, Diagnosis, Documented, Escalation, output_as
from leadhand_teams.support.library import library_of, signatures
from leadhand_teams.support.output import Sign, SupportAnswer, Ticket, Triage
from leadhand_teams.support.report import document
from leadhand_teams.support.retrieval import ANSWERS_FROM
from leadhand_teams.support.routing import DESK_OF, rerouted
from leadhand_teams.support.runbooks import to_yaml
from leadhand_teams.support.sections import FENCE
from leadhand_teams.support.signals import foreign
from leadhand_teams.support.troubleshooter import evidence_of

T = TypeVar("T", bound=BaseModel)
_STRANGE = "Only requests in English are understood word for word"
NEAR, MAYBE = 1.0, 1.7
"""A section with this score may bridge the time until a wish is fulfilled, or may answer."""


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """One reply, the typed answer, and what is missing; of whatever results there are."""
    payload = next((one.payload for one in plan.tasks if one.payload is not None), None)
    brief = output_as(Brief, payload) or Brief(request=plan.goal)
    triage = _of(results, "triage", Triage, key="added")
    chosen = rerouted(brief, triage) if triage is not None else None
    brief = chosen or brief
    diagnosis = _of(results, "troubleshooter", Diagnosis) or Diagnosis()
    documented = _of(results, "documenter", Documented) or Documented(answered=False, sections=())
    escalation = _of(results, "escalator", Escalation)
    checked = _added(brief, results)
    strange = foreign(brief.request) and not diagnosis.cause
    if strange:
        documented = documented.model_copy(update={"answered": False})
    paths = next((one.artifacts for one in plan.tasks), ())
    evidence = evidence_of(brief.request, library_of(paths))
    made = escalation.ticket if escalation else _ticket(brief, diagnosis, documented, evidence)
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
        removed=len(checked.removed) + (triage is not None and chosen is None),
        own_knowledge=diagnosis.own or documented.own,
    )
    unread = {*diagnosis.unread, *documented.unread, *(escalation.unread if escalation else ())}
    task = results[0].task.id if results else "documenter"
    gaps = [Gap(task_id=task, why=f"not read: {one}") for one in sorted(unread)]
    if strange and not checked.kept:
        gaps.append(Gap(task_id=task, why=_STRANGE))
    elif not answered and not (escalation or diagnosis.ways):
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
        conflicts=_conflicts(documented),
    )


def _conflicts(documented: Documented) -> tuple[Conflict, ...]:
    clashes = {
        one: found.sections[0].title
        for found in (documented, *documented.also)
        for one in found.contradictions
    }
    return tuple(
        Conflict(
            task_ids=("documenter",),
            kind="contradiction" if one.certain else "difference",
            about=about,
            why=" / ".join(map(": ".join, zip(one.refs, one.texts, strict=True))),
        )
        for one, about in clashes.items()
    )


def _of(results: Sequence[TaskResult], worker: str, kind: type[T], *, key: str = "") -> T | None:
    """What a worker found, or the worker that did its task found, if it is of this type."""
    found = (_part(one, kind, key) for one in results if one.worker == worker)
    return next((one for one in found if one is not None), None)


def _part(one: TaskResult, kind: type[T], key: str = "") -> T | None:
    output = one.result.output if one.result is not None else None
    return output_as(kind, output.get(key) if key and isinstance(output, dict) else output)


def _added(brief: Brief, results: Sequence[TaskResult]) -> Checked:
    """What models added, and whether its citations hold."""
    added = [_part(one, Added, "added") for one in results]
    statements = [one for each in added if each is not None for one in each.statements]
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


def _ticket(
    brief: Brief, diagnosis: Diagnosis, documented: Documented, evidence: Sequence[Sign]
) -> Ticket | None:
    """A ticket if a person is needed after all, which says what was tried."""
    person = next((one.person for one in diagnosis.ways if one.person), "")
    solved = diagnosis.ways or documented.answered
    if solved and not person and brief.kind != "feature":
        return None
    tried = [f"Runbook “{one.runbook}” [{one.ref}]" for one in diagnosis.ways]
    if documented.searched:
        tried.append(f"{documented.searched} sections of the documents were searched")
    made = ticket(brief, evidence, tried=tried, why=person)
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
    nothing = not diagnosis.cause and brief.route.primary != "escalator"
    near = NEAR if feature else 0.01 if foreign(brief.request) else MAYBE
    maybe = score >= near and (feature or nothing)
    before = "" if documented.answered else "Until then: " if feature else "Perhaps this helps: "
    second = [*_documented(documented, before)] if documented.answered or maybe else []
    shown = {documented.sections[0].ref} if second else set[str]()
    least = ANSWERS_FROM if brief.route.primary == "escalator" else MAYBE
    for one in documented.also:
        best = one.sections[0]
        if best.ref not in shown and best.score >= least:
            shown.add(best.ref)
            second += _documented(one, "" if one.answered else "Perhaps this helps: ")
    parts = second + first if brief.route.primary == "documenter" else first + second
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
        return [f"This needs a person. {made.why_a_person}{there}"]
    if foreign(brief.request) and not diagnosis.cause:
        near = " What comes nearest to yours is below." if title else ""
        return [f"{_STRANGE}.{near} A person has to look at it."]
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
    plain = [" ".join(one.split()) for one in lines]
    marks = [f"{n}." if numbered else "-" for n in range(1, len(plain) + 1)]
    shown = (f"{mark} {one[:1].upper()}{one[1:]}" for mark, one in zip(marks, plain, strict=True))
    return Markdown("\n".join(shown))


def _documented(found: Documented, before: str) -> Iterator[Section]:
    best = found.sections[0]
    blocks: list[Block] = [*_blocks(found.text), *(CodeBlock(one) for one in found.code)]
    links = [f"[{label}]({address})" for label, address in found.links if address not in found.text]
    blocks += [
        f"Our documents {'say two things' if one.certain else 'give two times'} here: "
        f"“{one.texts[0]}” (`{one.refs[0]}`) and “{one.texts[1]}” (`{one.refs[1]}`). "
        f"Please ask {'before you rely on either' if one.certain else 'which is meant'}."
        for one in found.contradictions
    ]
    blocks += [Markdown("See also: " + ", ".join(links))] if links else []
    where = " › ".join((*found.path, best.title))
    yield Section(before + best.title, [*blocks, f"From {where} (`{best.ref}`)."])


def _blocks(text: str) -> Iterator[Block]:
    """The text of a document, with its code as code."""
    at = 0
    for match in FENCE.finditer(text):
        yield Markdown(text[at : match.start()].strip())
        yield CodeBlock(match["code"].rstrip("\n"), match["language"])
        at = match.end()
    yield Markdown(text[at:].strip())
