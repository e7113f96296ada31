"""The summary as a report: what the patient has and what contradicts first, then the evidence."""

from collections.abc import Mapping, Sequence

from leadhand import Answer
from leadhand.tools.text import counted
from leadhand_teams.patient.clinical import readable
from leadhand_teams.patient.comparing import day_of, is_active, moment, place
from leadhand_teams.patient.output import ClinicalItem, ClinicalLine, LabSeries, PatientSummary
from leadhand_teams.patient.records import VOID
from leadhand_teams.shared.figures import Drawing, Series, line_chart
from leadhand_teams.shared.report import Block, Items, Report, Section, TableBlock
from leadhand_teams.shared.values import number_text


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """The report as a page and as Markdown, and its figures."""
    found = PatientSummary.model_validate(answer.output)
    drawn = {f"figures/plot-{n}.svg": one.file for n, one in enumerate(_figures(found), start=1)}
    return report(answer.request, found).files | drawn


def report(request: str, found: PatientSummary) -> Report:
    """What is handed on."""
    by_problem: list[Block] = []
    for problem, lines in found.summaries.items():
        by_problem += [f"{problem}:", _lines(lines)]
    flags = [
        [one.words, day_of(one.since), one.basis, one.why, " ".join(one.refs[:5])]
        for one in found.flags
    ]
    events = [*found.problems, *found.procedures, *found.timeline]
    dated = [
        [day_of(one.onset), one.kind, one.display, one.ref]
        for one in sorted(events, key=lambda one: moment(one.onset), reverse=True)
        if one.status not in VOID
    ]
    return Report(
        title="Patient summary", about=request, lead=_lead(found), missing=found.notes,
        sections=[
            Section("Sources that contradict each other", [_lines(found.contradictions)]),
            Section("Safety", [_lines(found.safety)]),
            Section("By problem", by_problem),
            Section("Flags", [TableBlock(["Flag", "Since", "Basis", "Why", "Ids"], flags)]),
            Section("Problems", [_entries(found.problems)]),
            Section("Medications", [_entries(found.medications)]),
            Section("Allergies", [_entries(found.allergies)]),
            Section("Measurements", [_labs(found.labs), *_figures(found)]),
            Section("Latest observations in words", [_lines(found.findings)]),
            Section("Time line", [TableBlock(["Date", "Kind", "What", "Id"], dated)]),
            Section("The same entry in two sources", [Items(found.duplicates)]),
        ],
        added=found.statements, removed=found.removed_statements,
        footer=[
            "This summary advises no treatment. Check it against the records, whose ids are given, "
            "before it is used for care.",
        ],
    )  # fmt: skip


def _lines(lines: Sequence[ClinicalLine]) -> Items:
    return Items([f"{one.text} [{', '.join(one.refs)}]" for one in lines])


def _lead(found: PatientSummary) -> list[str]:
    subject, dead = found.subject, found.subject.deceased
    who = [subject.sex, subject.birth_date and f"born {subject.birth_date}"]
    who.append(f"died {day_of(dead)}" if isinstance(dead, str) else "deceased" if dead else None)
    counts, disputed = list[str](), {ref for one in found.contradictions for ref in one.refs}
    for items, name in ((found.problems, "problem"), (found.medications, "medication")):
        active = [one for one in items if is_active(one)]
        both = {one.display for one in active if place(one) in disputed}
        count = counted(len({one.display for one in active}), f"active {name}")
        note = f" (sources contradict each other on {len(both)})" if both else ""
        counts += [count + note] if items else []
    series = counted(len(found.labs), "series", "series")
    counts += [f"{series} of measurements"] if found.labs else []
    said = ", ".join(filter(None, who)).capitalize() or "Sex and birth date are not given"
    out = [
        f"{one.display} {number_text(one.latest)} {readable(one.unit)}, {_side(one)}"
        for one in found.labs
        if one.out_of_range
    ]
    out += [one.text for one in found.findings if one.kind == "out_of_range"]
    about = (one.text.partition(":")[0] for one in found.contradictions)
    lines = {
        "Safety": "; ".join(one.text for one in found.safety),
        said: ", ".join(counts) or "no problems, medications or measurements",
        "Flags": ", ".join(f"{one.words} ({one.basis})" for one in found.flags),
        "Out of range": "; ".join(out),
        "The sources contradict each other": ", ".join(about),
    }
    return [f"{title}: {text}." for title, text in lines.items() if text]


def _side(lab: LabSeries) -> str:
    return f"{'newly ' if lab.newly_out_of_range else ''}{lab.series[-1].side or ''}"


def _entries(items: Sequence[ClinicalItem]) -> TableBlock:
    rows = [
        [one.display, one.code or "", one.status or "", day_of(one.onset), ", ".join(one.refs)]
        for one in sorted(items, key=lambda one: not is_active(one))
    ]
    return TableBlock(["What", "Code", "Status", "Since", "Ids"], rows)


def _labs(labs: Sequence[LabSeries]) -> TableBlock:
    rows: list[list[str]] = []
    for one in sorted(labs, key=lambda lab: not lab.out_of_range):
        last = one.series[-1]
        ends = [(word, end) for word, end in (("from", last.low), ("to", last.high)) if end]
        span = " ".join(f"{word} {number_text(end)}" for word, end in ends)
        numbers = ["" if n is None else f"{n:+.3g}" for n in (one.change, one.slope_per_year)]
        latest = [f"{number_text(one.latest)} {readable(one.unit)}", day_of(one.latest_date)]
        rows.append([one.display, *latest, *numbers, span, _side(one), last.ref])
    return TableBlock(["What", "Latest", "On", "Change", "A year", "Given range", "", "Id"], rows)


def _figures(found: PatientSummary) -> list[Drawing]:
    """At most six series of three days or more: those out of range and of flags first."""
    flagged, drawn = {ref for one in found.flags for ref in one.refs}, list[Drawing]()
    for lab in found.labs:
        kept = [one for one in lab.series if one.date and not one.left_out]
        points = [(moment(one.date).date(), one.value) for one in kept]
        shown = lab.out_of_range or flagged & {one.ref for one in lab.series}
        if not shown or len({day for day, _ in points}) < 3:
            continue
        last, ends = lab.series[-1], (points[0][0], points[-1][0])
        band = [(day, last.low, last.high) for day in ends] if lab.out_of_range is not None else []
        title = f"{lab.display} from {ends[0]} to {ends[1]}"
        words = f"{title}{', beside the given range' if band else ''}"
        line, unit = [Series(lab.display, points)], readable(lab.unit)
        drawn.append(line_chart(title, line, alternative=words, y_label=unit, band=band))
    return drawn[:6]
