"""The kinds of supervisor that the conformance suite goes through; a new one is a line here."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from leadhand import Handoff, Role, Route, Supervisor, Team, Worker, WorkerFactory
from leadhand.contracts.answer import Answer
from leadhand.contracts.budget import Budget
from leadhand.contracts.events import Event
from leadhand.contracts.people import Occasion
from leadhand.contracts.planner_kinds import PlannerKind
from leadhand.contracts.role import Guess
from leadhand.contracts.team import TaskTemplate, WorkFunction
from leadhand.journal import MemoryJournal
from leadhand.run.people import Ask
from leadhand.testing import VirtualClock, run_virtual
from leadhand.testing.json_data import Json, Object
from tests.models.in_process import InProcess
from tests.run.resuming.story import RUN
from tests.simulation.rules import rules

REQUEST = "Compare the prices of copper and zinc"
EARLIER = "earlier"


def unchanged(team: Team) -> Team:
    """The team of a kind without options."""
    return team


def early(team: Team) -> Team:
    """The team whose tasks start while the planner still writes."""
    workers = [replace(worker, read_only=True) for worker in team.workers]
    return replace(team, workers=workers, early_start=True)


@dataclass(frozen=True)
class Kind:
    """A kind of supervisor, or a variant of one, with a request for which it starts known tasks."""

    name: str
    planner: PlannerKind
    tasks: int
    """How many tasks the request becomes, with the workers `a`, `b` and `c`."""
    calls: int
    """How many model calls that takes, if each worker makes one."""
    calls_of_one_task: int
    """The same for the worker `a` alone, without the script."""
    routes: Sequence[Route] = ()
    script: tuple[Object, ...] = ()
    """What the model says besides what it says by default."""
    variant: Callable[[Team], Team] = unchanged
    """Changes the team: its options, its workers."""
    made: int = 0
    """How many of the tasks are done by workers made for the plan, always by the model."""
    tokens_per_s: float = 0.0
    """How fast the model writes; 0: at once."""
    follows: bool = False
    """Whether the request follows an earlier run."""
    within: int = 0
    """How many tasks the nested plan has for the one that is broken down, if any."""

    @property
    def leaves(self) -> int:
        """How many tasks a worker does."""
        return self.tasks + self.within - (self.within > 0)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Classifier:
    """A trained router that sends every text to the same worker."""

    workers: tuple[str, ...] = ("a",)

    def guess(self, text: str) -> Guess:
        return Guess("a", 0.9, accepted=True)


def trained(of: Team) -> Team:
    """The team with a trained router."""
    return replace(of, trained_router=Classifier())


def decision(*workers: str, round: int, done: bool = False) -> Object:
    """A decision of a stepwise planner: a task for each of these workers."""
    tasks: list[Json] = [
        {
            "id": f"{worker}{round}",
            "worker": worker,
            "intent": f"Find figures, part {round}, on copper and zinc",
            "depends_on": [],
        }
        for worker in workers
    ]
    return {"reason": f"round {round}", "tasks": tasks, "ask_again": "all", "done": done}


def deciding(*decisions: Object) -> tuple[Object, ...]:
    """A script in which a stepwise planner decides this, round by round."""
    return tuple(
        {
            "match": {"tool": "decide_next", "contains": f"{12 - number} of 12"},
            "reply": {"json": one},
        }
        for number, one in enumerate(decisions)
    )


def smelters(metal: str) -> str:
    """Names the smelters of a metal."""
    return f"smelters of {metal}"


def with_factory(team: Team) -> Team:
    """The team, with a catalogue of tools for workers made for a plan."""
    return replace(team, worker_factory=WorkerFactory(tools=[smelters]))


MADE: Object = {
    "match": {"role": "planner"},
    "reply": {
        "json": {
            "workers": [
                {
                    "name": "made",
                    "description": "Knows metals",
                    "instructions": "Find metals.",
                    "tools": [],
                }
            ],
            "tasks": [
                {"id": name, "worker": name, "intent": f"Find {name} on copper and zinc"}
                for name in ("a", "b", "made")
            ],
        }
    },
}
STEPS = deciding(decision("a", "b", round=1), decision("c", round=2), decision(round=3, done=True))


def plan(*tasks: Object) -> Object:
    return {"tasks": [*tasks], "synthesis": "merge", "instruction": ""}


def part(id: str, worker: str, intent: str, *, break_down: bool = False) -> Object:
    asked: Object = {"id": id, "worker": worker, "intent": intent, "depends_on": []}
    return {**asked, "break_down": break_down}


def planning(nested: Object, first: Object) -> tuple[Object, ...]:
    """A script in which a recursive planner plans this, for each task that is broken down, and
    first of all."""
    below: Object = {"role": "planner", "contains": "one part of a larger request"}
    return (
        {"match": below, "reply": {"json": nested}},
        {"match": {"role": "planner"}, "reply": {"json": first}},
    )


BROKEN_DOWN = "m"
LEVELS = planning(
    plan(part("x", "a", "Find figures on copper in Chile"), part("y", "b", "Find zinc in Chile")),
    plan(
        part(BROKEN_DOWN, "a", "Compare copper and zinc in Chile", break_down=True),
        part("n", "c", "Find figures on both in Peru"),
    ),
)
WRITTEN: Object = {
    "match": {"role": "planner"},
    "reply": {
        "json": {
            "tasks": [
                {"id": worker, "worker": worker, "intent": f"Find figures on {worker}"}
                for worker in "abc"
            ]
        }
    },
}
"""A short plan, as it is written many times."""
ROUTES = [Route("a", words=["copper"])]
BESIDE = [Route("a", words=["copper"], also=["b"])]
CHOICE: tuple[Object, ...] = (
    {
        "match": {"tool": "choose_worker"},
        "reply": {"json": {"why": "it knows a", "worker": "a", "confidence": 90}},
    },
)
KINDS = (
    Kind("ahead", "ahead", tasks=3, calls=3 + 2, calls_of_one_task=1 + 1),
    Kind("stepwise", "stepwise", tasks=3, calls=3 + 3 + 1, calls_of_one_task=1 + 2, script=STEPS),
    Kind(
        "recursive",
        "recursive",
        tasks=2,
        calls=3 + 2 + 2,
        calls_of_one_task=1 + 1,
        script=LEVELS,
        within=2,
    ),
    Kind(
        "recursive early start",
        "recursive",
        tasks=2,
        calls=3 + 2 + 2,
        calls_of_one_task=1 + 1,
        script=LEVELS,
        within=2,
        variant=early,
        tokens_per_s=50.0,
    ),
    Kind("routed", "routed", tasks=1, calls=1, calls_of_one_task=1, routes=ROUTES),
    Kind("also", "routed", tasks=2, calls=2 + 1, calls_of_one_task=1, routes=BESIDE),
    Kind("trained", "routed", tasks=1, calls=1, calls_of_one_task=1, variant=trained),
    Kind("model", "routed", tasks=1, calls=1 + 1, calls_of_one_task=1 + 1, script=CHOICE),
    Kind("template", "template", tasks=3, calls=3 + 1, calls_of_one_task=1),
    Kind(
        "factory",
        "ahead",
        tasks=3,
        calls=3 + 2,
        calls_of_one_task=1 + 1,
        script=(MADE,),
        made=1,
        variant=with_factory,
    ),
    Kind(
        "early start",
        "ahead",
        tasks=3,
        calls=3 + 2,
        calls_of_one_task=1 + 1,
        script=(WRITTEN,),
        variant=early,
        tokens_per_s=50.0,
    ),
    Kind("follow-up", "ahead", tasks=3, calls=3 + 2, calls_of_one_task=1 + 1, follows=True),
)


def team(
    kind: Kind, model: object, *, run: WorkFunction | None = None, workers: str = "abc"
) -> Team:
    """A team of that kind; `run` does the work of its workers instead of the model."""
    routes = [replace(one, also=[n for n in one.also if n in workers]) for one in kind.routes]
    return kind.variant(
        Team(
            "metals",
            model=model,
            workers=[
                Worker(name, f"Knows {name}", run=run, instructions=f"Find {name}.", retry=False)
                for name in workers
            ],
            routes=routes,
            template=[TaskTemplate(name, name, f"Find figures on {name}") for name in workers],
            planner=Role(kind=kind.planner),
        )
    )


def around(inner: Team) -> Team:
    worker = Worker("inner", "Knows metals", team=inner)
    return Team("outer", workers=[worker], planner="template")


def supervisor(
    of: Team,
    *,
    journal: MemoryJournal | None = None,
    budget: Budget | None = None,
    deadline_s: float | None = 600.0,
    approve: Sequence[Occasion] | None = None,
    person: Ask | None = None,
    concurrency: int = 64,
) -> Supervisor:
    """A supervisor in virtual time."""
    return Supervisor(
        of,
        journal=journal,
        budget=budget,
        deadline_s=deadline_s,
        approve=approve,
        person=person,
        concurrency=concurrency,
        clock=VirtualClock(),
    )


def ask(
    kind: Kind, of: Team, *, journal: MemoryJournal | None = None, **settings: object
) -> tuple[Answer, Sequence[Event]]:
    """The answer to the request, and the log; `settings` are those of `supervisor`.

    Whatever happens, the log keeps to the rules that the simulation checks.
    """
    journal = journal or MemoryJournal()
    for event in _earlier() if kind.follows else ():
        journal.append(event)
    by = supervisor(of, journal=journal, **settings)  # pyright: ignore[reportArgumentType]
    after = EARLIER if kind.follows else None
    answer = run_virtual(by.run(REQUEST, run_id=RUN, after=after))
    return answer, log_of(journal, of)


def log_of(journal: MemoryJournal, of: Team) -> Sequence[Event]:
    events = journal.store.events(RUN)
    assert [*rules(events, of)] == []
    return events


@functools.cache
def _earlier() -> Sequence[Event]:
    journal = MemoryJournal()
    of = Team("metals", workers=[Worker("a", "Knows a", run=works)], planner="template")
    run_virtual(supervisor(of, journal=journal).run("Find the price of tin", run_id=EARLIER))
    return journal.store.events(EARLIER)


def endpoint(kind: Kind, *script: Object) -> InProcess:
    """A model for that kind, which answers by this script first."""
    return InProcess(script=[*script, *kind.script], tokens_per_s=kind.tokens_per_s)


async def works(handoff: Handoff) -> str:
    return f"{handoff.to_agent}: {handoff.intent}"


async def fails(handoff: Handoff) -> str:
    raise ValueError(f"{handoff.to_agent} can't")
