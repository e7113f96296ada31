"""Teams within teams that tests share, and runs of them that keep their events."""

import asyncio
import time
from collections.abc import Callable

from leadhand import Answer, Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.event import Event, TaskDispatched
from leadhand.contracts.team import RetryRules

ONCE = RetryRules(max_attempts=1)


def clause(handoff: Handoff) -> str:
    return f"clause found by {handoff.to_agent}"


async def hang(handoff: Handoff) -> str:
    await asyncio.sleep(3600)
    return "never"


def broken(handoff: Handoff) -> str:
    raise ValueError("the archive burnt down")


def workers(**work: Callable[..., object]) -> tuple[Worker, ...]:
    return tuple(Worker(name, f"Does {name}", run=run) for name, run in work.items())


def law(*more: Worker, **work: Callable[..., object]) -> Team:
    """A team that is a worker of others."""
    return Team("law", workers=(*workers(**work), *more), retry=ONCE)


def office(inner: Team, **fields: object) -> Team:
    """A team with that team as its worker `legal`, and `desk` beside it."""
    legal = Worker("legal", "Contract questions", team=inner, **fields)  # pyright: ignore[reportArgumentType]
    return Team("office", workers=(legal, *workers(desk=clause)), retry=ONCE)


def plan(*tasks: Task) -> Plan:
    return Plan(goal="May we cancel?", tasks=tasks)


LEGAL = Task(id="t1", worker="legal", intent="Say whether the contract can be cancelled.")
DESK = Task(id="t2", worker="desk", intent="Find the date of signature.")


class Ran:
    """A run that has ended, with its events."""

    def __init__(self, team: Team, the_plan: Plan | None = None, **options: object) -> None:
        self.events: list[Event] = []
        self.supervisor = Supervisor(team, **options)  # pyright: ignore[reportArgumentType]
        started = time.monotonic()
        work = self.supervisor.run(plan=the_plan or plan(LEGAL), listener=self.events.append)
        self.answer: Answer = asyncio.run(work)
        self.took_s = time.monotonic() - started

    @property
    def gaps(self) -> dict[str, str]:
        return {gap.task_id: gap.why for gap in self.answer.gaps}

    @property
    def tasks(self) -> list[str]:
        """What was dispatched, in order, by the whole way to it."""
        return [event.task_id for event in self.events if isinstance(event, TaskDispatched)]
