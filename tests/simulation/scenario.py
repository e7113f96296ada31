"""Scenarios: a seed made into a team, a plan, limits, how everybody behaves, and the processes.

Nothing here runs. The same seed gives the same scenario on every machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, get_args

from leadhand.contracts.budget import Budget
from leadhand.contracts.ladder import Rung
from leadhand.contracts.people import Occasion
from leadhand.contracts.planner_kinds import PlannerKind
from leadhand.contracts.task import NO_LIMITS, Limits, Plan, Task
from leadhand.contracts.team import Ladder, RetryRules, Role, TaskTemplate, Team, Worker
from tests.simulation.behaviours import BAD, GOOD, Behaviour

Ending = Literal["stop", "cancel"]
Synthesis = Literal["code", "sound", "slow", "broken", "hangs"]
Whereabouts = Literal["nobody", "away", "by message", "here"]

MAX_ROUNDS = 5
MAX_LEVELS = 2
RESUMED = 0.2
"""The share of the runs that go through more than one process."""
APPROVED = 0.2
"""The share of the other runs of a kind of planner whose plans a person approves."""

RUNGS: tuple[Rung, ...] = get_args(Rung)
TIMEOUTS_S = (0.5, 2.0, 10.0, 60.0, None)


@dataclass(frozen=True, slots=True)
class Scenario:
    seed: int
    team: Team
    plan: Plan
    moods: dict[str, dict[Behaviour, float]]
    """By worker: what it may do, and how likely each is."""
    concurrency: int
    deadline_s: float | None
    ends: tuple[Ending, float] | None
    """How somebody puts an end to the run, and when; none: nobody does."""
    budget: Budget | None
    synthesis: Synthesis
    remedies: bool
    person: bool

    @property
    def comes_to_an_end(self) -> bool:
        """Whether it ends although somebody never answers."""
        return self.deadline_s is not None or self.ends is not None


@dataclass(frozen=True, slots=True)
class Process:
    made: Scenario
    """With the deadline, the budget and the end of this process."""
    number: int = 1
    lost_at: int | None = None
    """The commit after which nothing of it is kept any more; none: it comes to its end."""
    again: float | None = None
    """Where in the plan the task is that is done again with all that depends on it, as a share."""
    people: Whereabouts = "nobody"
    occasions: tuple[Occasion, ...] = ()

    @property
    def seed(self) -> str:
        """In another process chance has other things to say."""
        return f"{self.made.seed} in process {self.number}"


def scenario(seed: int, work: Callable[..., object], kind: PlannerKind | None = None) -> Scenario:
    """`work` is the function of every worker. With a `kind` the plan is its planner's."""
    chance = Random(f"scenario {seed}")
    names = [f"w{number}" for number in range(chance.randint(1, 5))]
    team = _team(chance, names, work)
    team = replace(team, planner=Role(kind=kind, max_rounds=MAX_ROUNDS, max_levels=MAX_LEVELS))
    deadline_s = chance.choice((None, None, None, chance.random(), 20.0, 120.0))
    flat = all(worker.team is None for worker in team.workers)
    manner = chance.choice(("code", "code", *get_args(Synthesis)[1:]))
    budget = Budget(
        tokens=chance.choice((None, 10, 1_000, 20_000)),
        requests=chance.choice((None, 1, 5, 30)),
        usd=chance.choice((None, 0.001, 0.05)),
    )
    times_s = (0.0, chance.random(), 30 * chance.random())
    ends = chance.choice(get_args(Ending)), chance.choice(times_s)
    return Scenario(
        seed=seed,
        team=team,
        # What many tasks do is the matter of the seeds of no kind.
        plan=_plan(chance, names, max_tasks=8 if kind is not None else 60 if flat else 12),
        moods={name: _mood(chance) for name in names},
        concurrency=chance.choice((1, 2, 3, 8, 64)),
        deadline_s=deadline_s,
        ends=ends if chance.random() < 0.25 else None,
        budget=budget if chance.random() < 0.3 else None,
        # Where there is no deadline, what hangs may hang for ever.
        synthesis="code" if manner == "hangs" and deadline_s is None else manner,
        remedies=chance.random() < 0.7,
        person=chance.random() < 0.3,
    )


def _mood(chance: Random) -> dict[Behaviour, float]:
    share = chance.choice((0.0, 0.1, 0.3, 0.6, 1.0))
    bad = chance.sample(BAD, chance.randint(1, 5))
    good = {one: weight * (1 - share) / sum(GOOD.values()) for one, weight in GOOD.items()}
    return good | dict.fromkeys(bad, share / len(bad))


