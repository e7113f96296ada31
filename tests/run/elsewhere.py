"""A process that works on a run beside that of a test: `elsewhere:work`.

It works in its folder with the team of `tests.run.resuming.gates`, and a painter who asks.
"""

import asyncio
from pathlib import Path

from leadhand import Plan, Reply, Supervisor, Task, Team, Worker
from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, Result
from tests.run.resuming import gates

RUN = "elsewhere"
REQUEST = Plan(
    goal="paint, and wait for the gate",
    tasks=(
        Task(id="paint", worker="painter", intent="paint the door"),
        Task(id="wait", worker="gated", intent="wait for the gate"),
    ),
)


async def paint(handoff: Handoff) -> Outcome:
    """Has to be told the colour."""
    if "says: " in handoff.intent:
        return Completed(result=Result(output=handoff.intent.rpartition("says: ")[2]))
    return Escalated(reason="ambiguous_input", message="which colour?")


def supervisor(folder: Path) -> Supervisor:
    """The supervisor of the team; its runs are kept in a folder."""
    workers = (*gates.team().workers, Worker("painter", "Paints", run=paint))
    return Supervisor(Team("gates", workers=workers), approve=["escalation"], home=folder / "home")


def blue() -> Reply:
    """What the painter has to be told."""
    return Reply(task_id="paint", verdict="answered", text="blue")


def work() -> None:
    """Start the run, and print the status of its answer."""

    async def main() -> str:
        here = supervisor(Path.cwd())
        answer = await here.run(plan=REQUEST, run_id=RUN, origin={"customer": 7})
        await here.close()
        return answer.status

    print(asyncio.run(main()))
