"""The rungs of the failure ladder: an action each, and the function that returns it.

The function gets the outcome of the last attempt, the task's history, the team's rules, and the
time in seconds into the run. It returns the rung's action, or `None` if the rung cannot apply.

A new rung stands in four files of `src/leadhand`:

- `contracts/ladder.py`: its name in `Rung`, and its place in `Ladder` if teams have it by default
- `policies/rungs.py`: its action, its function, and its entry in `POLICIES`; in `SAME_WORKER` if
  the same worker tries again
- `engine/recovery.py`: what the action does, in `_do`; in `_NOT_ALLOWED` unless an approved plan
  allows it; in `_REPEATS` if a nested team would only do again what it gave up
- `contracts/events/task.py`: its event if it has its own, with the words for views and what it
  changes about the task

Then `make reference` writes the schemas of team files anew, and the rung gets a row in
`docs/failures.md`. `tests/engine/test_rung_names.py` holds this list and those that follow.

If it needs advice from a model or a person: its action in `NeedsAdvice` and `RUNG_OF`, a case in
`Recovery._advised`, a prompt with its digest in `models/prompts.py`, and

- `engine/advisers.py`: its advice, and how it is asked for
- `ports.py`: a method of `Remedies`
- `planners/remedies.py`: the method that asks a model
- `planners/routing.py`: the method of a team with a router

If it needs no further attempt, as `accept`: the condition in `decide` of `policies/ladder.py`.

If a task has it only once:

- `state/run_state.py`: whether the task had it
- `state/fold.py`: which event sets that
- `policies/history.py`: the same for its function

If the history of a run shows more of its event than the words:

- `trace/steps.py`: what it shows
"""

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

from leadhand.contracts.ladder import JITTER_SHARE, Rung
from leadhand.contracts.outcome import Failed, Result
from leadhand.policies.history import (
    History,
    Rules,
    Unsuccessful,
    attempts_used_up,
    ending,
    is_available,
)

BEFORE_REFINING = 1
"""Retries after an exception before the intent is refined, if a model can refine it."""
MAX_SPLIT_DEPTH = 2
"""Parts may be split once more, their parts not."""
MAX_PARTS = 8


@dataclass(frozen=True, slots=True)
class Reasoned:
    reason: str


@dataclass(frozen=True, slots=True)
class RetryTask:
    """The same worker tries again with the same intent, after `delay_s`."""

    delay_s: float
    reason: str


class RefineTask(Reasoned):
    """A model rewrites the intent, and the same worker tries again."""


@dataclass(frozen=True, slots=True)
class RaiseTier:
    """The same worker tries with a stronger model."""

    old_tier: str
    new_tier: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fallback:
    """The worker's fallback tries."""

    worker: str
    reason: str


class ReassignTask(Reasoned):
    """The router chooses another worker, which tries."""


