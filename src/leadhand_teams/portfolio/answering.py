"""The supervisor's answer: the results cross-checked and put together. No worker writes it."""

import json
from collections.abc import Sequence

from leadhand import Plan
from leadhand.contracts.answer import Gap, Source
from leadhand.extension.roles import Conflict, Synthesis, TaskResult
from leadhand_teams.portfolio.output import Rebalanced
from leadhand_teams.portfolio.report import part_of, report_of
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.statements import Added, check
from leadhand_teams.shared.values import unused


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    outputs = [one.result.output for one in results if one.result is not None]
    found = part_of(outputs)
    places = {one.ref: json.dumps(one.model_dump(mode="json")) for one in found.assets}
    if found.policy:
        computed = found.model_dump(mode="json", include={"constraints", "measures", "scenarios"})
        places[found.policy] = json.dumps(computed)
    texts = [Text(ref, text, id=ref) for ref, text in places.items()]
    added = [
        statement
        for output in outputs
        if isinstance(output, dict) and output.get("added")
        for statement in Added.model_validate(output["added"]).statements
    ]
    checked = check(added, texts)
    found.statements = [f"{one.text} ({one.ref})" for one in checked.kept]
    gaps = [f"not kept: {rule.name}: {rule.why}" for rule in found.broken]
    gaps += filter(None, [_sum_is_wrong(found)])
    missing = [f"{one.task.id}: {one.why}" for one in results if one.result is None and one.why]
    missing += filter(None, [checked.note])
    report = report_of(found, title=plan.goal, missing=missing)
    text = report.markdown(title=False)
    gaps += [
        f"{one} in the request was not used: amounts and shocks count if they stand in policy.yaml"
        for one in unused(plan.goal, text)
    ]
    first = results[0].task.id if results else "plan"
    return Synthesis(
        answer=text,
        output=found.model_dump(mode="json"),
        conflicts=tuple(
            Conflict(task_ids=(first,), kind="contradiction", about=about, resolution=taken)
            for about, _, taken in (line.rpartition(": ") for line in found.conflicts)
        ),
        sources=tuple(Source(task_id=first, ref=ref) for ref in places),
        gaps=tuple(Gap(task_id=first, why=why) for why in gaps),
    )


def _sum_is_wrong(part: Rebalanced) -> str | None:
    """Why orders, weights, cash and fees don't add up to the value before; None if they do."""
    whole = part.value - sum(one.fee for one in part.orders)
    shares = sum(one.after for one in part.weights) * whole
    if part.cash is None or abs(shares + part.cash - whole) <= 1e-6 * max(whole, 1.0):
        return None
    return f"shares of {shares:,.2f} and cash of {part.cash:,.2f} are not the value {whole:,.2f}"
