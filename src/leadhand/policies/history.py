"""What `decide` needs besides the last outcome: a task's history and its team's rules. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from leadhand.contracts.ladder import Retry, Rung
from leadhand.contracts.outcome import Escalated, Failed, Result
from leadhand.contracts.team import TIERS, Ladder, RetryRules, Team, Tier, uses_model

FREE_RETRIES = 10
"""Failed attempts that a run may retry, in addition to its share of the tasks started."""

Unsuccessful = Escalated | Failed


@dataclass(frozen=True, slots=True)
class History:
    worker: str
    """Of the last attempt."""
    attempts: int
    """Attempts so far, including those at the tasks that were split into this one."""
    tried: tuple[str, ...]
    """Of each attempt, in order."""
    timeouts: int = 0
    """Attempts before the last one that timed out."""
    timeout_s: float | None = None
    """How long an attempt may take; `None`: as long as the run."""
    work_ends_s: float | None = None
    """Seconds into the run at which its work must stop; `None` without a deadline."""
    jitter: float = 0.5
    """From 0 to 1: where the wait before a retry lies in its range. The same at every replay."""
    tier: str | None = None
    """The tier of model of the last attempt."""
    refined: bool = False
    splits: int = 0
    """How many splits led to this task."""
    first: Result | None = None
    """The first result, if the last attempt was a second opinion."""
    ruled_out: frozenset[Rung] = frozenset()
    """Rungs not to try: they got no advice for this outcome, or the plan does not allow them."""
    dispatched: int = 1
    """Tasks that the run started."""
    repeated: int = 0
    """Failed attempts of the run that another attempt followed."""
    not_admitted: Collection[str] = ()
    """The workers whose breakers admit no new task now."""

    @property
    def by_worker(self) -> int:
        """How many attempts in a row `worker` made, up to the last one."""
        return sum(1 for _ in takewhile(lambda name: name == self.worker, reversed(self.tried)))


@dataclass(frozen=True, slots=True)
class Rules:
    retry: RetryRules = field(default_factory=RetryRules)
    retries: Mapping[str, Retry | Literal[False]] = field(
        default_factory=dict[str, "Retry | Literal[False]"]
    )
    """By worker."""
    ladder: Ladder = field(default_factory=Ladder)
    workers: tuple[str, ...] = ()
    fallbacks: Mapping[str, str] = field(default_factory=dict[str, str])
    """By worker."""
    by_model: frozenset[str] = frozenset()
    """The workers that use a model: another intent or smaller tasks can help them."""
    stronger: Mapping[tuple[str, str], Tier] = field(default_factory=dict[tuple[str, str], Tier])
    """Worker and tier -> the next higher tier with other models."""
    remedies: bool = False
    """Whether a model or a router can refine, reassign and split."""
    person: bool = False
    """Whether there is a person to ask."""

    @classmethod
    def of(cls, team: Team, *, remedies: bool = False, person: bool = False) -> "Rules":
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
    return history.attempts >= rules.retry.max_attempts


def retries_left(history: History, rules: Rules) -> bool:
    allowed = FREE_RETRIES + rules.retry.retry_share * history.dispatched
    return history.repeated < allowed


def is_available(worker: str, history: History) -> bool:
    """Whether a worker has not tried the task, and its breaker is not open."""
    return worker not in history.tried and worker not in history.not_admitted


def ending(outcome: Unsuccessful) -> str:
    """How an attempt ended, in one word."""
    return outcome.reason if isinstance(outcome, Escalated) else outcome.kind
