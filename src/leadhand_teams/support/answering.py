"""The answer: one reply to the customer of what the workers found, and the ticket for a person."""

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from leadhand import Plan
from leadhand.extension.roles import Gap, Source, Synthesis, TaskResult
from leadhand_teams.shared.answers import added
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.report import Block, CodeBlock, Items, Markdown, Report, Section
from leadhand_teams.shared.statements import Checked, Statement, check
from leadhand_teams.support.escalator import ticket
from leadhand_teams.support.library import OWN, SupportLibrary, library_of, signatures
from leadhand_teams.support.output import (
    Brief,
    Diagnosis,
    Documented,
    FoundSection,
    SupportAnswer,
    Ticket,
    Triage,
    output_as,
)
from leadhand_teams.support.report import document
from leadhand_teams.support.routing import DESK_OF, rerouted
from leadhand_teams.support.runbooks import to_yaml
from leadhand_teams.support.sections import blocks
from leadhand_teams.support.signals import reasons
from leadhand_teams.support.words import DATA, carrying, foreign, pattern, stems


class _Case(NamedTuple):
    """What is known of a request when the workers are done."""

    brief: Brief
    diagnosis: Diagnosis
    documented: Documented
    strange: bool
    """Whether it is in a language that is not understood, and has no known cause."""
    made: Ticket | None
    library: SupportLibrary


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """One reply, the typed answer, and what is missing; of whatever results there are."""
    found = {one.worker: one.result.output for one in results if one.result is not None}
    briefs = (output_as(Brief, one.payload) for one in plan.tasks)
    brief = next(filter(None, briefs), Brief(request=plan.goal))
    library = library_of(next((one.artifacts for one in plan.tasks), ()))
    triaged = found.get("triage")
    triage = output_as(Triage, triaged.get("added")) if isinstance(triaged, dict) else None
    chosen = rerouted(brief, triage) if triage is not None else None
    brief = chosen or brief
    documented = output_as(Documented, found.get("documenter")) or Documented()
    diagnosis = output_as(Diagnosis, found.get("troubleshooter")) or Diagnosis()
    own = [one for one in diagnosis.ways if library.own or not one.ref.startswith(OWN)]
    if own or documented.answered:  # What holds for any product may not hold for this one.
        diagnosis = diagnosis.model_copy(update={"ways": tuple(own)})
    escalated = output_as(Ticket, found.get("escalator"))
    strange = foreign(brief.request) and not diagnosis.cause
    if strange:
        unsure = [one.model_copy(update={"sure": False}) for one in documented.findings]
        documented = documented.model_copy(update={"answered": False, "findings": tuple(unsure)})
    made = escalated or _ticket(brief, diagnosis, documented, library)
    case = _Case(brief, diagnosis, documented, strange, made, library)
    checked = _checked(brief.request, added(results), library)
    known = diagnosis.cause or (diagnosis.steps and not diagnosis.asking)
    solved = bool(known) and brief.route.primary != "escalator"
    output = SupportAnswer(
        reply=_reply(case, checked.kept),
        route=brief.route,
        kind=brief.kind,
        sections=documented.sections,
        answered=(solved or documented.answered or bool(checked.kept)) and not documented.open,
        ticket=made,
        cause=diagnosis.cause,
        signs=diagnosis.signs,
        added=checked.kept,
        removed=len(checked.removed) + (triage is not None and chosen is None),
        own_knowledge=library.own,
        unread=tuple(sorted(library.unread)),
    )
    gaps = [] if output.answered else [f"not read: {one}" for one in output.unread]
    if strange and not checked.kept:
        gaps.append(DATA["strange"])
    elif documented.open:
        gaps += [f"the documents do not answer this: {one}" for one in documented.open]
    elif diagnosis.asking and not (output.answered or diagnosis.steps):
        gaps.append(f"what helps depends on the customer's answer: {diagnosis.asking.question}")
    elif not output.answered and not (escalated or diagnosis.ways):
        near = [one.section.title for one in documented.findings]
        gaps += [f"“{one}” may answer this, but need not" for one in near]
        gaps += [] if near else ["neither documents nor runbooks answer this"]
    clashes = [clash for one in documented.findings for clash in one.clashes]
    task = results[0].task.id if results else "documenter"
    done = [(one.task.id, one.result) for one in results if one.result is not None]
    return Synthesis(
        answer=f"{output.reply}\n{document(output, desk=False).markdown(title=False)}",
        output=output.model_dump(mode="json"),
        sources=tuple(Source(task_id=id, ref=ref) for id, one in done for ref in one.evidence),
        gaps=tuple(Gap(task_id=task, why=why) for why in gaps),
        conflicts=tuple(dict.fromkeys(clashes)),
    )


