"""The rungs of the failure ladder, one function each: what follows an outcome, or `None` to pass.

Each sees the outcome, the task's history, the team's rules and the time in seconds into the run.
To add a rung: its action in `actions`, its function here, its name in `contracts.team.Rung` and in
`ladder`, and what carries it out in `engine.recovery`.
"""

from zlib import crc32

from leadhand.contracts.outcome import Completed, Failed, Outcome, Result
from leadhand.policies.actions import (
    AcceptResult,
    AskPerson,
    Fallback,
    GiveUp,
    JudgeOpinions,
    RaiseTier,
    ReassignTask,
    RefineTask,
    RetryTask,
    SecondOpinion,
    SplitTask,
)
from leadhand.policies.history import (
    History,
    Rules,
    Unsuccessful,
    attempts_used_up,
    ending,
    is_available,
)

JITTER = 0.2
"""How much shorter or longer than its rule says a wait may be: tasks that failed together do not
all return together."""
BEFORE_REFINING = 1
"""Retries after an exception, before the intent is refined if a model can do that."""
MAX_DEPTH = 2
"""A part may be split again, its parts not."""
MAX_PARTS = 8


def retry(outcome: Unsuccessful, history: History, rules: Rules, now_s: float) -> RetryTask | None:
    """The same again after a wait: for transient failures while attempts are left, for a timeout
    once."""
    own = rules.retries.get(history.worker)
    if not isinstance(outcome, Failed) or own is False:
        return None
    if own is not None and own.attempts is not None and history.by_worker >= own.attempts:
        return None
    if outcome.kind == "timeout":
        return _retry_timeout(history, now_s)
    if not outcome.transient:
        return None
    if history.by_worker > BEFORE_REFINING and is_refinable(outcome, history, rules):
        return None
    waits = rules.retry.backoff_s or (0.0,)
    wait_s = waits[min(history.attempts, len(waits)) - 1]
    delay_s = round(wait_s * (1 + JITTER * (2 * history.jitter - 1)), 3)
    return RetryTask(delay_s, f"{outcome.kind} may pass: attempt {history.attempts + 1} follows")


def _retry_timeout(history: History, now_s: float) -> RetryTask | None:
    """At once, as the attempt itself was a wait; not if the run would end the next one early."""
    if history.timeouts:
        return None
    if history.until_s is not None and now_s + (history.timeout_s or 0.0) > history.until_s:
        return None
    return RetryTask(0.0, f"it took too long: attempt {history.attempts + 1} follows")


def jitter(attempt: str) -> float:
    """Where in its range the wait after an attempt lies, 0 to 1: random, and the same at every
    replay. `attempt` names it among those of all runs."""
    return crc32(attempt.encode()) / 2**32


def refine(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> RefineTask | None:
    """The supervisor rewrites the intent, once a task, if models both write and read it."""
    if not is_refinable(outcome, history, rules):
        return None
    return RefineTask(f"{history.worker} ended with {ending(outcome)}: its intent is refined")


def is_refinable(outcome: Unsuccessful, history: History, rules: Rules) -> bool:
    """Whether another intent could help against an outcome, and a model can write one.

    It can't against an outage, which is transient without an exception of the worker's, nor where
    a person has to allow a tool call.
    """
    if not rules.remedies or history.worker not in rules.by_model or history.refined:
        return False
    if "refine" in history.ruled_out:
        return False
    if isinstance(outcome, Failed):
        return not outcome.transient or outcome.raised is not None
    return outcome.call is None


def raise_tier(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> RaiseTier | None:
    """The same worker with a stronger model, if the team has one."""
    tier = history.tier or "standard"
    above = rules.stronger.get((history.worker, tier))
    if above is None:
        return None
    return RaiseTier(tier, above, f"{history.worker} ended with {ending(outcome)} on tier {tier}")


def fallback(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> Fallback | None:
    """The worker's fallback takes over, if it has not tried and its breaker is not open.

    Once the budget is used up, only a function can take over: it costs nothing.
    """
    other = rules.fallbacks.get(history.worker)
    if other is None or not is_available(other, history):
        return None
    if isinstance(outcome, Failed) and outcome.kind == "budget" and other in rules.by_model:
        return None
    return Fallback(
        other, f"{history.worker} ended with {ending(outcome)}; {other} is its fallback"
    )


def reassign(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> ReassignTask | None:
    """A router names another worker, if there is a router and a worker that has not tried."""
    if not rules.remedies or not candidates(history, rules):
        return None
    return ReassignTask(
        f"{history.worker} ended with {ending(outcome)}: another worker is looked for"
    )


def candidates(history: History, rules: Rules) -> tuple[str, ...]:
    """The workers that a task may be given to next."""
    return tuple(name for name in rules.workers if is_available(name, history))


def split(outcome: Unsuccessful, history: History, rules: Rules, now_s: float) -> SplitTask | None:
    """Smaller tasks take the place of this one, if a model can find them; parts of parts stay."""
    if not rules.remedies or history.worker not in rules.by_model:
        return None
    if history.splits >= MAX_DEPTH:
        return None
    return SplitTask(f"{history.worker} ended with {ending(outcome)}: smaller tasks are looked for")


def second_opinion(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> SecondOpinion | None:
    """The worker's fallback tries too, if it has not tried and its breaker is not open."""
    other = rules.fallbacks.get(history.worker)
    if other is None or not is_available(other, history):
        return None
    return SecondOpinion(other, f"{history.worker} ended with {ending(outcome)}; {other} tries too")


def after_second_opinion(
    outcome: Outcome, history: History, first: Result
) -> JudgeOpinions | AcceptResult:
    """What follows once the second opinion on `first` has ended."""
    second = outcome.result if isinstance(outcome, Completed) else outcome.partial
    if second is not None:
        return JudgeOpinions(first, second, f"{history.worker} gave a second opinion")
    ended = "" if isinstance(outcome, Completed) else ending(outcome)
    return AcceptResult(
        first,
        f"accepted at low confidence: {history.worker} ended with {ended} as a second opinion",
    )


def more_confident(first: Result, second: Result, *, doubted: bool) -> tuple[bool, str]:
    """Whether the second result is taken if no model can judge, and why: the higher confidence.

    `doubted`: the second worker was unsure as well. If a worker gives no confidence, the one that
    was not unsure wins, and the first of equals.
    """
    if first.confidence is None or second.confidence is None:
        if doubted:
            return False, "the first of two doubtful results"
        return True, "its worker has no doubts"
    takes = second.confidence > first.confidence or (
        second.confidence == first.confidence and not doubted
    )
    one, other = (second, first) if takes else (first, second)
    return takes, f"its worker is surer: {one.confidence} of 100, the other {other.confidence}"


def ask_person(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> AskPerson | None:
    """A person is asked, if the run has one."""
    if not rules.person:
        return None
    return AskPerson(f"{history.worker} ended with {ending(outcome)}: a person is asked")


def accept(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> AcceptResult | None:
    """The partial result, if there is one, with a flag that says why it is doubtful."""
    if outcome.partial is None:
        return None
    return AcceptResult(outcome.partial, f"accepted at low confidence: {outcome.message}")


def give_up(outcome: Unsuccessful, history: History, rules: Rules, *, budget: bool) -> GiveUp:
    """The last rung, which always applies. `budget`: whether the run had retries left."""
    if attempts_used_up(history, rules) and history.attempts > 1:
        return GiveUp(f"given up after {history.attempts} attempts")
    if not budget:
        return GiveUp(f"given up: the run has tried {history.repeated} times again, as it may")
    return GiveUp(f"given up: no rung of the ladder helps against {ending(outcome)}")
