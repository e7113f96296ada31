"""A run with everything in it that a resumed run must come through, and the journal to stop it by.

A hundred tasks: most complete, some fail and are retried, go to another worker or are given up, one
is split, one says that the plan no longer fits, a team does some, one result is doubtful.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from leadhand import Supervisor
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event
from leadhand.contracts.outcome import (
    Completed,
    Escalated,
    Failed,
    Handoff,
    Outcome,
    PlanImpact,
    Result,
)
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Ladder, RetryRules, Team, Worker
from leadhand.journal import MemoryJournal
from leadhand.ports import Journal
from tests.engine.remedies import ScriptedRemedies

RUN = "story"


@dataclass
class Workshop:
    """The workers of the story; they remember what they were given."""

    given: list[Handoff] = field(default_factory=list[Handoff])

    async def work(self, handoff: Handoff) -> None:
        """What every worker does before it says how it went."""
        self.given.append(handoff)
        await asyncio.sleep(0)

    async def plain(self, handoff: Handoff) -> str:
        """Done at once."""
        await self.work(handoff)
        return f"{handoff.task_id} after {sorted(handoff.inputs)}"

    async def flaky(self, handoff: Handoff) -> Outcome:
        """Fails in passing at its first attempt."""
        await self.work(handoff)
        if handoff.attempt == 1:
            return Failed(kind="error", message="the line was cut", transient=True)
        return Completed(result=Result(output=f"{handoff.task_id} at last"))

    async def hopeless(self, handoff: Handoff) -> Outcome:
        """Never does it, and leaves what it has."""
        await self.work(handoff)
        partial = Result(output="half of it", confidence=40)
        return Failed(kind="tool_error", message="the tool is broken", partial=partial)

    async def doubtful(self, handoff: Handoff) -> Outcome:
        """Is never sure."""
        await self.work(handoff)
        guess = Result(output=f"a guess by {handoff.to_agent}", confidence=30)
        return Escalated(reason="low_confidence", message="not sure", partial=guess)

    async def large(self, handoff: Handoff) -> Outcome:
        """Finds every whole task too much."""
        await self.work(handoff)
        if "." in handoff.task_id:
            return Completed(result=Result(output=f"the part {handoff.task_id}"))
        return Escalated(reason="timeout", message="too much for one")

    async def surprised(self, handoff: Handoff) -> Outcome:
        """Says that the plan no longer fits."""
        await self.work(handoff)
        impact = PlanImpact(reason="this is a matter of configuration")
        return Completed(result=Result(output="no bug here", plan_impact=impact))


@dataclass
class Stops(MemoryJournal):
    """A journal in memory that remembers where each commit was."""

    def __init__(self) -> None:
        super().__init__()
        self.commits: list[int] = []
        """How many events were kept after each commit."""

    async def commit(self, run_id: str | None = None) -> None:
        """Take down the place."""
        await super().commit(run_id)
        kept = len(self.store.events(RUN))
        if not self.commits or self.commits[-1] != kept:
            self.commits.append(kept)


def kept(events: Sequence[Event]) -> MemoryJournal:
    """A journal in which a run stands as it did after `events`."""
    journal = MemoryJournal()
    for event in events:
        journal.append(event)
    asyncio.run(journal.commit())
    return journal


def team(shop: Workshop, *, backoff_s: tuple[float, ...] = (1.0, 2.0)) -> Team:
    """The team of the story."""
    annex = Team("annex", workers=(Worker("plain", "does plain work", run=shop.plain),))
    return Team(
        "workshop",
        workers=(
            Worker("plain", "does plain work", run=shop.plain),
            Worker("flaky", "does flaky work", run=shop.flaky),
            Worker("hopeless", "never does it", run=shop.hopeless, fallback="spare"),
            Worker("spare", "does what others could not", run=shop.plain),
            Worker("lost", "never does it", run=shop.hopeless),
            Worker("doubtful", "guesses", run=shop.doubtful, fallback="second"),
            Worker("second", "guesses too", run=shop.doubtful),
            Worker("large", "does large work", offline=shop.large),
            Worker("surprised", "is surprised", run=shop.surprised),
            Worker("annex", "does work in parts", team=annex),
        ),
        retry=RetryRules(backoff_s=backoff_s),
        ladder=Ladder(breaker_failures=1_000),
    )


def task(id: str, worker: str, *depends_on: str, tolerates_missing: bool = False) -> Task:
    """A task of the story; all but the first depend on that one."""
    return Task(
        id=id,
        worker=worker,
        intent=f"see to the matter of {id}",
        depends_on=depends_on or ("start",),
        tolerates_missing=tolerates_missing,
    )


def _rest() -> list[Task]:
    """All tasks but the first."""
    chains = [
        task(f"c{chain}-{n}", "plain", *([f"c{chain}-{n - 1}"] if n else []))
        for chain in range(12)
        for n in range(5)
    ]
    return [
        *chains,
        *(task(f"flaky-{n}", "flaky") for n in range(8)),
        *(task(f"after-flaky-{n}", "plain", f"flaky-{n}") for n in range(8)),
        *(task(f"hopeless-{n}", "hopeless") for n in range(4)),
        task("lost", "lost"),
        task("skipped", "plain", "lost"),
        task("tolerant", "plain", "lost", "c0-4", tolerates_missing=True),
        *(task(f"doubtful-{n}", "doubtful") for n in range(3)),
        task("large-1", "large"),
        task("large-2", "large", "large-1"),
        task("after-large", "plain", "large-2"),
        *(task(f"annex-{n}", "annex") for n in range(4)),
        task("last", "plain", "after-large", "c11-4", "annex-0", "doubtful-0"),
    ]


def plan() -> Plan:
    """A hundred tasks, of which one is dropped when the first is done."""
    first = Task(id="start", worker="surprised", intent="look into what happened")
    tasks = [first, *_rest()]
    more = [task(f"more-{n}", "plain") for n in range(99 - len(tasks))]
    return Plan(goal="see to everything", tasks=(*tasks, *more, task("unneeded", "plain")))


def remedies() -> ScriptedRemedies:
    """What the supervisor has to say: how a task is split, and what becomes of the plan."""
    kept = [one for one in plan().tasks[1:] if one.id != "unneeded"]
    parts = [Task(id=name, worker="large", intent=f"see to {name}") for name in ("left", "right")]
    revised = [*kept, task("added", "plain", "c3-4")]
    return ScriptedRemedies(parts=parts, verdict=(True, "it is bolder"), revised=revised)


def supervisor(shop: Workshop, journal: Journal, *, concurrency: int = 4) -> Supervisor:
    """The supervisor of the story."""
    return Supervisor(team(shop), journal=journal, remedies=remedies(), concurrency=concurrency)


def told(answer: Answer) -> object:
    """All of an answer but its times, in an order that does not depend on them."""
    tasks = sorted((task.id, task.status, task.worker, task.attempts) for task in answer.tasks)
    return answer.status, sorted(answer.answer.splitlines()), tasks, sorted(map(str, answer.gaps))
