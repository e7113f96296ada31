"""Runs as a journal sees them: events in the order in which a recorder writes them."""

import asyncio
import datetime as dt
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack, closing, contextmanager
from typing import TypeVar

from leadhand.contracts.answer import Answer, Metrics
from leadhand.contracts.events import (
    Event,
    PlanAccepted,
    PlanProposed,
    RunFinished,
    RunStarted,
    TaskCompleted,
    TaskDispatched,
)
from leadhand.contracts.outcome import Result
from leadhand.contracts.summary import RunSummary
from leadhand.contracts.task import Plan, Task
from leadhand.engine.recorder import EventStamp
from leadhand.journal.store import Store

S = TypeVar("S", bound=Store)
NOON = dt.datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=dt.UTC)


class Story:
    """Writes the events of one run, a second apart."""

    def __init__(self, run_id: str, *, begun: dt.datetime = NOON) -> None:
        self.run_id = run_id
        self.seq = 0
        self._begun = begun

    def stamp(self) -> EventStamp:
        self.seq += 1
        at = self._begun + dt.timedelta(seconds=self.seq)
        return {"seq": self.seq, "at": at, "elapsed_s": float(self.seq), "run_id": self.run_id}

    def started(self, request: str = "count the words") -> RunStarted:
        return RunStarted(
            **self.stamp(),
            team="counters",
            request=request,
            engine="deterministic",
            deadline_s=600.0,
        )

    def planned(self, *ids: str) -> tuple[Event, Event]:
        tasks = tuple(task(id) for id in ids)
        proposed = PlanProposed(**self.stamp(), plan=Plan(goal="count", tasks=tasks), by="planner")
        accepted = PlanAccepted(**self.stamp())
        return proposed, accepted

    def dispatched(self, task_id: str, attempt: int = 1) -> Event:
        return TaskDispatched(**self.stamp(), task_id=task_id, attempt=attempt, worker="count")

    def completed(self, task_id: str, attempt: int = 1, output: str = "3 words") -> Event:
        return TaskCompleted(
            **self.stamp(),
            task_id=task_id,
            attempt=attempt,
            result=Result(output=output, summary="counted", confidence=90),
        )

    def finished(self) -> RunFinished:
        stamp = self.stamp()
        answer = Answer(
            run_id=self.run_id,
            status="complete",
            engine="deterministic",
            team="counters",
            request="count the words",
            answer="6 words",
            metrics=Metrics(makespan_s=stamp["elapsed_s"], cost_usd=0.25),
        )
        return RunFinished(**stamp, answer=answer)

    def whole(self, *ids: str) -> list[Event]:
        """A run from its start to its answer, in which these tasks are done."""
        events = [self.started(), *self.planned(*ids)]
        for id in ids:
            events += [self.dispatched(id), self.completed(id)]
        return [*events, self.finished()]


def keep(journal: Store, events: Iterable[Event]) -> None:
    async def commit() -> None:
        for event in events:
            journal.append(event)
        await journal.commit()

    asyncio.run(commit())


@contextmanager
def reopening(reopen: Callable[[], S]) -> Generator[Callable[[], S]]:
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(reopen()))


def only_run(journal: Store) -> RunSummary:
    (summary,) = journal.runs()
    return summary


def task(id: str) -> Task:
    return Task(id=id, worker="count", intent=f"count {id}")
