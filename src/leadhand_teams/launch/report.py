"""The plan as a report, a calendar and tables: warnings and decisions first, then the evidence."""

import datetime as dt
from collections.abc import Mapping

from leadhand import Answer
from leadhand.tools.text import counted
from leadhand_teams.launch.output import Launch
from leadhand_teams.shared.calendar import Event, calendar
from leadhand_teams.shared.figures import Series, bars, line_chart
from leadhand_teams.shared.report import Block, Items, Report, Section, TableBlock, csv_text
from leadhand_teams.shared.values import amount_text, date_text, number_text


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """The report as a page and as Markdown; the schedule as a calendar and as a table."""
    found = Launch.model_validate(answer.output)
    written = report(answer.request, found).files
    if found.schedule:
        events = [Event(one.task, one.start, one.end) for one in found.schedule]
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
    return Report(
        title="Launch plan",
        about=request,
        lead=_lead(found),
        sections=[
            Section("Warnings", [Items([one for one in found.warnings if not is_decisive(one)])]),
            Section("How sales react to price", [_elasticities(found)]),
            Section("What the survey suggests", _survey(found)),
            Section("Economics", [_economics(found)]),
            Section("Competitors' prices", _ladder(found)),
            Section("Market", [_market(found)]),
            Section("Schedule", [_schedule(found)]),
            Section("Copy", [_copy(found)]),
        ],
        added=found.statements,
        removed=found.removed_statements,
        missing=[f"Not read: {why}" for why in found.unread],
        footer=[
            "Every number was computed by code from the files named beside it. Elasticities are "
            "associations in past sales, not promises.",
        ],
    )


def is_decisive(warning: str) -> bool:
    """Whether it is the first thing to say: there is no schedule that holds."""
    return "can't be met" in warning or warning.startswith("No schedule")


def _lead(found: Launch) -> list[str]:
    lead = [one for one in found.warnings if is_decisive(one)]
    if found.schedule and not lead:
        critical = sum(one.critical for one in found.schedule)
        launch = date_text(found.launch_date or found.schedule[-1].end)
        lead.append(
            f"{launch} can be met if work begins on {date_text(found.schedule[0].start)}: "
            f"{critical} of {counted(len(found.schedule), 'task')} critical."
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
    whole = [one for one in found.elasticities if one.product is None]
    if one := max(whole, key=lambda one: len(one.controls), default=None):
        controls = f", {' and '.join(one.controls)} taken into account" if one.controls else ""
        change = f"{abs(one.value):.2f} % {'less' if one.value < 0 else 'more'} sales"
        interval = f"{one.low:.2f} to {one.high:.2f}{controls}"
        what = f"A price that is 1 % higher goes with {change}"
        if one.low <= 0 <= one.high:
            what = "These sales don't tell how they react to price"
        lead.append(f"{what} ({interval}) [{one.ref}].")
    economics, margin = found.economics, found.economics.margin
    if economics.price and margin is not None:
        units, fixed = economics.break_even_units, ""
        if units is not None:
            fixed = f"; {units:,} units pay for the fixed costs"
        lead.append(
            f"At {amount_text(economics.price, economics.currency)} a unit earns "
            f"{amount_text(margin, economics.currency)}{fixed} [{', '.join(economics.refs)}]."
        )
    return lead or ["Nothing could be computed from the files."]


def _elasticities(found: Launch) -> TableBlock:
    rows = [
        [
            one.product or "all", ", ".join(one.controls) or "none", f"{one.value:.2f}",
            f"{one.low:.2f} to {one.high:.2f}", f"{one.rows:,}", one.ref,
        ]
        for one in found.elasticities
    ]  # fmt: skip
    columns = ["Product", "Controls", "Elasticity", "95 % interval", "Rows", "Source"]
    return TableBlock(columns, rows)


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
    left_out = f"{one.invalid} left out, because their prices are not in order."
    names = ("too cheap", "cheap", "expensive", "too expensive")
    curves = [
        Series(name, [(point[0], 100 * point[n]) for point in one.curves])
        for n, name in enumerate(names, start=1)
    ]
    words = "Share of answers that find a price too cheap, cheap, expensive, too expensive"
    drawn = line_chart("What answers say", curves, alternative=words, x_label="Price", y_label="%")
    table = TableBlock(["", "Price"], rows, caption=one.ref)
    return [table, f"{one.valid} valid answers; {left_out}", *([drawn] if one.curves else [])]


def _economics(found: Launch) -> TableBlock:
    values = found.economics.model_dump(exclude_none=True, exclude={"refs", "currency"})
    units = {"margin_percent": "%", "break_even_units": None}
    rows = [
        [name.replace("_", " "), amount_text(value, units.get(name, found.economics.currency))]
        for name, value in values.items()
    ]
    return TableBlock(["", ""], rows, caption=", ".join(found.economics.refs))


def _ladder(found: Launch) -> list[Block]:
    rows = [
        [one.competitor, one.item or "", amount_text(one.price, one.unit), one.ref]
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


def _market(found: Launch) -> TableBlock:
    rows = [
        [
            one.segment, one.measure, number_text(one.value),
            "" if one.share is None else f"{one.share:.1f} %", one.ref,
        ]
        for one in found.market
    ]  # fmt: skip
    return TableBlock(["Segment", "Measure", "Value", "Share", "Source"], rows)


def _schedule(found: Launch) -> TableBlock:
    rows = [
        [
            one.task, str(one.start), str(one.end), one.owner or "no owner yet",
            "critical" if one.critical else f"{one.slack} days of slack", one.ref,
        ]
        for one in found.schedule
    ]  # fmt: skip
    note = "Working days, Monday to Friday; public holidays are not known."
    return TableBlock(["Task", "First day", "Last day", "Owner", "", "Source"], rows, caption=note)


def _copy(found: Launch) -> TableBlock:
    rows = [
        [
            one.channel, one.text, f"{len(one.text)} of {one.max_chars}",
            "a model" if one.by_model else "the facts, word for word",
            ", ".join(claim.ref for claim in one.claims),
        ]
        for one in found.copies
    ]  # fmt: skip
    return TableBlock(["Channel", "Text", "Characters", "Worded by", "Facts"], rows)