def _checked(request: str, statements: Sequence[Statement], library: SupportLibrary) -> Checked:
    """What models added, and whether its citations hold."""
    if not statements:
        return Checked((), ())
    books = (*library.runbooks, *signatures())
    texts = [
        Text("request", request),
        *(Text(one.ref, one.text, id=one.ref) for one in library.index.sections),
        *library.logs,
        *(Text(one.ref, to_yaml([one]), id=one.ref) for one in books),
    ]
    return check(statements, texts)


def _ticket(
    brief: Brief, diagnosis: Diagnosis, documented: Documented, library: SupportLibrary
) -> Ticket | None:
    """A ticket if a person is needed after all, which says what was tried."""
    helps = bool(documented.findings)
    solved = bool(diagnosis.ways) or documented.answered
    if not foreign(brief.request):
        solved = solved or helps or bool(documented.unknown and not diagnosis.signs)
    if solved and not (diagnosis.person or documented.open) and brief.kind != "feature":
        return None
    tried = [f"Runbook “{one.runbook}” [{one.ref}]" for one in diagnosis.ways]
    why = diagnosis.person or (DATA["why"]["open"] if documented.open else "")
    made = ticket(brief, library, tried=tried, why=why)
    urgent = any(one.severity == "urgent" for one in diagnosis.ways)
    return made.model_copy(update={"severity": "urgent"}) if urgent else made


def _reply(case: _Case, added: Sequence[Statement]) -> str:
    """The reply to the customer."""
    documented, diagnosis, route = case.documented, case.diagnosis, case.brief.route
    feature = case.brief.kind == "feature"
    is_open = feature or not diagnosis.ways
    seen = {ref for way in diagnosis.ways for ref in way.sees}
    linked = [one for one in case.library.index.sections if one.ref in seen]
    shown = [FoundSection(section=one, sure=True) for one in linked]
    shown += [
        one
        for one in documented.findings
        if one.section.ref not in seen and (one.sure or one.beside or is_open)
    ]
    before = "Until then: " if feature else "Perhaps this helps: "
    steps = {*carrying(stems(" ".join(diagnosis.steps)))}
    explained = [_documented(one, "" if one.sure else before, steps) for one in shown]
    found = [*_diagnosed(diagnosis)]
    parts = explained + found if route.primary == "documenter" else found + explained
    if added:
        parts.insert(0, Section("", [Items([one.text for one in added])]))
    if case.made is not None and case.made.missing and not diagnosis.cause:
        parts.append(Section("Please send us", [DATA["please"], Items(case.made.missing)]))
    elsewhere = documented.unknown and not (found or shown)
    kind = "question" if elsewhere else case.brief.kind
    opening = DATA["opening"]["person" if reasons(case.brief.request) else kind]
    titles = " and ".join(f"“{one.section.title}”" for one in shown)
    first, *others = _lead(case, titles)
    if found or shown:
        others += [DATA["open"].format(one) for one in documented.open]
    report = Report(title="", lead=["Hello,", f"{opening} {first}", *others], sections=parts)
    return report.markdown(title=False)


