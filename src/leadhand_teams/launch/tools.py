"""What the workers do by code, and the tools that their models may call."""

import datetime as dt
import itertools
import math
from collections.abc import Sequence
from typing import Final, cast

from pydantic import BaseModel, JsonValue

from leadhand import Handoff, Result
from leadhand_teams.launch import elasticity, schedule
from leadhand_teams.launch import survey as westendorp
from leadhand_teams.launch.material import LaunchFiles, SalesTable, material_of, planned
from leadhand_teams.launch.output import (
    ChannelText,
    Economics,
    Elasticity,
    Launch,
    MarketSegment,
    Rung,
    ScheduledTask,
    SurveyPrices,
)
from leadhand_teams.shared.statements import Statement
from leadhand_teams.shared.tables import DataColumn
from leadhand_teams.shared.values import date_text

CHANNELS: Final = {
    "search ad headline": 30, "search ad description": 90, "push message": 110,
    "email subject": 60, "social post": 280,
}  # fmt: skip
"""Limits in characters where no table of channels is handed in."""
_MOST_SEGMENTS: Final = 8


def research(handoff: Handoff) -> Result:
    """Size and segments of the market, and the competitors' prices."""
    material, found = material_of(handoff.artifacts), Launch()
    for table in material.market:
        segment = table.column("segment", "segments")
        figures = [one for one in table.columns if one is not segment and any(one.numbers)]
        for column in figures:
            values = [value or 0.0 for value in column.numbers]
            is_rate = column.unit == "%" or min(values) < 0
            for row, value in enumerate(column.numbers):
                if segment is not None and value is not None:
                    share = None if is_rate or not sum(values) else 100 * value / sum(values)
                    found.market.append(
                        MarketSegment(
                            segment=segment.texts[row], measure=column.name, value=value,
                            share=share, ref=table.ref(row),
                        )
                    )  # fmt: skip
    if (table := material.ladder) is not None:
        who = table.column("competitor", "vendor", "company")
        what, price = table.column("product", "model", "item", "plan"), table.column("price")
        for row in range(len(table)):
            value = price.numbers[row] if price else None
            if who is not None and value is not None:
                item = what.texts[row] if what is not None and what is not who else None
                rung = Rung(competitor=who.texts[row], item=item, price=value, ref=table.ref(row))
                rung.unit = price.unit if price else None
                found.ladder.append(rung)
        found.ladder.sort(key=lambda rung: rung.price)
    return _result(found)


def price(handoff: Handoff) -> Result:
    """The part of the pricing that the payload names: `elasticity`, `survey` or `economics`."""
    material, found = material_of(handoff.artifacts), Launch()
    match cast("dict[str, str]", handoff.payload)["part"]:
        case "elasticity" if material.sales is not None:
            _elasticities(material.sales, found)
        case "survey":
            _survey(material, found)
        case _:
            asked = cast("dict[str, float]", handoff.payload).get("price")
            found.economics = economics(material, asked)
    return _result(found)


def _elasticities(sales: SalesTable, found: Launch) -> None:
    pairs = zip(sales.price.numbers, sales.quantity.numbers, strict=True)
    usable = [row for row, pair in enumerate(pairs) if min(one or 0 for one in pair) > 0]
    left_out = len(sales.table) - len(usable)
    if left_out:
        found.warnings.append(
            f"{left_out} rows of {sales.table.name} have no positive price and quantity: left out."
        )
    groups: list[tuple[str | None, list[int]]] = [(None, usable)]
    if sales.segments is not None:
        texts = sales.segments.texts
        names = [name for name in dict.fromkeys(texts) if name]
        names = names if len(names) <= _MOST_SEGMENTS else []
        groups += [(name, [row for row in usable if texts[row] == name]) for name in names]
    for product, rows in groups:
        controls = [one for one in sales.controls if product is None or one is not sales.segments]
        _fits(sales, found, product, rows, controls)


def _fits(
    sales: SalesTable, found: Launch, product: str | None, rows: Sequence[int],
    controls: Sequence[DataColumn],
) -> None:  # fmt: skip
    if len(rows) < elasticity.MIN_ROWS:
        found.warnings.append(
            f"{len(rows)} rows are too few for an elasticity of {product or 'all'}."
        )
        return
    sold, price = sales.quantity.numbers, sales.price.numbers
    quantities = [cast("float", sold[row]) for row in rows]
    prices = [cast("float", price[row]) for row in rows]
    by_name = {column.name: [column.texts[row] for row in rows] for column in controls}
    fits = {
        names: fit
        for names in elasticity.control_sets(list(by_name))
        if (fit := elasticity.fit(quantities, prices, [by_name[name] for name in names]))
        is not None
    }
    for names, fit in fits.items():
        row = Elasticity(
            value=fit.value, low=fit.low, high=fit.high, rows=fit.rows, ref=sales.table.name
        )
        row.product, row.controls = product, sorted(names)
        found.elasticities.append(row)
    if confounded := elasticity.confounder(fits):
        name, bare, controlled = confounded
        whose = f" of {product}" if product else ""
        found.warnings.append(
            f"{name} is a confounder: without it the elasticity{whose} would be {bare:.2f}, "
            f"with it it is {controlled:.2f}. Do not use the one without."
        )


