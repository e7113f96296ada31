"""The summary as a report: what the patient has and what contradicts first, then the evidence."""

from collections.abc import Mapping, Sequence

from leadhand import Answer
from leadhand.tools.text import counted
from leadhand_teams.patient.output import ClinicalItem, ClinicalLine, LabSeries, PatientSummary
from leadhand_teams.patient.sources import is_active, moment
from leadhand_teams.shared.figures import Drawing, Series, line_chart
from leadhand_teams.shared.report import Block, Items, Report, Section, TableBlock
from leadhand_teams.shared.values import number_text


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """The report as a page and as Markdown, and its figures."""
    found = PatientSummary.model_validate(answer.output)
    page = report(answer.request, found)
    drawn = {f"figures/plot-{n}.svg": one.file for n, one in enumerate(_figures(found), start=1)}
    return {"report.html": page.html(), "report.md": page.markdown(), **drawn}


def report(request: str, found: PatientSummary) -> Report:
    """What is handed on."""
    by_problem: list[Block] = []
    for problem, lines in found.summaries.items():
        by_problem += [f"{problem}:", *_lines(lines)]
    flags = [
        [one.name, (one.since or "")[:10], one.basis, one.why, " ".join(one.refs[:5])]
        for one in found.flags
    ]
    events = sorted(
        (*found.problems, *found.procedures, *found.timeline), key=lambda one: moment(one.onset)
    )
    dated = [[(one.onset or "")[:10], one.kind, one.display, one.ref] for one in events[::-1]]
    added = [f"{one.text} [{one.ref}]" for one in found.statements]
    sections: dict[str, list[Block]] = {
        "Sources that contradict each other": _lines(found.contradictions),
        "Safety": _lines(found.safety),
        "By problem": by_problem,
        "Flags": _table(["Flag", "Since", "Basis", "Why", "Ids"], flags),
        "Problems": _entries(found.problems),
        "Medications": _entries(found.medications),
        "Allergies": _entries(found.allergies),
        "Measurements": [*_labs(found.labs), *_figures(found)],
        "Latest observations in words": _lines(found.findings),
        "Time line": _table(["Date", "Kind", "What", "Id"], dated),
        "The same entry in two sources": [Items(found.duplicates)] if found.duplicates else [],
        "What a model added": [Items(added)] if added else [],
    }
    removed = counted(found.removed_statements, "statement")
    left_out = f"{removed} of a model left out: it advises, or its citation does not hold."
    return Report(
        title="Patient summary", about=request, lead=_lead(found), missing=found.notes,
        sections=[Section(title, blocks) for title, blocks in sections.items() if blocks],
        footer=[
            "This summary advises no treatment. Check it against the records, whose ids are given, "
            "before it is used for care.",
            *([left_out] if found.removed_statements else []),
        ],
    )  # fmt: skip


def _lines(lines: Sequence[ClinicalLine]) -> list[Block]:
    return [Items([f"{one.text} [{', '.join(one.refs)}]" for one in lines])] if lines else []


def _lead(found: PatientSummary) -> list[str]:
    subject, dead = found.subject, found.subject.deceased
    who = [subject.sex, subject.birth_date and f"born {subject.birth_date}"]
    who.append(f"died {dead[:10]}" if isinstance(dead, str) else "deceased" if dead else None)
    counts = [
        counted(len({one.display for one in items if is_active(one)}), f"active {name}")
        for items, name in ((found.problems, "problem"), (found.medications, "medication"))
        if items
    ]
    counts += (
        [f"{counted(len(found.labs), 'series', 'series')} of measurements"] if found.labs else []
    )
    said = ", ".join(filter(None, who)).capitalize() or "Sex and birth date are not given"
    lead = [f"{said}: {', '.join(counts) or 'no problems, medications or measurements'}."]
    new = ", ".join(one.display for one in found.labs if one.newly_out_of_range)
    flags = ", ".join(f"{one.name} ({one.basis})" for one in found.flags)
    against = counted(len(found.contradictions), "contradiction")
    lead += [f"Flags: {flags}."] if flags else []
    lead += [f"Newly out of range: {new}."] if new else []
    return lead + ([f"The sources have {against}."] if found.contradictions else [])


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Block]:
    return [TableBlock(columns, rows)] if rows else []


def _entries(items: Sequence[ClinicalItem]) -> list[Block]:
    rows = [
        [one.display, one.code or "", one.status or "", (one.onset or "")[:10], ", ".join(one.refs)]
        for one in sorted(items, key=lambda one: not is_active(one))
    ]
    return _table(["What", "Code", "Status", "Since", "Ids"], rows)


def _labs(labs: Sequence[LabSeries]) -> list[Block]:
    rows: list[list[str]] = []
    for one in sorted(labs, key=lambda lab: not lab.out_of_range):
        last, new = one.series[-1], "newly " if one.newly_out_of_range else ""
        ends = [(word, end) for word, end in (("from", last.low), ("to", last.high)) if end]
        span = " ".join(f"{word} {number_text(end)}" for word, end in ends)
        numbers = ["" if n is None else f"{n:+.3g}" for n in (one.change, one.slope_per_year)]
        latest = [f"{number_text(one.latest)} {one.unit or ''}", (one.latest_date or "")[:10]]
        side = f"{new}{last.side}" if last.side else ""
        rows.append([one.display, *latest, *numbers, span, side, last.ref])
    return _table(["What", "Latest", "On", "Change", "A year", "Given range", "", "Id"], rows)


def _figures(found: PatientSummary) -> list[Drawing]:
    """At most six series of three days or more: those out of range and of flags first."""
    flagged, drawn = {ref for one in found.flags for ref in one.refs}, list[Drawing]()
    for lab in found.labs:
        points = [(moment(one.date).date(), one.value) for one in lab.series if one.date]
        shown = lab.out_of_range or flagged & {one.ref for one in lab.series}
        if not shown or len({day for day, _ in points}) < 3:
            continue
        low, high, ends = lab.series[-1].low, lab.series[-1].high, (points[0][0], points[-1][0])
        band = [(day, low, high) for day in ends] if low is not None and high is not None else []
        words = f"{lab.display} from {ends[0]} to {ends[1]}"
        line = [Series(lab.display, points)]
        drawn.append(line_chart(words, line, alternative=words, y_label=lab.unit or "", band=band))
    return drawn[:6]