def _lead(case: _Case, titles: str) -> list[str]:
    """The direct answer, in one or two sentences; `titles` are those of the sections below it."""
    brief, diagnosis, documented, made = case.brief, case.diagnosis, case.documented, case.made
    about = [*reasons(brief.request), made.kind if made is not None else brief.kind]
    passed = DATA["passed_on"][about[0]]
    if about[0] == "feature" and made is not None:
        passed += f" I noted it as “{made.title.partition(': ')[2] or made.title}”."
    if made is not None and "escalator" in (brief.route.primary, DESK_OF[brief.kind]):
        there = f"What our documents have on it is in {titles}, below." if titles else ""
        lacks = "" if about[1:] or there else "Our documents have nothing that does this."
        return [" ".join(filter(None, (lacks, passed, diagnosis.person, there)))]
    if case.strange:
        near = " What comes nearest to yours is below." if titles else ""
        return [f"{DATA['strange']}.{near} A person has to look at it."]
    also = [diagnosis.person or passed] if made is not None and not documented.open else []
    says = " ".join(one.says for one in documented.findings if one.says)
    if says and not diagnosis.ways:
        return [
            f"Our documents say: “{_plain(says)}” The whole of it is in {titles}, below.",
            *also,
        ]
    sure = any(one.sure for one in documented.findings)
    if sure and (brief.route.primary == "documenter" or not diagnosis.cause):
        return [f"This is described in {titles}, below.", *also]
    if diagnosis.cause:
        decides = diagnosis.asking.question if diagnosis.asking else ""
        which = f" One answer tells which: {decides}" if decides else ""
        return [f"The likely cause: {diagnosis.cause}{which}", *also]
    if diagnosis.asking is not None and not diagnosis.steps:
        return ["What helps depends on the answer to one question, below.", *also]
    if diagnosis.steps:
        return [f"These steps {'narrow it down' if diagnosis.asking else 'should help'}.", *also]
    if titles:
        return [f"This may help: {titles}, below.", *(also or [DATA["otherwise"]])]
    if documented.unknown and made is None:
        names = " and ".join(f"“{one}”" for one in documented.unknown)
        return [f"Our documents say nothing about {names}. {DATA['elsewhere']}"]
    if made is not None and made.missing[:1] == (next(iter(DATA["asked"][brief.kind])),):
        return ["To help you, we need to know a little more.", *also]
    return [f"{diagnosis.person or DATA['unanswered'][brief.kind]} {passed}"]


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
    plain = enumerate((" ".join(_plain(one).split()) for one in lines), 1)
    marked = ((f"{n}." if numbered else "-", one) for n, one in plain)
    return Markdown("\n".join(f"{mark} {one[:1].upper()}{one[1:]}" for mark, one in marked))


def _plain(text: str) -> str:
    """Markdown with the names of other documents in place of links, which customers do not have."""
    return pattern("cross_link").sub(r"“\1”", text)


def _documented(found: FoundSection, before: str, steps: Set[str]) -> Section:
    """A section; its own list is left out if a runbook's `steps` are most of it."""
    best = found.section
    parts = blocks(best.text)
    lists = [one for one in parts if one.node.type.endswith("_list")]
    own = {*carrying(stems(" ".join(one.text for one in lists)))}
    if len(own & steps) > len(own) / 2:
        parts = [one for one in parts if one not in lists and not one.text.rstrip().endswith(":")]
    shown: list[Block] = [
        CodeBlock(one.node.content.rstrip("\n"), one.node.info)
        if one.node.type in ("fence", "code_block")
        else Markdown(_plain(one.text.strip()))
        for one in parts
    ]
    for one in found.clashes:
        say = "say two things" if one.kind == "contradiction" else "give two times"
        both = "” and “".join(one.texts)
        shown.append(f"Our documents {say} here: “{both}”. Please ask which holds.")
    where = f"From {' › '.join((*best.path, best.title))}." if best.path else ""
    return Section(before + best.title, [*shown, where])
