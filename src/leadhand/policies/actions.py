"""The actions a policy can answer with, each with its reason for the log."""

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
    """The intent is put in words that avoid what went wrong, and the same worker tries again."""

    reason: str


@dataclass(frozen=True, slots=True)
class RaiseTier:
    """The same worker tries with a stronger model."""

    old_tier: str
    new_tier: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fallback:
    """Another worker tries."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReassignTask:
    """Another worker tries, whom a router has to choose first."""

    reason: str


@dataclass(frozen=True, slots=True)
class SplitTask:
    """Smaller tasks take the place of this one."""

    reason: str


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """Another worker tries too, and the better of the two results is taken."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class JudgeOpinions:
    """There are two results: one of them is taken."""

    first: Result
    second: Result
    reason: str


@dataclass(frozen=True, slots=True)
class AskPerson:
    """A person says what the worker should know, and the same worker tries again."""

    reason: str


@dataclass(frozen=True, slots=True)
class AcceptResult:
    """A partial result is taken as the result, with `reason` as its flag."""

    result: Result
    reason: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The task ends without success; it becomes a gap in the answer."""

    reason: str


NeedsAdvice = RefineTask | ReassignTask | SplitTask | AskPerson
"""What somebody has to be asked for first, who may have nothing to say."""
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
"""The rung that is passed over where nobody had anything to say."""
