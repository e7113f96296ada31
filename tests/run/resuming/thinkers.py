"""A team of models in a process of its own, killed by its journal after any of their answers.

    thinkers:begin HOME RUN [ANSWERS]     begins the run
    thinkers:go_on HOME RUN [ANSWERS]     goes on with it

With ANSWERS the process is killed as soon as so many new answers of models are safe. Else the
answer of the run is printed, as a document of JSON.
"""

import asyncio
import os
import signal
import sys
from contextlib import closing
from pathlib import Path

from pydantic_ai import Agent

from leadhand import Supervisor, Team, Worker
from leadhand.contracts.events import Event, ModelCalled
from leadhand.journal import StoreJournal
from leadhand.journal.sqlite import SqliteStore
from tests.handles import resumed

MODEL = "openai-chat:scripted"
REQUEST = "How high is the tower, and who may climb it?"


class Deadly(SqliteStore):
    """A journal that kills its process when so many answers of models are safe."""

    def __init__(self, folder: Path, *, answers: int | None) -> None:
        super().__init__(folder)
        self._left = answers

    def append(self, event: Event) -> None:
        """Count an answer."""
        super().append(event)
        if self._left is not None and isinstance(event, ModelCalled) and event.error is None:
            self._left -= 1

    async def commit(self, run_id: str | None = None) -> None:
        """Kill the process where it is time."""
        enough = self._left is not None and self._left <= 0  # what comes meanwhile is not safe yet
        await super().commit(run_id)
        if enough:
            os.kill(os.getpid(), signal.SIGKILL)


def find_heights(query: str) -> str:
    """Find heights."""
    return f"The tower is 91 m high ({query})."


def read_heights(query: str) -> str:
    """Read the survey of heights."""
    return f"Measured from the kerb ({query})."


def find_rules(query: str) -> str:
    """Find rules."""
    return f"Nobody under twelve may climb it ({query})."


def find_guides(query: str) -> str:
    """Find guides."""
    return f"The guide is at the door ({query})."


def team() -> Team:
    """Workers with tools, a team of them within the team, and an agent of pydantic-ai's."""
    guide = Agent(MODEL, name="guide", instructions="You know guides.", defer_model_check=True)
    guide.tool_plain(find_guides)
    law = Team(
        "law",
        workers=(
            Worker("rules", "Rules", instructions="You know rules.", tools=(find_rules,)),
            Worker("rights", "Rights", instructions="You know rights."),
        ),
    )
    return Team(
        "office",
        model=MODEL,
        workers=(
            Worker(
                "survey",
                "Heights",
                instructions="You know heights.",
                tools=(find_heights, read_heights),
            ),
            Worker("law", "Who may do what", team=law),
            Worker("guide", "Guided tours", run=guide),
        ),
    )


async def told(*, resume: bool) -> str:
    """The document of the answer."""
    home, run_id, *answers = sys.argv[1:]
    store = Deadly(Path(home), answers=int(answers[0]) if answers else None)
    with closing(store):
        journal = StoreJournal(store)
        supervisor = Supervisor(team(), journal=journal, concurrency=1 if answers else 64)
        if resume:
            answer = await resumed(supervisor, run_id)
        else:
            answer = await supervisor.run(REQUEST, run_id=run_id)
    return answer.model_dump_json()


def begin() -> None:
    """Begin the run."""
    print(asyncio.run(told(resume=False)))


def go_on() -> None:
    """Go on with it."""
    print(asyncio.run(told(resume=True)))
