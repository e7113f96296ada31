"""What a decision rests on: what was tried for a task, and the team's rules."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from leadhand.contracts.outcome import Escalated, Failed, Result
from leadhand.contracts.retry import Retry
from leadhand.contracts.team import TIERS, Ladder, RetryRules, Rung, Team, Tier, uses_model

FREE_RETRIES = 10
"""Attempts after a failure that a run may have whatever its size."""

Unsuccessful = Escalated | Failed


@dataclass(frozen=True, slots=True)
class History:
    """What was tried for a task so far, and how the run stands."""

    worker: str
    """Who made the attempt that is being decided on."""
    attempts: int
    """Attempts made, this one included, and those at the tasks that this one is a part of."""
    tried: tuple[str, ...]
    """The worker of each attempt, in order."""
    timeouts: int = 0
    """Attempts before this one that took too long."""
    timeout_s: float | None = None
    """How long an attempt may take; None: as long as the run."""
    until_s: float | None = None
    """Seconds into the run at which its work has to stop; None: there is no deadline."""
    jitter: float = 0.5
    """Where within its range a wait lies, from 0 to 1; the same for the same attempt."""
    tier: str | None = None
    """The tier of model of the last attempt."""
    refined: bool = False
    """Whether the intent was put in other words before."""
    splits: int = 0
    """How many splits led to this task."""
    first: Result | None = None
    """The result that the attempt was to be a second opinion on."""
    ruled_out: frozenset[Rung] = frozenset()
    """Rungs that were tried for this very outcome, and nobody had anything to say."""
    dispatched: int = 1
    """Tasks that the run has started."""
    repeated: int = 0
    """Attempts of the run that failed and that others followed."""
    resting: Collection[str] = ()
    """The workers that get no task now, as their breakers are open."""

    @property
    def by_worker(self) -> int:
        """Attempts in a row that the last worker made, this one included."""
        own = takewhile(lambda name: name == self.worker, reversed(self.tried))
        return sum(1 for _ in own)


@dataclass(frozen=True, slots=True)
class Rules:
    """The team's rules, as far as a decision needs them."""

    retry: RetryRules = field(default_factory=RetryRules)
    retries: Mapping[str, Retry | Literal[False]] = field(
        default_factory=dict[str, "Retry | Literal[False]"]
    )
    """Worker -> what it says about being retried, if it says anything."""
    ladder: Ladder = field(default_factory=Ladder)
    workers: tuple[str, ...] = ()
    fallbacks: Mapping[str, str] = field(default_factory=dict[str, str])
    """Worker -> the worker that takes over."""
    by_model: frozenset[str] = frozenset()
    """The workers that a model works for: who are helped by other words and smaller tasks."""
    stronger: Mapping[tuple[str, str], Tier] = field(default_factory=dict[tuple[str, str], Tier])
    """Worker and tier -> the next tier with other models."""
    remedies: bool = False
    """Whether somebody can refine, route and split."""
    person: bool = False
    """Whether there is a person to ask."""

    @classmethod
    def of(cls, team: Team, *, remedies: bool = False, person: bool = False) -> "Rules":
        """The rules of a team."""
        models = [worker for worker in team.workers if uses_model(worker)]
        return cls(
            team.retry,
            {w.name: w.retry for w in team.workers if w.retry is not True},
            team.ladder,
            tuple(worker.name for worker in team.workers),
            {w.name: w.fallback for w in team.workers if w.fallback is not None},
            frozenset(worker.name for worker in models),
            {
                (worker.name, tier): above
                for worker in models
                for tier in TIERS
                if (above := team.next_tier(worker, tier)) is not None
            },
            remedies,
            person,
        )


def attempts_used_up(history: History, rules: Rules) -> bool:
    """Whether the task has had all its attempts."""
    return history.attempts >= rules.retry.max_attempts


def retries_left(history: History, rules: Rules) -> bool:
    """Whether the run may still follow a failed attempt by another."""
    allowed = FREE_RETRIES + rules.retry.retry_share * history.dispatched
    return history.repeated < allowed


def is_available(worker: str, history: History) -> bool:
    """Whether a worker has not tried yet, and its breaker lets it."""
    return worker not in history.tried and worker not in history.resting


def ending(outcome: Unsuccessful) -> str:
    """How an attempt ended, in a word."""
    return outcome.reason if isinstance(outcome, Escalated) else outcome.kind
