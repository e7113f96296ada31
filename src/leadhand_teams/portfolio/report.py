"""The supervisor's answer: results cross-checked, put together and shown. No worker writes it."""

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from leadhand import Answer, Plan
from leadhand.contracts.answer import Gap, Source
from leadhand.extension.roles import Conflict, Synthesis, TaskResult
from leadhand.tools.text import counted, joined_names
from leadhand_teams.portfolio.inputs import VOCABULARY
from leadhand_teams.portfolio.output import Rebalanced
from leadhand_teams.shared.figures import Drawing, Series, bars, line_chart
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.report import Block, Items, Report, Section, csv_text, saved, table_of
from leadhand_teams.shared.statements import Added, check
from leadhand_teams.shared.values import unused


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    outputs = [one.result.output for one in results if one.result is not None]
    found = part_of(outputs)
    places = {str(one.ref): one.model_dump(mode="json") for one in found.assets}
    if found.policy:
        computed = {"constraints", "measures", "scenarios"}
        places[found.policy] = found.model_dump(mode="json", include=computed)
    added = [one["added"] for one in outputs if isinstance(one, dict) and one.get("added")]
    said = [one for part in added for one in Added.model_validate(part).statements]
    checked = check(said, [Text(ref, json.dumps(one), id=ref) for ref, one in places.items()])
    found.statements = [f"{one.text} ({one.ref})" for one in checked.kept]
    missing = [f"{one.task.id}: {one.why}" for one in results if one.result is None and one.why]
    missing += filter(None, [checked.note])
    text = report_of(found, plan.goal, missing).markdown(title=False)
    gaps = [f"not kept: {rule.name}: {rule.why}" for rule in found.broken]
    gaps += [
        f"{one} in the request was not used: amounts and shocks count if they stand in policy.yaml"
        for one in unused(plan.goal, text)
    ]
    first = results[0].task.id if results else "plan"
    disagreements = [line.rpartition(": ") for line in found.conflicts]
    return Synthesis(
        answer=text,
        output=found.model_dump(mode="json"),
        conflicts=tuple(
            Conflict(task_ids=(first,), kind="contradiction", about=about, resolution=taken)
            for about, _, taken in disagreements
        ),
        sources=tuple(Source(task_id=first, ref=ref) for ref in places),
        gaps=tuple(Gap(task_id=first, why=why) for why in gaps),
    )


def part_of(outputs: Iterable[JsonValue]) -> Rebalanced:
    """What workers found, without what their models added: each fills fields of its own."""
    fields = [output for output in outputs if isinstance(output, dict)]
    return Rebalanced.model_validate({name: one[name] for one in fields for name in one})


def report_of(found: Rebalanced, title: str, missing: Sequence[str], saved: str = "") -> Report:
    """The report: decision, orders, weights, risk, rules, and what is doubtful."""

    def table(rows: str, name: str = "") -> Block:
        columns, caption = VOCABULARY["tables"][name or rows]
        percent = VOCABULARY["percent"]
        return table_of(getattr(found, rows), *columns, percent=percent, caption=caption)

    traded = VOCABULARY["traded"]
    disagreements = [f"Sources disagree: {line}" for line in found.conflicts]
    blocks: dict[str, Sequence[Block]] = {
        "Orders": [traded.format(**sums(found)), table("orders")] if found.orders else [],
        "Weights": [*_bars(found), table("parts")],
        "Risk": [table("portfolios"), *_falls(found), table("scenarios")],
        "Rules of the policy": [table("constraints")],
        "Note": [Items(found.note)],
        "Added by a model, citations checked": [Items(found.statements)],
        "Prices": [table("assets"), table("assets", "places")],
    }
    return Report(
        title,
        lead(found),
        [Section(name, shown) for name, shown in blocks.items()],
        missing=[*missing, *disagreements, *found.issues],
        missing_first=bool(missing or disagreements),
        footer=[VOCABULARY["check"], *filter(None, [saved])],
    )


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """Report, orders and figures as files."""
    found = Rebalanced.model_validate(answer.output or {})
    gaps = [gap.why for gap in answer.gaps]
    report = report_of(found, answer.request, gaps, saved(answer))
    columns = [*VOCABULARY["tables"]["orders"][0], "ref"]
    cents = [one.model_copy(update={"fee": round(one.fee, 2)}) for one in found.orders]
    orders = csv_text(columns, [[getattr(one, name) for name in columns] for one in cents])
    drawings = {"weights.svg": _bars(found), "drawdown.svg": _falls(found)}
    figures = {name: one.file for name, drawn in drawings.items() for one in drawn}
    return {**report.files, "orders.csv": orders, **figures}


def lead(found: Rebalanced) -> list[str]:
    """The decision, then what it changes."""
    ends = [found.measures[name].model_dump() for name in ("before", "after")]
    if not found.policy:
        before = ends[0]["volatility"]
        shown = f" Yearly volatility of what is held: {before:.1%}." if before else ""
        return [f"What the prices show.{shown}"]
    broken = ", ".join(rule.name for rule in found.broken)
    orders = [f"{one.side} {one.shares:,} {one.asset}" for one in found.orders]
    first = f"No order is needed: the holdings keep every rule of {found.policy}."
    if orders:
        first = f"{counted(len(orders), 'order')} by {found.policy}: {joined_names(orders, 5)}."
    elif broken:
        first = "No orders: the policy cannot be met with these prices and holdings."
    known = not any(None in (one["volatility"], one["sharpe"]) for one in ends)
    change = [VOCABULARY["changes"].format(*ends)] if known else []
    change += [f"{found.cash:,.2f} stays in cash."] if found.cash is not None else []
    change.append(f"Not kept: {broken}." if broken else "Every rule is kept.")
    return [first, " ".join(change)]


def sums(found: Rebalanced) -> dict[str, object]:
    """What the orders come to, as the words of reports name it."""
    sides = [(one.side, one.value) for one in found.orders]
    sold, bought = (sum(value for side, value in sides if side == one) for one in ("sell", "buy"))
    fees, tax = sum(one.fee for one in found.orders), sum(one.tax or 0.0 for one in found.orders)
    taxed = f"estimated tax {tax:,.2f}, not taken from the cash" if tax else "no tax estimated"
    return {"value": found.value, "sold": sold, "bought": bought, "fees": fees, "tax": taxed}


def _bars(found: Rebalanced) -> list[Drawing]:
    largest = sorted(found.weights, key=lambda one: -max(one.before, one.after))[:15]
    rows = [
        (label, 100 * weight)
        for one in largest
        for label, weight in ((f"{one.asset} before", one.before), ("", one.after))
    ]
    title, told = "Weights before and after", "The largest weights of the table."
    return [bars(title, rows, alternative=told, unit="%")] if rows else []


def _falls(found: Rebalanced) -> list[Drawing]:
    series: list[Series] = []
    for name in ("before", "after"):
        known = [one for one in found.falls if getattr(one, name) is not None]
        points = [(dt.date.fromisoformat(one.name), -100 * getattr(one, name)) for one in known]
        series += [Series(name, points)] if points else []
    title, told = "Below the highest value so far", "The deepest falls are in the table."
    return [line_chart(title, series, alternative=told, y_label="%")] if series else []
