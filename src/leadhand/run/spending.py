"""What a run may spend."""

from leadhand.contracts import events
from leadhand.contracts.budget import Budget
from leadhand.engine.recorder import Recorder
from leadhand.models.ledger import Account, Amount, Ledger, nano_usd


def account_of(budget: Budget | None, recorder: Recorder) -> Account | None:
    """What a run may still spend, after what it spent before it was resumed; `None`: no limit."""
    if budget is None:
        return None
    calls = [event for event in recorder.past if isinstance(event, events.ModelCalled)]
    spent = Amount(
        len(calls),
        sum(call.input_tokens + call.output_tokens for call in calls),
        sum(nano_usd(call.cost_usd or 0.0) for call in calls),
    )
    return Account(Ledger(budget, spent=spent))
