"""The answer: one reply to the customer of what the workers found, and the ticket for a person."""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from leadhand import Plan
from leadhand.extension.roles import Conflict, Gap, Source, Synthesis, TaskResult
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.report import Block, CodeBlock, Items, Markdown, Report, Section
from leadhand_teams.shared.statements import Added, Checked, Statement, check
from leadhand_teams.support.escalator import ticket
from leadhand_teams.support.library import SupportLibrary, library_of, signatures
from leadhand_teams.support.output import (
    Brief,
    Diagnosis,
    Documented,
    SupportAnswer,
    T,
    Ticket,
    Triage,
    output_as,
)
from leadhand_teams.support.report import document
from leadhand_teams.support.routing import DESK_OF, rerouted
from leadhand_teams.support.runbooks import to_yaml
from leadhand_teams.support.sections import ANSWERS_FROM
from leadhand_teams.support.troubleshooter import evidence_of
from leadhand_teams.support.words import carrying, foreign, pattern, stems

_STRANGE = "Only requests in English are understood word for word"
NEAR, MAYBE = 1.2, 2.0
"""A section with this score may bridge the time until a wish is fulfilled, or may answer."""


class _Case(NamedTuple):
    """What is known of a request when the workers are done."""

    brief: Brief
    diagnosis: Diagnosis
    documented: Documented
    strange: bool
    """Whether it is in a language that is not understood, and has no known cause."""
    made: Ticket | None


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """One reply, the typed answer, and what is missing; of whatever results there are."""
    payload = next((one.payload for one in plan.tasks if one.payload is not None), None)
    brief = output_as(Brief, payload) or Brief(request=plan.goal)
    triage = _of(results, "triage", Triage, key="added")
    chosen = rerouted(brief, triage) if triage is not None else None
    brief = chosen or brief
    library = library_of(next((one.artifacts for one in plan.tasks), ()))
    diagnosis = _of(results, "troubleshooter", Diagnosis) or Diagnosis()
    documented = _of(results, "documenter", Documented) or Documented()
    strange = foreign(brief.request) and not diagnosis.cause
    if strange:
        documented = documented.model_copy(update={"answered": False})
    escalated = _of(results, "escalator", Ticket)
    made = escalated or _ticket(brief, diagnosis, documented, library)
    case = _Case(brief, diagnosis, documented, strange, made)
    checked = _checked(case, results, library)
    solved = bool(diagnosis.cause) and brief.route.primary != "escalator"
    output = SupportAnswer(
        reply=_reply(case, checked.kept),
        route=brief.route,
        kind=brief.kind,
        sections=documented.sections,
        answered=solved or documented.answered or bool(checked.kept),
        ticket=made,
        cause=diagnosis.cause,
        signs=diagnosis.signs,
        added=checked.kept,
        removed=len(checked.removed) + (triage is not None and chosen is None),
        own_knowledge=library.own,
    )
    gaps = [f"not read: {one}" for one in sorted(library.unread)]
    if strange and not checked.kept:
        gaps.append(_STRANGE)
    elif not output.answered and not (escalated or diagnosis.ways):
        gaps.append("neither documents nor runbooks answer this")
    task = results[0].task.id if results else "documenter"
    done = [(one.task.id, one.result) for one in results if one.result is not None]
    return Synthesis(
        answer=f"{output.reply}\n{document(output, desk=False).markdown(title=False)}",
        output=output.model_dump(mode="json"),
        sources=tuple(Source(task_id=id, ref=ref) for id, one in done for ref in one.evidence),
        gaps=tuple(Gap(task_id=task, why=why) for why in gaps),
        conflicts=_conflicts(documented),
    )


def _of(results: Sequence[TaskResult], worker: str, kind: type[T], *, key: str = "") -> T | None:
    """What a worker found, or the worker that did its task found, if it is of this type."""
    found = (_part(one, kind, key) for one in results if one.worker == worker)
    return next((one for one in found if one is not None), None)


def _part(one: TaskResult, kind: type[T], key: str = "") -> T | None:
    output = one.result.output if one.result is not None else None
    return output_as(kind, output.get(key) if key and isinstance(output, dict) else output)


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


def _checked(case: _Case, results: Sequence[TaskResult], library: SupportLibrary) -> Checked:
    """What models added, and whether its citations hold."""
    added = [_part(one, Added, "added") for one in results]
    statements = [one for each in added if each is not None for one in each.statements]
    if not statements:
        return Checked((), ())
    books = (*library.runbooks, *signatures())
    texts = [
        Text("request", case.brief.request),
        *(Text(one.ref, one.text, id=one.ref, title=one.title) for one in library.sections),
        *(Text(one.name, one.text) for one in library.logs),
        *(Text(one.ref, to_yaml([one]), id=one.ref) for one in books),
    ]
    return check(statements, texts)


