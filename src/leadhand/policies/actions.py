"""The actions that a policy can return, each with a reason for the log."""

from dataclasses import dataclass

from leadhand.contracts.outcome import Result
from leadhand.contracts.team import Rung


@dataclass(frozen=True, slots=True)
class RetryTask:
    """The same worker tries again with the same intent, after `delay_s`."""

    delay_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class RefineTask:
    """A model rewrites the intent, and the same worker tries again."""

    reason: str


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


@dataclass(frozen=True, slots=True)
class ReassignTask:
    """The router chooses another worker, which tries."""

    reason: str


@dataclass(frozen=True, slots=True)
class SplitTask:
    """Smaller tasks replace this one."""

    reason: str


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


@dataclass(frozen=True, slots=True)
class AskPerson:
    """A person is asked, and the same worker tries again with the reply."""

    reason: str


@dataclass(frozen=True, slots=True)
class AcceptResult:
    """The partial result becomes the result, with `reason` as its flag."""

    result: Result
    reason: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The task ends without success; it becomes a gap in the answer."""

    reason: str


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
