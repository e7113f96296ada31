"""Runs whose process may die in the middle of a task: workers end it, as the task's intent says.

    crashing:go HOME ID [ID...]     begins these runs, or resumes them, all in one process

The statuses of the answers are printed, run by run.
"""

import asyncio
import os
import signal
import sys
from contextlib import closing
from pathlib import Path

from leadhand import Completed, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.outcome import Handoff, Outcome, Result
from leadhand.contracts.team import TaskTemplate
from leadhand.journal import StoreJournal, open_store
from tests.handles import resumed


async def work(handoff: Handoff) -> Outcome:
    """Leave a line in the file `work`, then do what the intent says: `die`, `exit`, or `wait` until
    there is a file `open`."""
    _note(handoff.key)
    match handoff.intent.split()[0]:
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            # In the first two processes it takes the other run's task with it.
            while True:
                if _begun("bystander/slow") >= min(_begun(handoff.key), 2):
                    os._exit(7)
                await asyncio.sleep(0.005)
        case "wait":
            while True:
                if _is_open():
                    break
                await asyncio.sleep(0.005)
        case _:
            pass
    return Completed(result=Result(output=f"{handoff.task_id} is done"))


def _note(key: str) -> None:
    with Path("work").open("a") as file:
        file.write(f"{key}\n")


def _is_open() -> bool:
    return Path("open").exists()


def _begun(key: str) -> int:
    return Path("work").read_text().splitlines().count(key)


def team() -> Team:
    """A worker, and as another one a team of the same."""
    hand = Worker("hand", "works", run=work)
    inner = Team(
        "inner",
        workers=(hand,),
        template=(
            TaskTemplate("safe", "hand", "wait until it may be done"),
            TaskTemplate("bad", "hand", "die at once"),
        ),
    )
    return Team("outer", workers=(hand, Worker("team", "works in parts", team=inner)))


def task(id: str, intent: str, *depends_on: str, worker: str = "hand") -> Task:
    """A task of any of the plans."""
    return Task(id=id, worker=worker, intent=intent, depends_on=depends_on)


PLANS = {
    "one": (
        task("first", "do this first"),
        task("slow", "wait until it may be done", "first"),
        task("bad", "die at once", "first"),
        task("late", "wait until it may be done", "first"),
        task("after", "do this after", "bad"),
    ),
    "nested": (task("team", "see to both", worker="team"), task("beside", "do it beside")),
    "bystander": (task("slow", "wait until it may be done"), task("next", "do it", "slow")),
    "exits": (task("bad", "exit soon"),),
    "waits": (task("slow", "wait until it may be done"), task("next", "do it next", "slow")),
}


async def gone(home: str, ids: list[str]) -> list[str]:
    """The statuses of the answers of these runs."""
    with closing(open_store(home)) as journal:
        supervisor = Supervisor(team(), journal=StoreJournal(journal))
        runs = [
            resumed(supervisor, id)
            if journal.last_seq(id)
            else supervisor.run(plan=Plan(goal=f"do {id}", tasks=PLANS[id]), run_id=id)
            for id in ids
        ]
        return [answer.status for answer in await asyncio.gather(*runs)]


def go() -> None:
    """Begin or resume."""
    home, *ids = sys.argv[1:]
    print(*asyncio.run(gone(home, ids)))
