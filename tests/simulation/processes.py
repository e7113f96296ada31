"""The processes that a run goes through: how each is lost or ended, and how the next goes on.

Nothing here runs. The same seed gives the same processes on every machine.
"""

from dataclasses import dataclass, replace
from random import Random
from typing import Literal, get_args

from leadhand.contracts.budget import Budget
from leadhand.contracts.people import Occasion
from tests.simulation.scenario import Ending, Scenario

Whereabouts = Literal["nobody", "away", "by message", "here"]

RESUMED = 0.2
"""The share of the whole runs that go through more than one process."""

APPROVED = 0.2
"""The share of the other runs of a kind of planner whose plans a person approves."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process of a run."""

    made: Scenario
    """With the deadline, the budget and the end of this process."""
    number: int = 1
    lost_at: int | None = None
    """The commit after which nothing of it is kept any more; none: it comes to its end."""
    again: float | None = None
    """Where in the plan the task is that is done again with all that depends on it, as a share."""
    people: Whereabouts = "nobody"
    occasions: tuple[Occasion, ...] = ()


def processes(made: Scenario, *, whole: bool) -> list[Process]:
    """The processes of the run of a scenario; most have one."""
    chance = Random(f"processes {made.seed}")
    of_a_kind = made.team.planner.kind is not None
    if not whole or chance.random() >= RESUMED:
        if of_a_kind and chance.random() < APPROVED:
            return [Process(made, people="here", occasions=("plan", "escalation"))]
        return [Process(made)]
    asked = chance.random() < 0.5
    occasions: tuple[Occasion, ...] = ("escalation",)
    if asked and chance.random() < (0.7 if of_a_kind else 0.3):
        occasions = ("plan", "escalation")
    people: Whereabouts = chance.choice(("away", "away", "here")) if asked else "nobody"
    found = [Process(made, 1, _lost_at(chance), None, people, occasions)]
    while len(found) == 1 or (len(found) < 4 and chance.random() < 0.4):
        people = chance.choice(get_args(Whereabouts)[1:]) if asked else "nobody"
        number = len(found) + 1
        again = chance.random() if chance.random() < 0.25 else None
        found.append(
            Process(_next(chance, made), number, _lost_at(chance), again, people, occasions)
        )
    found[-1] = replace(found[-1], lost_at=None)
    return found


def _lost_at(chance: Random) -> int | None:
    later = (chance.randint(2, 6), chance.randint(4, 15), chance.randint(4, 15))
    return chance.choice((None, 1, 2, *later, chance.randint(5, 60)))


def _next(chance: Random, made: Scenario) -> Scenario:
    """The same run with a deadline, an end and a budget of its own."""
    deadline_s = chance.choice((None, None, chance.random(), 60.0))
    ends: tuple[Ending, float] | None = None
    if chance.random() < 0.2:
        ends = chance.choice(get_args(Ending)), 20 * chance.random() ** 2
    never = made.synthesis == "hangs" and deadline_s is None
    return replace(
        made,
        deadline_s=deadline_s,
        ends=ends,
        budget=chance.choice((made.budget, _more(made.budget), None)),
        synthesis="sound" if never else made.synthesis,
        concurrency=chance.choice((made.concurrency, 1, 8)),
    )


def _more(budget: Budget | None) -> Budget | None:
    if budget is None:
        return None
    return Budget(
        tokens=budget.tokens and budget.tokens * 10,
        requests=budget.requests and budget.requests * 10,
        usd=budget.usd and budget.usd * 10,
    )
