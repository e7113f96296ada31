"""Teams within teams that tests share, and runs of them that keep their events."""

import asyncio
from collections.abc import Callable

from leadhand import Answer, Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, TaskDispatched
from leadhand.contracts.team import RetryRules
from leadhand.testing import VirtualClock, run_virtual

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


def office(inner: Team, *, desk: Callable[..., object] = clause, **fields: object) -> Team:
    """A team with that team as its worker `legal`, and `desk` beside it."""
    legal = Worker("legal", "Contract questions", team=inner, **fields)  # pyright: ignore[reportArgumentType, reportCallIssue]
    return Team("office", workers=(legal, *workers(desk=desk)), retry=ONCE)


def plan(*tasks: Task) -> Plan:
    return Plan(goal="May we cancel?", tasks=tasks)


LEGAL = Task(id="t1", worker="legal", intent="Say whether the contract can be cancelled.")
DESK = Task(id="t2", worker="desk", intent="Find the date of signature.")


class Ran:
    """A run that has ended, with its events."""

    def __init__(
        self, team: Team, the_plan: Plan | None = None, *, virtual: bool = False, **options: object
    ) -> None:
        self.events: list[Event] = []
        if virtual:
            options["clock"] = VirtualClock()
        self.supervisor = Supervisor(team, **options)  # pyright: ignore[reportArgumentType]
        self._work = self.supervisor.run(plan=the_plan or plan(LEGAL), listener=self.events.append)
        self.answer, self.took_s = (run_virtual if virtual else asyncio.run)(self._timed())

    async def _timed(self) -> tuple[Answer, float]:
        """The answer, and the seconds until it came."""
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        return await self._work, loop.time() - started_s

    @property
    def gaps(self) -> dict[str, str]:
        return {gap.task_id: gap.why for gap in self.answer.gaps}

    @property
    def tasks(self) -> list[str]:
        """What was dispatched, in order, by the whole way to it."""
        return [event.task_id for event in self.events if isinstance(event, TaskDispatched)]
