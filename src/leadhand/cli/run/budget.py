"""Budgets on the command line: as typed, and compared with what a plan may cost."""

import math

from leadhand.contracts.budget import Budget
from leadhand.errors import InputError
from leadhand.trace.formatting import format_price


def budget_of(usd: float | None, tokens: int | None) -> Budget | None:
    """The budget that `--budget-usd` and `--budget-tokens` give together. Raises `InputError`."""
    if usd is None and tokens is None:
        return None
    for option, amount in (("--budget-usd", usd), ("--budget-tokens", tokens)):
        if amount is not None and not 0 < amount < math.inf:
            raise InputError(
                f"{option} is {amount:g}: give more than 0, or use --no-model to spend nothing"
            )
    return Budget(usd=usd, tokens=tokens)


def budget_note(budget: Budget | None, cost_usd: tuple[float, float] | None) -> str:
    """The budget in words, after the cost of a plan: from and to, or unknown."""
    if budget is None:
        return ""
    tokens = None if budget.tokens is None else f"{budget.tokens:,} tokens"
    usd = None if budget.usd is None else format_price(budget.usd)
    said = f"; the budget is {' and '.join(part for part in (usd, tokens) if part)}"
    if budget.usd is None or cost_usd is None:
        return said
    low, high = cost_usd
    if budget.usd < low:
        return f"{said}, which is not enough"
    return f"{said}, which may not be enough" if budget.usd < high else said
