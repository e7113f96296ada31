"""The plan as a report, a calendar and tables: warnings and decisions first, then the evidence."""

import datetime as dt
from collections.abc import Mapping, Sequence

from leadhand import Answer
from leadhand.tools.text import counted
from leadhand_teams.launch.output import Elasticity, Launch
from leadhand_teams.shared.calendar import Event, calendar
from leadhand_teams.shared.figures import bars
from leadhand_teams.shared.report import Block, Items, Report, Section, TableBlock, csv_text
from leadhand_teams.shared.values import date_text, number_text


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """The report as a page and as Markdown; the schedule as a calendar and as a table."""
    found = Launch.model_validate(answer.output)
    page = report(answer.request, found)
    written: dict[str, str | bytes] = {"report.html": page.html(), "report.md": page.markdown()}
    if found.schedule:
        events = [
            Event(one.task, dt.date.fromisoformat(one.start), dt.date.fromisoformat(one.end))
            for one in found.schedule
        ]
        written["launch.ics"] = calendar(events, name=answer.request, at=dt.datetime.now(dt.UTC))
        columns = ["task", "start", "end", "owner", "slack", "critical"]
        rows = [
            [one.task, one.start, one.end, one.owner or "", one.slack, one.critical]
            for one in found.schedule
        ]
        written["schedule.csv"] = csv_text(columns, rows)
    return written


def report(request: str, found: Launch) -> Report:
    """What is handed on."""
    sections = {
        "Warnings": [Items(found.warnings[1:] if _late(found) else found.warnings)],
        "How sales react to price": _elasticities(found),
        "What the survey suggests": _survey(found),
        "Economics": _economics(found),
        "Competitors' prices": _ladder(found),
        "Market": _market(found),
        "Schedule": _schedule(found),
        "Copy": _copy(found),
        "What a model added": [Items([f"{one.text} [{one.ref}]" for one in found.statements])],
    }
    count = counted(found.removed_statements, "statement")
    left_out = f"{count} of a model left out: its citation does not hold, or it is too long."
    return Report(
        title="Launch plan",
        about=request,
        lead=_lead(found),
        sections=[Section(title, blocks) for title, blocks in sections.items() if _has(blocks)],
        missing=[f"Not read: {why}" for why in found.unread],
        footer=[
            "Every number was computed by code from the files named beside it. Elasticities are "
            "associations in past sales, not promises.",
            *([left_out] if found.removed_statements else []),
        ],
    )


def _has(blocks: Sequence[Block]) -> bool:
    return any(not isinstance(block, Items) or block.lines for block in blocks)


def _late(found: Launch) -> bool:
    return bool(found.warnings) and "can't be met" in found.warnings[0]


def best(found: Launch, product: str | None = None) -> Elasticity | None:
    """The elasticity with most controls."""
    own = [one for one in found.elasticities if one.product == product]
    return max(own, key=lambda one: len(one.controls), default=None)


def _lead(found: Launch) -> list[str]:
    lead = [found.warnings[0]] if _late(found) else []
    if found.schedule and not _late(found):
        critical = sum(one.critical for one in found.schedule)
        start = dt.date.fromisoformat(found.schedule[0].start)
        launch = dt.date.fromisoformat(found.launch_date or found.schedule[-1].end)
        lead.append(
            f"{date_text(launch)} can be met if work begins on {date_text(start)}: "
            f"{critical} of {counted(len(found.schedule), 'task')} are critical."
        )
    if survey := found.survey:
        most = ""
        if survey.price_max_adoption is not None and survey.price_max_revenue is not None:
            most = (
                f"; most buy at {number_text(survey.price_max_adoption)}, "
                f"revenue is highest at {number_text(survey.price_max_revenue)}"
            )
        lead.append(
            f"The survey accepts prices from {number_text(survey.pmc)} to "
            f"{number_text(survey.pme)}, best at {number_text(survey.opp)}{most} [{survey.ref}]."
        )
    if one := best(found):
        controls = f", {' and '.join(one.controls)} taken into account" if one.controls else ""
        change = f"{abs(one.value):.2f} % {'less' if one.value < 0 else 'more'} sales"
        interval = f"{one.low:.2f} to {one.high:.2f}{controls}"
        lead.append(f"A price that is 1 % higher goes with {change} ({interval}) [{one.ref}].")
    economics, margin = found.economics, found.economics.margin
    if economics.price and margin is not None and economics.break_even_units is not None:
        lead.append(
            f"At {number_text(economics.price)} a unit earns {number_text(margin)}; "
            f"{economics.break_even_units:,} units pay for the fixed costs"
            f" [{', '.join(economics.refs)}]."
        )
    return lead or ["Nothing could be computed from the files."]


