"""Processes that work on a run beside that of a test: `elsewhere:work`, `elsewhere:shut_down`.

They work in their folder with the team of `tests.run.resuming.gates`, and a painter who asks.
"""

import asyncio
from pathlib import Path

from leadhand import Reply, Supervisor, Team, Worker
from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, Result
from tests.plans.samples import plan, task
from tests.run.resuming import gates

RUN = "elsewhere"
REQUEST = plan(task("paint", worker="painter"), task("wait", worker="gated"))


async def paint(handoff: Handoff) -> Outcome:
    if "says: " in handoff.intent:
        return Completed(result=Result(output=handoff.intent.rpartition("says: ")[2]))
    return Escalated(reason="ambiguous_input", message="which colour?")


def supervisor(folder: Path) -> Supervisor:
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


def shut_down() -> None:
    """Start the run, shut down once the gate's worker works, and print what the caller gets."""

    async def main() -> str:
        here = supervisor(Path.cwd())
        running = asyncio.create_task(here.run(plan=REQUEST, run_id=RUN))
        while not any(line == "wait begun" for line in gates.work(Path.cwd())):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await here.shutdown(grace_s=0)
        error = (await asyncio.gather(running, return_exceptions=True))[0]
        await here.close()
        return f"{type(error).__name__}: {error}"

    print(asyncio.run(main()))