def _survey(material: LaunchFiles, found: Launch) -> None:
    if material.survey is None:
        return
    table, columns = material.survey
    prices = list(zip(*(one.numbers for one in columns[:4]), strict=True))
    rows = [row for row, answer in enumerate(prices) if None not in answer]
    answers = [prices[row] for row in rows]
    buying = [tuple(westendorp.likelihood(one.texts[row]) for one in columns[4:]) for row in rows]
    known = len(columns) == 6 and all(None not in pair for pair in buying)
    points = westendorp.points(
        cast("list[tuple[float, float, float, float]]", answers),
        cast("list[tuple[float, float]]", buying) if known else None,
    )
    if points is None:
        found.warnings.append(f"No answer in {table.name} has its four prices in order.")
        return
    found.survey = SurveyPrices.model_validate(
        points._asdict() | {"invalid": len(table) - points.valid, "ref": table.name}
    )
    if points.valid < 100:
        found.warnings.append(f"Only {points.valid} valid answers: the survey's prices are rough.")


def economics(material: LaunchFiles, price: float | None = None) -> Economics:
    """Margin and break-even of `price`, or of the one that was handed in."""
    figures = {name: value for name, (value, _) in material.figures.items()}
    found = Economics(refs=[ref for _, ref in material.figures.values()])
    found.price = figures.get("price") if price is None else price
    found.cost = figures.get("cost")
    found.fixed_costs = figures.get("fixed_costs")
    if found.price is not None and found.cost is not None:
        found.margin = found.price - found.cost
        found.margin_percent = 100 * found.margin / found.price if found.price else None
        if found.fixed_costs is not None and found.margin > 0:
            found.break_even_units = math.ceil(found.fixed_costs / found.margin - 1e-9)
    return found


def place(handoff: Handoff) -> Result:
    """The tasks of the launch backwards from the date that the payload has."""
    material, found = material_of(handoff.artifacts), Launch()
    payload = cast("dict[str, str]", handoff.payload)
    launch, today = (dt.date.fromisoformat(payload[name]) for name in ("launch", "today"))
    tasks = list(planned(material.tasks)) if material.tasks is not None else []
    found.launch_date = launch.isoformat()
    if circle := schedule.cycle_in(tasks):
        found.warnings.append(
            f"No schedule: these tasks wait for each other: {' → '.join(circle)}."
        )
        return _result(found)
    known = {task.name for task in tasks}
    placed = schedule.placed(tasks, launch)
    late = schedule.working_days(placed[0].start, today) if placed else 0
    if late:
        needed = schedule.working_days(placed[0].start, launch)
        found.warnings.insert(
            0,
            f"{date_text(launch)} can't be met: the critical path takes {needed} working days, and "
            f"{late} of them are past. Begun on {date_text(today)}, the launch is on "
            f"{date_text(schedule.ahead(launch, late))} at the earliest.",
        )
    for one in placed:
        row = ScheduledTask(
            task=one.task.name, start=one.start.isoformat(), end=one.end.isoformat(),
            days=one.task.days, slack=one.slack, critical=one.critical, ref=one.task.ref,
        )  # fmt: skip
        row.owner, row.depends_on = one.task.owner, list(one.task.depends_on)
        found.schedule.append(row)
        if one.task.owner is None:
            found.warnings.append(f"{one.task.name} has no owner [{one.task.ref}].")
        for name in one.task.depends_on:
            if name not in known:
                why = f"{one.task.name} waits for {name}, which is no task [{one.task.ref}]."
                found.warnings.append(why)
    return _result(found)


def write(handoff: Handoff) -> Result:
    """For each channel the facts that fit, word for word; only a model words them otherwise."""
    material, found = material_of(handoff.artifacts), Launch()
    for channel, limit in channels(material).items():
        claims: list[Statement] = []
        text = material.product
        for fact in material.facts:
            longer = f"{text}{'. ' if claims else ': ' if text else ''}{fact.text.rstrip('.')}"
            if len(longer) <= limit:
                text = longer
                claims.append(Statement(text=fact.text, ref=fact.ref, quote=fact.text))
        if claims:
            found.copies.append(
                ChannelText(channel=channel, text=text, max_chars=limit, claims=claims)
            )
        else:
            found.warnings.append(f"No fact fits into the {limit} characters of {channel}.")
    return _result(found)


def channels(material: LaunchFiles) -> dict[str, int]:
    """The channels and their limits in characters: those handed in, else the usual ones."""
    table = material.channels
    name = table.column("channel", "kanal") if table else None
    limit = table.column("max chars", "characters", "limit", "max", "zeichen") if table else None
    if name is None or limit is None:
        return dict(CHANNELS)
    rows = itertools.zip_longest(name.texts, limit.numbers)
    return {channel: int(most) for channel, most in rows if channel and most}


def _result(found: BaseModel) -> Result:
    return Result(output=cast("JsonValue", found.model_dump(mode="json", exclude_defaults=True)))


def break_even(price: float, unit_cost: float, fixed_costs: float) -> str:
    """How many units pay for the fixed costs."""
    if price <= unit_cost:
        return "Never: a unit costs as much as it earns, or more."
    return f"{math.ceil(fixed_costs / (price - unit_cost) - 1e-9):,} units"


def characters(text: str) -> int:
    """The length of a text in characters, as channels count it."""
    return len(text)


def date_before(date: str, working_days: int) -> str:
    """The date so many working days, Monday to Friday, before a date (YYYY-MM-DD)."""
    return schedule.back(dt.date.fromisoformat(date), working_days).isoformat()


def compare_prices(ours: float, theirs: list[float]) -> str:
    """Where a price stands among competitors' prices."""
    below = sum(one < ours for one in theirs)
    return f"{below} of {len(theirs)} are cheaper, {sum(one > ours for one in theirs)} dearer."