def _elasticities(found: Launch) -> list[Block]:
    rows = [
        [
            one.product or "all", ", ".join(one.controls) or "none", f"{one.value:.2f}",
            f"{one.low:.2f} to {one.high:.2f}", f"{one.rows:,}", one.ref,
        ]
        for one in found.elasticities
    ]  # fmt: skip
    columns = ["Product", "Controls", "Elasticity", "95 % interval", "Rows", "Source"]
    return [TableBlock(columns, rows)] if rows else []


def _survey(found: Launch) -> list[Block]:
    if (one := found.survey) is None:
        return []
    figures = {
        "Lowest acceptable price": one.pmc, "Optimal price point": one.opp,
        "Indifference price point": one.idp, "Highest acceptable price": one.pme,
        "Price that most would buy at": one.price_max_adoption,
        "Price of the highest revenue": one.price_max_revenue,
    }  # fmt: skip
    rows = [[name, number_text(value)] for name, value in figures.items() if value is not None]
    note = (
        f"{one.valid} valid answers; {one.invalid} left out, because their prices are not in order."
    )
    return [TableBlock(["", "Price"], rows, caption=one.ref), note]


def _economics(found: Launch) -> list[Block]:
    values = found.economics.model_dump(exclude_none=True, exclude={"refs"})
    rows = [[name.replace("_", " "), number_text(value)] for name, value in values.items()]
    return [TableBlock(["", ""], rows, caption=", ".join(found.economics.refs))] if rows else []


def _ladder(found: Launch) -> list[Block]:
    rows = [
        [one.competitor, one.item or "", f"{number_text(one.price)} {one.unit or ''}", one.ref]
        for one in found.ladder
    ]
    if not rows:
        return []
    named = [
        (" ".join(filter(None, (one.competitor, one.item))), one.price) for one in found.ladder
    ]
    if found.economics.price is not None:
        named = sorted([*named, ("ours", found.economics.price)], key=lambda entry: entry[1])
    figure = bars("Prices", named, alternative="Competitors' prices and ours, the cheapest first")
    return [TableBlock(["Competitor", "Item", "Price", "Source"], rows), figure]


def _market(found: Launch) -> list[Block]:
    rows = [
        [
            one.segment,
            one.measure,
            number_text(one.value),
            f"{one.share:.1f} %" if one.share is not None else "",
            one.ref,
        ]
        for one in found.market
    ]
    return [TableBlock(["Segment", "Measure", "Value", "Share", "Source"], rows)] if rows else []


def _schedule(found: Launch) -> list[Block]:
    rows = [
        [
            one.task, one.start, one.end, one.owner or "no owner yet",
            "critical" if one.critical else f"{one.slack} days of slack", one.ref,
        ]
        for one in found.schedule
    ]  # fmt: skip
    columns = ["Task", "First day", "Last day", "Owner", "", "Source"]
    note = "Working days, Monday to Friday; public holidays are not known."
    return [TableBlock(columns, rows), note] if rows else []


def _copy(found: Launch) -> list[Block]:
    rows = [
        [
            one.channel, one.text, f"{len(one.text)} of {one.max_chars}",
            "a model" if one.by_model else "the facts, word for word",
            ", ".join(claim.ref for claim in one.claims),
        ]
        for one in found.copies
    ]  # fmt: skip
    columns = ["Channel", "Text", "Characters", "Worded by", "Facts"]
    return [TableBlock(columns, rows)] if rows else []
