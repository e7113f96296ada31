"""What the workers do by code, and the tools that their models may call."""

import datetime as dt
import itertools
import math
from collections.abc import Sequence
from graphlib import CycleError
from typing import Final, cast

from leadhand import Handoff, Result
from leadhand_teams.launch import elasticity, schedule
from leadhand_teams.launch import survey as westendorp
from leadhand_teams.launch.material import LaunchFiles, SalesTable, column, material_of, planned
from leadhand_teams.launch.output import (
    ChannelText,
    Economics,
    Elasticity,
    Launch,
    MarketSegment,
    Rung,
    SurveyPrices,
)
from leadhand_teams.shared.answers import drafted
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
        segment = column(table, "segment")
        names = segment.texts if segment is not None else ()
        for measure in (one for one in table.columns if one is not segment and any(one.numbers)):
            values = [value or 0.0 for value in measure.numbers]
            whole = 0.0 if measure.unit == "%" or min(values) < 0 else sum(values)
            for row, (name, value) in enumerate(zip(names, measure.numbers, strict=True)):
                if value is not None:
                    part = MarketSegment(
                        segment=name, measure=measure.name, value=value, ref=table.ref(row)
                    )
                    part.share = 100 * value / whole if whole else None
                    found.market.append(part)
    if (table := material.ladder) is not None:
        who, what, price = (column(table, name) for name in ("competitor", "item", "price"))
        for row, value in enumerate(price.numbers if price is not None else ()):
            if who is not None and price is not None and value is not None:
                rung = Rung(competitor=who.texts[row], price=value, ref=table.ref(row))
                rung.item = what.texts[row] if what is not None and what is not who else None
                rung.unit = price.unit
                found.ladder.append(rung)
        found.ladder.sort(key=lambda rung: rung.price)
    return drafted(found)


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
    return drafted(found)


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
        about = {"product": product, "controls": sorted(names), "ref": sales.table.name}
        found.elasticities.append(Elasticity.model_validate(fit._asdict() | about))
    whose = f" of {product}" if product else ""
    if fits and (most := [*fits.values()][-1]).low > 0:
        found.warnings.append(
            f"Sales{whose} rise with the price ({most.value:.2f}): something that no column has, "
            "such as season or advertising, moves both. Do not use this elasticity."
        )
    if confounded := elasticity.confounder(fits):
        name, bare, controlled = confounded
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
    """Margin and break-even of `price`, or of the first that was handed in, in its currency."""
    figures = {name: stated[0] for name, stated in material.figures.items()}
    # In reverse order, because the price's comes first.
    currencies = [one.currency for _, one in sorted(figures.items(), reverse=True)]
    currency = next(filter(None, currencies), None)
    figures = {name: one for name, one in figures.items() if one.currency in (None, currency)}
    found = Economics.model_validate({name: one.value for name, one in figures.items()})
    found.price, found.currency = found.price if price is None else price, currency
    found.refs = [one.ref for one in figures.values()]
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
    found.launch_date = launch
    try:
        found.schedule = schedule.placed(tasks, launch)
    except CycleError as error:
        circle = " → ".join(map(str, error.args[1]))
        found.warnings.append(f"No schedule: these tasks wait for each other: {circle}.")
        return drafted(found)
    if found.schedule and found.schedule[0].start < today:
        needed = schedule.working_days(found.schedule[0].start, launch)
        left = schedule.working_days(today, launch)
        found.warnings.append(
            f"{date_text(launch)} can't be met: the critical path takes {needed} working days, and "
            f"{left} are left. Begun on {date_text(today)}, the launch is on "
            f"{date_text(schedule.launch_after(today, needed))} at the earliest."
        )
    known = {task.name for task in tasks}
    for one in tasks:
        unknown = [name for name in one.depends_on if name not in known]
        missing = [f"waits for {name}, which is no task" for name in unknown]
        missing += [] if one.is_estimated else ["has no duration: counted as no days"]
        missing += [] if one.owner else ["has no owner"]
        found.warnings += [f"{one.name} {why} [{one.ref}]." for why in missing]
    return drafted(found)


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
                claims.append(fact)
        made = ChannelText(channel=channel, text=text, max_chars=limit, claims=claims)
        found.copies += [made] if claims else []
        if not claims:
            found.warnings.append(f"No fact fits into the {limit} characters of {channel}.")
    return drafted(found)


def channels(material: LaunchFiles) -> dict[str, int]:
    """The channels and their limits in characters: those handed in, else the usual ones."""
    table = material.channels
    name, limit = (column(table, one) if table else None for one in ("channel", "limit"))
    if name is None or limit is None:
        return dict(CHANNELS)
    rows = itertools.zip_longest(name.texts, limit.numbers)
    return {channel: int(most) for channel, most in rows if channel and most}


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
