"""Teams and workers as data: who can do what, by which rules. They run nothing themselves."""

import dataclasses
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from leadhand.contracts.task import NO_LIMITS, Limits

Isolation = Literal["none", "process"]
WorkFunction = Callable[..., object]

_DATA = ConfigDict(arbitrary_types_allowed=True, extra="forbid")


@dataclass(frozen=True, config=_DATA)
class Worker:
    """A specialist: one narrow job, and the function that does it."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    """Unique in its team; what a task's `worker` says."""
    description: str
    """One line for the planner: what this worker does, and by omission what it does not."""
    _: dataclasses.KW_ONLY
    run: WorkFunction | None = None
    """Any function `Handoff -> Outcome`, or `-> value`; sync or async."""
    instructions: str = ""
    """What the worker is told about its job, in its own words."""
    tools: tuple[str, ...] = ()
    """Names of the tools that it may use."""
    fallback: str | None = None
    """The worker that takes over where this one fails for good."""
    isolate: Isolation = "none"
    """`process`: runs in a process of its own, for CPU-heavy work and work that must be killed."""
    concurrency: Annotated[int, Field(ge=1)] | None = None
    """How many tasks it works on at once; none: as many as the run allows."""
    limits: Limits = NO_LIMITS
    """Bounds of each of its tasks, where the task itself sets none."""


@dataclass(frozen=True, config=_DATA)
class TaskTemplate:
    """One entry of a plan template: a task, or one task for each batch of what is handed in."""

    id: str
    """The task's id; with `for_each` it is followed by `-1`, `-2`, ..."""
    worker: str
    intent: str
    """May hold `{request}` and, with `for_each`, `{batch}`, `{count}` and `{names}`."""
    depends_on: tuple[str, ...] = ()
    """Template ids; with `for_each` here or there, every task made from that entry."""
    for_each: str | None = None
    """The name of a set of batches; its artifacts become the task's."""
    done_when: str = ""
    tolerates_missing: bool = False
    limits: Limits = NO_LIMITS


@dataclass(frozen=True, config=_DATA)
class RetryRules:
    """When and how often a failed task is tried again."""

    max_attempts: Annotated[int, Field(ge=1, le=100)] = 3
    """Attempts of one task in all, counting the first and whoever makes them."""
    backoff_s: tuple[Annotated[float, Field(ge=0)], ...] = (1.0, 2.0)
    """Seconds to wait before the second, third, ... attempt; the last one repeats."""


@dataclass(frozen=True, config=_DATA)
class Team:
    """Workers and the rules they work by."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    description: str = ""
    _: dataclasses.KW_ONLY
    workers: tuple[Worker, ...]
    template: tuple[TaskTemplate, ...] = ()
    """The plan of a team without a model; empty: every worker gets one task, all at once."""
    synthesis: str = "merge"
    """How results become an answer: `merge`, or a strategy that the team's synthesizer knows."""
    limits: Limits = NO_LIMITS
    """Bounds of every task, where neither task nor worker sets one."""
    retry: RetryRules = RetryRules()

    def worker(self, name: str) -> Worker | None:
        """The worker of that name, or none."""
        return next((worker for worker in self.workers if worker.name == name), None)
