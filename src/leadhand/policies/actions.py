"""The actions a policy can answer with, each with its reason for the log."""

from dataclasses import dataclass

from leadhand.contracts.outcome import Result


@dataclass(frozen=True, slots=True)
class Retry:
    """The same worker tries again after `delay_s`."""

    delay_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class Reassign:
    """Another worker tries."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class Accept:
    """A partial result is taken as the result, with `reason` as its flag."""

    result: Result
    reason: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The task ends without success; it becomes a gap in the answer."""

    reason: str


Action = Retry | Reassign | Accept | GiveUp
