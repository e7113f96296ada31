"""The supervisor's answer: the results cross-checked and put together. No worker writes it."""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from leadhand import Plan
from leadhand.contracts.answer import Gap, Source
from leadhand.extension.roles import Conflict, Synthesis, TaskResult
from leadhand_teams.portfolio.output import Rebalanced
from leadhand_teams.portfolio.report import report_of
from leadhand_teams.portfolio.work import part_of
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.statements import Added, check
from leadhand_teams.shared.values import unused


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    outputs = {one.task.id: one.result.output for one in results if one.result is not None}
    every = {id: part_of(output) for id, output in outputs.items()}
    parts = {id: one for id, one in every.items() if one.policy}
    others = [one for one in every.values() if not one.policy]
    conflicts = [
        Conflict(task_ids=("market",), kind="contradiction", about=about, resolution=taken)
        for one in others
        for about, _, taken in (line.rpartition(": ") for line in one.conflicts)
    ]
    found = next(iter(parts.values()), Rebalanced())
    if len(parts) > 1 and _differ(parts):
        about = "; ".join(f"{one.policy}: {_orders(one)}" for one in parts.values())
        why = "the policies ask for different orders: say which counts"
        conflicts.append(
            Conflict(task_ids=tuple(parts), kind="contradiction", about=about, why=why)
        )
        found = Rebalanced(
            policy=", ".join(one.policy for one in parts.values()), value=found.value
        )
    update = {name: getattr(one, name) for one in others for name in one.model_fields_set}
    update["note"] = "\n\n".join(filter(None, (one.note for one in others)))
    update["statements"], left_out = _added(outputs)
    found = found.model_copy(update=update)
    gaps = [Gap(task_id=id, why=why) for id, one in parts.items() if (why := _sum_is_wrong(one))]
    gaps += [
        Gap(task_id=id, why=f"not kept: {rule.name}: {rule.why}")
        for id, one in parts.items()
        for rule in one.constraints
        if not rule.met
    ]
    missing = [f"{one.task.id}: {one.why}" for one in results if one.result is None and one.why]
    missing += left_out
    report = report_of(found, title=plan.goal, conflicts=conflicts, missing=missing)
    text = report.markdown(title=False)
    first = results[0].task.id if results else "plan"
    left = unused(plan.goal, text)
    gaps += [Gap(task_id=first, why=f"{one} in the request was not used") for one in left]
    return Synthesis(
        answer=text,
        output=found.model_dump(mode="json"),
        conflicts=tuple(conflicts),
        sources=tuple(Source(task_id=id, ref=one.policy) for id, one in parts.items()),
        gaps=tuple(gaps),
    )


def _orders(part: Rebalanced) -> str:
    shown = [f"{one.side} {one.shares} {one.asset}" for one in part.orders[:4]]
    return ", ".join(shown) + (", ..." if len(part.orders) > 4 else "") or "no orders"


def _differ(parts: dict[str, Rebalanced]) -> bool:
    first, *others = (_orders(one) for one in parts.values())
    return any(other != first for other in others)


def _sum_is_wrong(part: Rebalanced) -> str | None:
    """Why orders, weights, cash and fees don't add up to the value before; None if they do."""
    if part.cash is None or part.value is None:
        return None
    whole = part.value - sum(one.fee for one in part.orders)
    shares = sum(one.after or 0.0 for one in part.weights) * whole
    if abs(shares + part.cash - whole) <= 1e-6 * max(whole, 1.0):
        return None
    return f"shares of {shares:,.2f} and cash of {part.cash:,.2f} are not the value {whole:,.2f}"


def _added(outputs: dict[str, JsonValue]) -> tuple[list[str], list[str]]:
    """What models added and whose words stand in a result of code, and what was left out."""
    texts = [
        Text(id, json.dumps({key: one for key, one in output.items() if key != "added"}, indent=1))
        for id, output in outputs.items()
        if isinstance(output, dict)
    ]
    kept: list[str] = []
    left_out: list[str] = []
    for id, output in outputs.items():
        if isinstance(output, dict) and output.get("added"):
            checked = check(Added.model_validate(output["added"]).statements, texts)
            kept += [f"{one.text} ({one.ref})" for one in checked.kept]
            left_out += [f"{id}: {checked.note}"] if checked.note else []
    return kept, left_out