class SplitTask(Reasoned):
    """Smaller tasks replace this one."""


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """Another worker tries too, and the better of the two results is used."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class JudgeOpinions:
    """The judge picks one of two results."""

    first: Result
    second: Result
    reason: str


class AskPerson(Reasoned):
    """A person is asked, and the same worker tries again with the reply."""


@dataclass(frozen=True, slots=True)
class AcceptResult:
    """The partial result becomes the result, with `reason` as its flag."""

    result: Result
    reason: str


class GiveUp(Reasoned):
    """The task ends without success; it becomes a gap in the answer."""


NeedsAdvice = RefineTask | ReassignTask | SplitTask | AskPerson
"""Actions that need advice from a model or a person first; they may have none."""
Action = (
    RetryTask
    | RaiseTier
    | Fallback
    | SecondOpinion
    | JudgeOpinions
    | AcceptResult
    | GiveUp
    | NeedsAdvice
)

RUNG_OF: dict[type[NeedsAdvice], Rung] = {
    RefineTask: "refine",
    ReassignTask: "reassign",
    SplitTask: "split",
    AskPerson: "ask_person",
}
"""The rung that returns each of these actions, to be ruled out if there is no advice."""
SAME_WORKER = (RetryTask, RefineTask, RaiseTier)
"""Actions after which the same worker gets the task again."""


def retry(outcome: Unsuccessful, history: History, rules: Rules, now_s: float) -> RetryTask | None:
    """Retry transient failures while attempts are left, and a timeout once."""
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
    delay_s = round(wait_s * (1 + JITTER_SHARE * (2 * history.jitter - 1)), 3)
    return RetryTask(
        delay_s, f"{outcome.kind} may be transient: attempt {history.attempts + 1} follows"
    )


def _retry_timeout(history: History, now_s: float) -> RetryTask | None:
    """Retry once, without a wait, if the run has time for the whole attempt."""
    if history.timeouts:
        return None
    if history.work_ends_s is not None and (
        history.timeout_s is None  # it had all of the run's time
        or now_s + history.timeout_s > history.work_ends_s
    ):
        return None
    return RetryTask(0.0, f"it took too long: attempt {history.attempts + 1} follows")


def jitter(attempt: str) -> float:
    """A number from 0 to 1 that is the same at every replay; `attempt` is unique over all runs."""
    return crc32(attempt.encode()) / 2**32


def refine(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> RefineTask | None:
    """Have the intent rewritten, once per task, if models both write and read it."""
    if not is_refinable(outcome, history, rules):
        return None
    return RefineTask(f"{_end(outcome, history)}: its intent is to be refined")


def is_refinable(outcome: Unsuccessful, history: History, rules: Rules) -> bool:
    """Whether another intent could help, and a model can write one.

    It can't help against an outage (transient, but not an exception of the worker), nor if a person
    has to allow a tool call.
    """
    if not rules.remedies or history.worker not in rules.by_model or history.refined:
        return False
    if "refine" in history.ruled_out:
        return False
    if isinstance(outcome, Failed):
        return not outcome.transient or outcome.raised is not None
    return outcome.call is None and outcome.paused is None


def raise_tier(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> RaiseTier | None:
    """Let the same worker try with a stronger model, if the team has one."""
    tier = history.tier or "standard"
    above = rules.stronger.get((history.worker, tier))
    if above is None:
        return None
    return RaiseTier(tier, above, f"{_end(outcome, history)} on tier {tier}")


def fallback(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> Fallback | None:
    """Once the budget is used up, only a function, which costs nothing, can be the fallback."""
    other = rules.fallbacks.get(history.worker)
    if other is None or not is_available(other, history):
        return None
    if isinstance(outcome, Failed) and outcome.kind == "budget" and other in rules.by_model:
        return None
    return Fallback(other, f"{_end(outcome, history)}; {other} is its fallback")


def reassign(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> ReassignTask | None:
    """Have a router choose another worker, if one is available."""
    if not rules.remedies or not candidates(history, rules):
        return None
    return ReassignTask(f"{_end(outcome, history)}: the router is to choose another worker")


def candidates(history: History, rules: Rules) -> tuple[str, ...]:
    return tuple(name for name in rules.workers if is_available(name, history))


def split(outcome: Unsuccessful, history: History, rules: Rules, now_s: float) -> SplitTask | None:
    """Have a model split the task; parts of parts are not split."""
    if not rules.remedies or history.worker not in rules.by_model:
        return None
    if history.splits >= MAX_SPLIT_DEPTH:
        return None
    return SplitTask(f"{_end(outcome, history)}: it is to be split")


def second_opinion(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> SecondOpinion | None:
    """Let the worker's fallback try too, if it is available."""
    other = rules.fallbacks.get(history.worker)
    if other is None or not is_available(other, history):
        return None
    return SecondOpinion(other, f"{_end(outcome, history)}; {other} tries too")


def after_second_opinion(
    outcome: Unsuccessful, history: History, first: Result
) -> JudgeOpinions | AcceptResult:
    """The action after a second opinion on `first` that did not complete."""
    if outcome.partial is not None:
        return JudgeOpinions(first, outcome.partial, f"{history.worker} gave a second opinion")
    reason = f"accepted at low confidence: {_end(outcome, history)} as a second opinion"
    return AcceptResult(first, reason)


def more_confident(first: Result, second: Result, *, doubted: bool) -> tuple[bool, str]:
    """Whether the second result wins without a judge, and why.

    `doubted`: the second worker was unsure too. If a confidence is missing, a worker without doubts
    wins, else the first.
    """
    if first.confidence is None or second.confidence is None:
        if doubted:
            return False, "the first of two doubtful results"
        return True, "its worker has no doubts"
    takes = second.confidence > first.confidence or (
        second.confidence == first.confidence and not doubted
    )
    if first.confidence == second.confidence:
        why = "the second worker has no doubts" if takes else "the first result counts"
        return takes, f"both have the same confidence, {first.confidence} of 100: {why}"
    higher, lower = (second, first) if takes else (first, second)
    return takes, f"its confidence is higher: {higher.confidence} against {lower.confidence} of 100"


def ask_person(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> AskPerson | None:
    if not rules.person:
        return None
    return AskPerson(f"{_end(outcome, history)}: a person is to be asked")


def accept(
    outcome: Unsuccessful, history: History, rules: Rules, now_s: float
) -> AcceptResult | None:
    """Accept the partial result, if there is one, with a flag that says why it is doubtful."""
    if outcome.partial is None:
        return None
    return AcceptResult(outcome.partial, f"accepted at low confidence: {outcome.message}")


def give_up(outcome: Unsuccessful, history: History, rules: Rules, *, retries_left: bool) -> GiveUp:
    """Give up: the last rung, which always applies. `retries_left`: of the run, not the task."""
    if attempts_used_up(history, rules) and history.attempts > 1:
        return GiveUp(f"given up after {history.attempts} attempts")
    if not retries_left:
        return GiveUp(f"given up: the run has used all its {history.repeated} retries")
    return GiveUp(f"given up: no rung of the ladder helps against {ending(outcome)}")


def _end(outcome: Unsuccessful, history: History) -> str:
    return f"{history.worker} ended with {ending(outcome)}"


Policy = Callable[[Unsuccessful, History, Rules, float], Action | None]

POLICIES: dict[Rung, Policy] = {
    "retry": retry,
    "refine": refine,
    "fallback": fallback,
    "raise_tier": raise_tier,
    "reassign": reassign,
    "split": split,
    "second_opinion": second_opinion,
    "ask_person": ask_person,
    "accept": accept,
}
