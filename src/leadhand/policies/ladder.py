"""The failure ladder: the rungs that apply to an outcome, tried in the team's order. Pure.

Rungs that cannot apply cost nothing. The last one, giving up, always applies. `max_attempts` limits
all dispatches of a task, and of its parts after a split. Advice (a refined intent, the router's
choice, the parts, a judgement) and a breaker that sends a task elsewhere do not count.

The last attempt goes to the fallback instead of the same worker, if the fallback's rung is still
ahead and it is available.
"""

from collections.abc import Sequence

from leadhand.contracts.ladder import Rung
from leadhand.contracts.outcome import Escalated, Failed
from leadhand.contracts.team import Ladder
from leadhand.policies import rungs
from leadhand.policies.history import History, Rules, Unsuccessful, attempts_used_up, retries_left
from leadhand.policies.rungs import Action


def decide(outcome: Unsuccessful, history: History, rules: Rules, now_s: float) -> Action:
    """`now_s` is seconds into the run."""
    if history.first is not None:
        return rungs.after_second_opinion(outcome, history, history.first)
    # An escalation is an answer, not an outage: only failures use up the run's retries.
    may_retry = isinstance(outcome, Escalated) or retries_left(history, rules)
    again = may_retry and not attempts_used_up(history, rules)
    one_left = history.attempts + 1 == rules.retry.max_attempts
    order = rungs_for(outcome, rules.ladder)
    for place, rung in enumerate(order):
        if rung in history.ruled_out or not (again or rung == "accept"):
            continue
        action = rungs.POLICIES[rung](outcome, history, rules, now_s)
        same_worker = isinstance(action, rungs.SAME_WORKER)
        if same_worker and one_left and "fallback" in order[place:]:
            action = rungs.fallback(outcome, history, rules, now_s) or action
        if action is not None:
            return action
    return rungs.give_up(outcome, history, rules, retries_left=may_retry)


def rungs_before(rung: Rung, outcome: Unsuccessful, ladder: Ladder) -> frozenset[Rung]:
    """The rungs for an outcome before `rung`; empty if `rung` is not one of them."""
    order = rungs_for(outcome, ladder)
    return frozenset(order[: order.index(rung)] if rung in order else ())


def rungs_for(outcome: Unsuccessful, ladder: Ladder) -> Sequence[Rung]:
    if isinstance(outcome, Failed):
        if outcome.kind == "budget":  # a model can't be paid for
            return ("fallback",) if "fallback" in ladder.failed else ()
        return ladder.timeout if outcome.kind == "timeout" else ladder.failed
    match outcome.reason:
        case "out_of_scope":
            return ladder.out_of_scope
        case "ambiguous_input":
            return ladder.ambiguous_input
        case "low_confidence":
            return ladder.low_confidence
        case "timeout":
            return ladder.timeout
