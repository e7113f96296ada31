"""A team with a model for tests of shared budgets, and processes that spend and are killed."""

import datetime as dt
import os
import signal
import sys
from pathlib import Path

from leadhand import Budget, Event, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import RunStarted
from leadhand.journal.sqlite import SqliteStore
from leadhand.testing import VirtualClock

RUN = "spending"
SHARED = Budget(requests=4, scope="tenant", per="month")
TWO = Budget(requests=2)
ACME = {"tenant": "acme"}


def team() -> Team:
    """One task is one request."""
    worker = Worker("billing", "Invoices and refunds", instructions="You know invoices.")
    return Team("support", model="openai-chat:scripted", workers=(worker,))


def plan(tasks: int = 1) -> Plan:
    made = (Task(id=f"t{n}", worker="billing", intent=f"List day {n}.") for n in range(tasks))
    return Plan(goal="List the invoices.", tasks=tuple(made), synthesis="merge")


class At(VirtualClock):
    """A clock whose day a test sets."""

    def __init__(self, day: str) -> None:
        self.day = day

    def now(self) -> dt.datetime:
        return dt.datetime.fromisoformat(f"{self.day}T12:00:00+00:00")


def work() -> None:
    """A run in the home that the first argument names, which spends what is shared."""
    Supervisor(team(), home=sys.argv[1], budget=[TWO, SHARED]).run_sync(
        plan=plan(), run_id=RUN, origin=ACME
    )


class Fatal(SqliteStore):
    """Ends its process when a run is to be stored for the first time."""

    def append(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            os.kill(os.getpid(), signal.SIGKILL)
        super().append(event)


def reserve() -> None:
    """A run whose process dies between its reservation and its start."""
    store = Fatal(Path(sys.argv[1]))
    supervisor = Supervisor(team(), journal=store, budget=[Budget(requests=4), SHARED])
    supervisor.run_sync(plan=plan(), run_id=RUN, origin=ACME)
