"""Workers whose tool sends letters, and kills its process between the letter and its commit.

    letters:begin HOME LETTERS     begins the run
    letters:go_on HOME LETTERS     goes on with it

LETTERS is a file with a line for each letter that was sent: the key of the call, and to whom.
"""

import asyncio
import os
import signal
import sys
from contextlib import closing
from pathlib import Path

from leadhand import Supervisor, Team, Worker
from leadhand.contracts.task import Plan, Task
from leadhand.journal import StoreJournal, open_store
from tests.handles import resumed

MODEL = "openai-chat:scripted"
DEADLY = "ann"
"""Whoever sends her a letter is killed, the first time with each key."""
RUN = "letters"


async def send_letter(to: str, idempotency_key: str) -> str:
    """Send a letter to somebody."""
    if _sent(idempotency_key, to) and to == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    return f"sent to {to}"


def _sent(key: str, to: str) -> bool:
    """Whether this letter, which is sent now, is the first with that key."""
    path = Path(sys.argv[2])
    known = {key for key, _ in letters(path)}
    with path.open("a") as file:
        file.write(f"{key} {to}\n")
    return key not in known


def letters(path: Path) -> list[tuple[str, str]]:
    """The letters that were sent: by which call, to whom."""
    if not path.exists():
        return []
    rows = [line.split() for line in path.read_text().splitlines()]
    return [(key, to) for key, to in rows]


def team() -> Team:
    """A worker, and a team with another."""
    clerk = Worker("clerk", "Writes", instructions="You are a clerk.", tools=(send_letter,))
    post = Worker("post", "Writes", instructions="You are the post.", tools=(send_letter,))
    annex = Worker("annex", "Writes as well", team=Team("annex", workers=(clerk,), model=MODEL))
    return Team("office", model=MODEL, workers=(post, annex))


def plan() -> Plan:
    """A letter for each worker to write."""
    tasks = [
        Task(id=f"of-{name}", worker=name, intent="write by hand") for name in ("post", "annex")
    ]
    return Plan(goal="write to everyone", tasks=tuple(tasks))


async def told(*, resume: bool) -> str:
    """The document of the answer."""
    with closing(open_store(sys.argv[1])) as journal:
        supervisor = Supervisor(team(), journal=StoreJournal(journal))
        going = resumed(supervisor, RUN) if resume else supervisor.run(plan=plan(), run_id=RUN)
        return (await going).model_dump_json()


def begin() -> None:
    """Begin the run."""
    print(asyncio.run(told(resume=False)))


def go_on() -> None:
    """Go on with it."""
    print(asyncio.run(told(resume=True)))