def _limits(chance: Random) -> Limits:
    if chance.random() < 0.5:
        return NO_LIMITS
    return Limits(timeout_s=chance.choice(TIMEOUTS_S), tier=chance.choice((None, "fast")))


# Teams


def _team(chance: Random, names: list[str], work: Callable[..., object], depth: int = 0) -> Team:
    """A team with teams within it, at most three deep; those have a template."""
    workers = [_worker(chance, name, names, work) for name in names]
    if depth < 3 and chance.random() < (0.25, 0.3, 0.3)[depth]:
        place = chance.randrange(len(workers))
        inner = _team(chance, names, work, depth + 1)
        workers[place] = replace(workers[place], run=None, offline=None, team=inner)
    tasks = _plan(chance, names, max_tasks=6).tasks if depth else ()
    return Team(
        f"level{depth}",
        workers=tuple(workers),
        template=template_of(tasks),
        retry=RetryRules(
            max_attempts=chance.choice((1, 2, 3, 3, 3, 6)),
            backoff_s=chance.choice(((), (0.0,), (1.0, 2.0), (0.5, 30.0))),
            retry_share=chance.choice((0.0, 0.2, 1.0)),
        ),
        ladder=_ladder(chance),
        limits=NO_LIMITS if depth else Limits(timeout_s=chance.choice((5.0, 30.0, None))),
    )


def template_of(tasks: Sequence[Task]) -> tuple[TaskTemplate, ...]:
    return tuple(
        TaskTemplate(
            task.id,
            task.worker,
            task.intent,
            depends_on=task.depends_on,
            tolerates_missing=task.tolerates_missing,
            limits=task.limits,
        )
        for task in tasks
    )


def _worker(chance: Random, name: str, names: list[str], work: Callable[..., object]) -> Worker:
    others = [other for other in names if other != name]
    by_model = chance.random() < 0.6
    return Worker(
        name,
        f"does {name}",
        run=None if by_model else work,
        offline=work if by_model else None,
        fallback=chance.choice((None, *others)) if others else None,
        concurrency=chance.choice((None, None, 1, 2)),
        max_queue=chance.choice((None, None, 0, 2)),
        role=chance.choice((None, "any")),
        limits=_limits(chance),
    )


def _ladder(chance: Random) -> Ladder:
    def rungs(usually: Sequence[Rung]) -> Sequence[Rung]:
        if chance.random() < 0.4:
            return usually
        return tuple(chance.sample(RUNGS, chance.randint(0, len(RUNGS))))

    names = ("failed", "out_of_scope", "ambiguous_input", "low_confidence", "timeout")
    return Ladder(
        **{name: rungs(getattr(Ladder(), name)) for name in names},
        breaker_failures=chance.choice((1, 2, 5)),
        breaker_pause_s=chance.choice((0.5, 10.0)),
    )


# Plans


def _plan(chance: Random, names: list[str], *, max_tasks: int = 60) -> Plan:
    count = chance.randint(1, min(max_tasks, chance.choice((4, 12, 12, 30, 60))))
    density = chance.choice((0.0, 0.3, 0.8))
    tolerant = chance.choice((0.0, 0.3, 1.0))
    reach = chance.choice((2, 8, 60))
    tasks: list[Task] = []
    for number in range(count):
        earlier = [task.id for task in tasks[-reach:]]
        needs = chance.sample(earlier, min(len(earlier), chance.randint(1, 4)))
        tasks.append(
            Task(
                id=f"t{number}",
                worker=chance.choice(names),
                intent=f"find out part {number} and say where it is from",
                depends_on=tuple(needs) if chance.random() < density else (),
                tolerates_missing=chance.random() < tolerant,
                limits=_limits(chance) if chance.random() < 0.3 else NO_LIMITS,
            )
        )
    chance.shuffle(tasks)
    strategy = chance.choice(("merge", "merge", "last", "select"))
    return Plan(goal="get it all done", tasks=tuple(tasks), synthesis=strategy)


# Processes


def processes(made: Scenario) -> list[Process]:
    chance = Random(f"processes {made.seed}")
    of_a_kind = made.team.planner.kind is not None
    if chance.random() >= RESUMED:
        if of_a_kind and chance.random() < APPROVED:
            return [Process(made, people="here", occasions=("plan", "escalation"))]
        return [
            Process(made, people="here" if made.person else "nobody", occasions=("escalation",))
        ]
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
