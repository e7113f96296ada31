# pyright: basic, reportMissingImports=false
"""DBOS: a workflow of steps with its system database in SQLite, as it ships."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from dbos import DBOS
from measuring import Work, intent, main, noop


@DBOS.step()
async def step(told: str) -> str:
    """One task."""
    return await noop(told)


@DBOS.workflow()
async def independent(tasks: int) -> int:
    """All of them at once."""
    return len(await asyncio.gather(*(step(intent(i)) for i in range(tasks))))


@DBOS.workflow()
async def chain(tasks: int) -> int:
    """One after the other."""
    for i in range(tasks):
        await step(intent(i))
    return tasks


@asynccontextmanager
async def opened(home: Path | None) -> AsyncGenerator[Work]:
    """There is no way to keep nothing."""
    if home is None:
        raise SystemExit("DBOS needs a folder")
    url = f"sqlite:///{home / 'dbos.sqlite'}"
    DBOS(config={"name": "bench", "system_database_url": url, "log_level": "ERROR"})
    DBOS.launch()

    async def work(shape: str, tasks: int) -> None:
        await {"independent": independent, "chain": chain}[shape](tasks)

    yield work
    DBOS.destroy()


if __name__ == "__main__":
    main(opened)