def _ticket(
    brief: Brief, diagnosis: Diagnosis, documented: Documented, library: SupportLibrary
) -> Ticket | None:
    """A ticket if a person is needed after all, which says what was tried."""
    person = next((one.person for one in diagnosis.ways if one.person), "")
    solved = diagnosis.ways or documented.answered
    if solved and not person and brief.kind != "feature":
        return None
    tried = [f"Runbook “{one.runbook}” [{one.ref}]" for one in diagnosis.ways]
    if documented.searched:
        tried.append(f"{documented.searched} sections of the documents were searched")
    made = ticket(brief, evidence_of(brief.request, library), tried=tried, why=person)
    urgent = any(one.severity == "urgent" for one in diagnosis.ways)
    return made.model_copy(update={"severity": "urgent"}) if urgent else made


def _reply(case: _Case, added: Sequence[Statement]) -> str:
    """The reply to the customer."""
    documented, primary = case.documented, case.brief.route.primary
    feature = case.brief.kind == "feature"
    nothing = not case.diagnosis.cause and primary != "escalator"
    least = NEAR if feature else 0.01 if case.strange else MAYBE
    shown: dict[str, list[Section]] = {}
    steps = {*carrying(stems(" ".join(case.diagnosis.steps)))}
    if documented.answered or (documented.score >= least and (feature or nothing)):
        before = "Until then: " if feature else "Perhaps this helps: "
        shown[documented.sections[0].ref] = [*_documented(documented, before, steps)]
    for one in documented.also:
        if one.score >= (ANSWERS_FROM if primary == "escalator" else MAYBE):
            also = [*_documented(one, "Perhaps this helps: ", steps)]
            shown.setdefault(one.sections[0].ref, also)
    found = [*_diagnosed(case.diagnosis)]
    explained = [section for each in shown.values() for section in each]
    parts = explained + found if primary == "documenter" else found + explained
    if added:
        parts.insert(0, Section("", [Items([one.text for one in added])]))
    if case.made is not None and case.made.missing and not case.diagnosis.cause:
        lead = "Please answer what you can of this, so that we need not ask again:"
        parts.append(Section("Please send us", [lead, Items(case.made.missing)]))
    return Report(title="", lead=_lead(case), sections=parts).markdown(title=False)


def _lead(case: _Case) -> list[str]:
    """The direct answer, in one or two sentences."""
    brief, diagnosis, documented, made = case.brief, case.diagnosis, case.documented, case.made
    title = documented.sections[0].title if documented.sections else ""
    if made is not None and "escalator" in (brief.route.primary, DESK_OF[brief.kind]):
        there = f" What there is already is in “{title}”, below." if documented.answered else ""
        return [f"This needs a person. {made.why_a_person}{there}"]
    if case.strange:
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
    if pitfalls := dict.fromkeys(one for way in found.ways for one in way.pitfalls):
        yield Section("Watch out", [_listed(pitfalls)])


def _listed(lines: Iterable[str], *, numbered: bool = False) -> Markdown:
    """Lines of a runbook, which are Markdown, as a list."""
    plain = (" ".join(one.split()) for one in lines)
    shown = (
        f"{f'{n}.' if numbered else '-'} {one[:1].upper()}{one[1:]}"
        for n, one in enumerate(plain, 1)
    )
    return Markdown("\n".join(shown))


def _documented(found: Documented, before: str, steps: Set[str]) -> Iterator[Section]:
    """A section; its own list is left out if a runbook's `steps` are most of it."""
    best, text = found.sections[0], found.text
    own = {*carrying(stems(" ".join(one["items"] for one in pattern("listed").finditer(text))))}
    if len(own & steps) > len(own) / 2:
        text = pattern("listed").sub("", text)
    blocks: list[Block] = [*_blocks(text), *map(CodeBlock, found.code)]
    for one in found.contradictions:
        say = "say two things" if one.certain else "give two times"
        both = "” and “".join(one.texts)
        blocks.append(f"Our documents {say} here: “{both}”. Please ask which holds.")
    links = [f"[{label}]({address})" for label, address in found.links if address not in text]
    blocks += [Markdown("See also: " + ", ".join(links))] if links else []
    where = " › ".join((*found.path, best.title))
    title = best.title if found.answered else before + best.title
    yield Section(title, [*blocks, f"From {where}."])


def _blocks(text: str) -> Iterator[Block]:
    """The text of a document, with its code as code."""
    at = 0
    for match in pattern("fence").finditer(text):
        yield Markdown(text[at : match.start()].strip())
        yield CodeBlock(match["code"].rstrip("\n"), match["language"])
        at = match.end()
    yield Markdown(text[at:].strip())
