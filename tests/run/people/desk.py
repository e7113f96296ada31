"""A desk whose painter has to be told the colour, and people who say what a test tells them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from leadhand import Supervisor, Team, Worker
from leadhand.contracts.events import Event
from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, Result
from leadhand.contracts.people import Question, Reply
from leadhand.contracts.task import Plan
from leadhand.run.people import Ask
from tests.plans.samples import plan, task
from tests.stored import store_of

RUN = "asked"


@dataclass
class Desk:
    """A worker that needs to be told the colour, and one that needs nothing."""

    given: list[Handoff] = field(default_factory=list[Handoff])
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def painter(self, handoff: Handoff) -> Outcome:
        """Hands back what does not say a colour."""
        self.given.append(handoff)
        if "says: " in handoff.intent:
            return Completed(result=Result(output=handoff.intent.rpartition("says: ")[2]))
        return Escalated(reason="ambiguous_input", message="which colour?")

    async def clerk(self, handoff: Handoff) -> str:
        """Does it."""
        self.given.append(handoff)
        self.done.set()
        return f"{handoff.task_id} is filed"

    def tasks(self) -> list[str]:
        """What was worked on, in order."""
        return [handoff.task_id for handoff in self.given]

    def team(self) -> Team:
        """The team that sits here."""
        return Team(
            "desk",
            workers=(
                Worker("painter", "paints", run=self.painter),
                Worker("clerk", "files", run=self.clerk),
            ),
        )


PAINT = plan(task("t1", worker="painter"))
FILE = plan(task("t1", worker="clerk"))


def says(*replies: Reply | str | None) -> tuple[Ask, list[Question]]:
    """A person who says this, one after the other, and what they were asked."""
    asked: list[Question] = []
    left = list(replies)

    async def ask(question: Question) -> Reply | str | None:
        asked.append(question)
        return left.pop(0)

    return ask, asked


def log(supervisor: Supervisor, run_id: str = RUN) -> Sequence[Event]:
    """The events of a run."""
    return store_of(supervisor).events(run_id)


def approved(changed: Plan | None = None) -> Reply:
    """The word that a plan may be carried out, as it is or as it was changed."""
    return Reply(verdict="approved", plan=changed)


def answered(text: str, task_id: str = "t1") -> Reply:
    """What the worker of a task should know."""
    return Reply(task_id=task_id, verdict="answered", text=text)


async def until(holds: Callable[[], object]) -> None:
    """Return once it holds; in steps of the loop, not of time."""
    while not holds():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def only_painter(desk: Desk) -> Team:
    """A team of its painter alone."""
    return Team("painters", workers=(Worker("painter", "paints", run=desk.painter),))


async def raises(question: Question) -> Reply | str | None:
    """A person who can't be asked."""
    raise OSError("the line is dead")
