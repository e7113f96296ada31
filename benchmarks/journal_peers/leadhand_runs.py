"""leadhand: a run of a plan by the front door, with its journal in a folder or in memory."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from measuring import Work, intent, main, noop

from leadhand import Handoff, Plan, Supervisor, Task, Team, Worker


async def task(given: Handoff) -> str:
    """One task."""
    return await noop(given.intent)


TEAM = Team("bench", workers=(Worker("noop", "does nothing", run=task),))


def plan(shape: str, tasks: int) -> Plan:
    """So many tasks that need nothing, or each the one before."""

    def needs(number: int) -> tuple[str, ...]:
        return (str(number - 1),) if shape == "chain" and number else ()

    each = (
        Task(id=str(i), worker="noop", intent=intent(i), depends_on=needs(i)) for i in range(tasks)
    )
    return Plan(goal="measure", tasks=tuple(each))


@asynccontextmanager
async def opened(home: Path | None) -> AsyncGenerator[Work]:
    """Every event is kept; what a task gives is committed before it is used."""
    supervisor = Supervisor(TEAM, home=home, concurrency=1_000, deadline_s=None)

    async def work(shape: str, tasks: int) -> None:
        answer = await supervisor.run(plan=plan(shape, tasks))
        if answer.status != "complete":
            raise SystemExit(f"the run ended {answer.status}: {answer.gaps[:1]}")

    yield work
    await supervisor.close()


if __name__ == "__main__":
    main(opened)
