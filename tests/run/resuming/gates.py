"""A team without models whose workers wait until a test lets them through, by a file in the folder.

Each leaves a line in the file `work` when it has begun, was stopped, and is done.
"""

import asyncio
from pathlib import Path

from leadhand import Plan, Task, Team, Worker
from leadhand.contracts.outcome import Handoff
from leadhand.tools.scratch import scratch_folder
from tests.team_folders import worker, write_team

HERE = "tests.run.resuming.gates"


async def quick(handoff: Handoff) -> str:
    """Done at once."""
    return await _through(handoff, None)


async def gated(handoff: Handoff) -> str:
    """Done as soon as there is a file `open`."""
    return await _through(handoff, Path("open"))


async def endless(handoff: Handoff) -> str:
    """Done as soon as there is a file `end`. It has a temporary folder until then."""
    with scratch_folder() as folder:
        _name(folder)
        return await _through(handoff, Path("end"))


async def _through(handoff: Handoff, gate: Path | None) -> str:
    _note(handoff, "begun")
    try:
        while True:
            if _is_open(gate):
                break
            await asyncio.sleep(0.01)
    except asyncio.CancelledError:
        _note(handoff, "stopped")
        raise
    _note(handoff, "done")
    return f"{handoff.task_id} is done"


def _is_open(gate: Path | None) -> bool:
    return gate is None or gate.exists()


def _name(folder: Path) -> None:
    Path("scratch").write_text(str(folder))


def _note(handoff: Handoff, what: str) -> None:
    with Path("work").open("a") as file:
        file.write(f"{handoff.task_id} {what}\n")


def work(folder: Path) -> list[str]:
    """What the workers have left there, in order."""
    path = folder / "work"
    return path.read_text().splitlines() if path.exists() else []


def plan() -> Plan:
    """One that is quick, one that waits, one after both, and one that goes on and on."""
    given = {"a": ("quick",), "b": ("gated",), "c": ("quick", "a", "b"), "d": ("endless",)}
    tasks = [
        Task(id=id, worker=by, intent=f"do {id}", depends_on=tuple(needs))
        for id, (by, *needs) in given.items()
    ]
    return Plan(goal="do everything", tasks=tuple(tasks))


def team() -> Team:
    """The team."""
    workers = tuple(Worker(run.__name__, "Does it", run=run) for run in (quick, gated, endless))
    return Team("gates", workers=workers)


def folder_of_team(folder: Path) -> tuple[str, ...]:
    """Writes the team and the plan into a folder; gives what to type to have it done."""
    files = {
        name: worker(f"description: Does it\noffline: {HERE}:{name}")
        for name in ("quick", "gated", "endless")
    }
    write_team(folder / "gates", "name: gates\n", **files)
    (folder / "plan.json").write_text(plan().model_dump_json())
    return ("run", "--team", "gates", "--no-model", "--plan", "plan.json", "--json", "--quiet")
