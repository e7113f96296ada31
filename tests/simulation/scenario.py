"""Scenarios: a seed made into a team, a plan, limits, and how everybody will behave. Pure chance.

Nothing here runs. The same seed gives the same scenario on every machine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, get_args

from leadhand.contracts.budget import Budget
from leadhand.contracts.earlier import EarlierRun
from leadhand.contracts.task import NO_LIMITS, Limits, Plan, Task
from leadhand.contracts.team import (
    Ladder,
    PlannerKind,
    RetryRules,
    Role,
    Rung,
    TaskTemplate,
    Team,
    Worker,
)
from tests.simulation.behaviours import BAD, GOOD, Behaviour
from tests.simulation.levels import MAX_LEVELS
from tests.simulation.rounds import MAX_ROUNDS

Ending = Literal["stop", "cancel"]
Synthesis = Literal["code", "sound", "slow", "broken", "hangs"]

RUNGS: tuple[Rung, ...] = get_args(Rung)
TIMEOUTS_S = (0.5, 2.0, 10.0, 60.0, None)


@dataclass(frozen=True, slots=True)
class Scenario:
    """All that chance decides beforehand."""

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
    after: tuple[EarlierRun, ...] = ()
    """The runs that it follows, the latest first."""


def scenario(
    seed: int, work: Callable[..., object], *, nesting: bool, kind: PlannerKind | None = None
) -> Scenario:
    """The scenario of a seed; `work` is the function of every worker.

    With `nesting` some workers are teams; without, a model is said to do the work of some. With a
    `kind` the plan is its planner's, and `of_kind` says what that one goes by.
    """
    chance = Random(f"scenario {seed}")
    names = [f"w{number}" for number in range(chance.randint(1, 5))]
    team = _team(chance, names, work, nesting=nesting)
    team = replace(team, planner=Role(kind=kind, max_rounds=MAX_ROUNDS, max_levels=MAX_LEVELS))
    moods = {name: _mood(chance) for name in names}
    deadline_s = chance.choice((None, None, None, chance.random(), 20.0, 120.0))
    return Scenario(
        seed=seed,
        team=team,
        plan=_plan(chance, names, max_tasks=_most_tasks(team, kind)),
        moods=moods,
        concurrency=chance.choice((1, 2, 3, 8, 64)),
        deadline_s=deadline_s,
        ends=_ends(chance),
        budget=_budget(chance) if nesting and chance.random() < 0.3 else None,
        synthesis=_synthesis(chance, deadline_s),
        remedies=chance.random() < 0.7,
        person=chance.random() < 0.3,
    )


def _most_tasks(team: Team, kind: PlannerKind | None) -> int:
    """Enough to be worth its time: what many tasks do is the matter of the seeds of no kind."""
    if kind is not None:
        return 8
    return 60 if all(worker.team is None for worker in team.workers) else 12


def _mood(chance: Random) -> dict[Behaviour, float]:
    share = chance.choice((0.0, 0.1, 0.3, 0.6, 1.0))
    bad = chance.sample(BAD, chance.randint(1, 5))
    good = {one: weight * (1 - share) / sum(GOOD.values()) for one, weight in GOOD.items()}
    return good | dict.fromkeys(bad, share / len(bad))


def _ends(chance: Random) -> tuple[Ending, float] | None:
    if chance.random() < 0.75:
        return None
    return chance.choice(get_args(Ending)), chance.choice(
        (0.0, chance.random(), 30 * chance.random())
    )


def _synthesis(chance: Random, deadline_s: float | None) -> Synthesis:
    manner = chance.choice(("code", "code", *get_args(Synthesis)[1:]))
    # Where there is no deadline, what hangs may hang for ever.
    return "code" if manner == "hangs" and deadline_s is None else manner


def _budget(chance: Random) -> Budget:
    return Budget(
        tokens=chance.choice((None, 10, 1_000, 20_000)),
        requests=chance.choice((None, 1, 5, 30)),
        usd=chance.choice((None, 0.001, 0.05)),
    )


def _limits(chance: Random) -> Limits:
    if chance.random() < 0.5:
        return NO_LIMITS
    return Limits(timeout_s=chance.choice(TIMEOUTS_S), tier=chance.choice((None, "fast")))


# Teams


def _team(chance: Random, names: list[str], work: Callable[..., object], *, nesting: bool) -> Team:
    workers = [_worker(chance, name, names, work, nesting=nesting) for name in names]
    if nesting and chance.random() < 0.4:
        place = chance.randrange(len(workers))
        inner = _inner_team(chance, names, work, depth=1)
        workers[place] = replace(
            workers[place], run=None, offline=None, team=inner, min_confidence=None
        )
    return Team(
        "simulated",
        workers=tuple(workers),
        models={} if nesting else {"standard": ("x:small",), "strong": ("x:large",)},
        retry=_retry(chance),
        ladder=_ladder(chance),
        limits=Limits(timeout_s=chance.choice((5.0, 30.0, None))),
    )


def _inner_team(
    chance: Random, names: list[str], work: Callable[..., object], *, depth: int
) -> Team:
    workers = [_worker(chance, name, names, work, nesting=True) for name in names]
    if depth < 3 and chance.random() < 0.3:
        inner = _inner_team(chance, names, work, depth=depth + 1)
        workers[0] = replace(workers[0], run=None, offline=None, team=inner)
    tasks = _plan(chance, names, max_tasks=6).tasks
    return Team(
        f"inner{depth}",
        workers=tuple(workers),
        template=template_of(tasks),
        retry=_retry(chance),
        ladder=_ladder(chance),
    )


def template_of(tasks: Sequence[Task]) -> tuple[TaskTemplate, ...]:
    """A team's template with these tasks."""
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


def _worker(
    chance: Random, name: str, names: list[str], work: Callable[..., object], *, nesting: bool
) -> Worker:
    others = [other for other in names if other != name]
    by_model = chance.random() < 0.6
    return Worker(
        name,
        f"does {name}",
        run=None if by_model else work,
        offline=work if by_model and nesting else None,
        fallback=chance.choice((None, *others)) if others else None,
        concurrency=chance.choice((None, None, 1, 2)),
        max_queue=chance.choice((None, None, 0, 2)),
        role=chance.choice((None, "any")),
        limits=_limits(chance),
    )


def _retry(chance: Random) -> RetryRules:
    return RetryRules(
        max_attempts=chance.choice((1, 2, 3, 3, 3, 6)),
        backoff_s=chance.choice(((), (0.0,), (1.0, 2.0), (0.5, 30.0))),
        retry_share=chance.choice((0.0, 0.2, 1.0)),
    )


def _ladder(chance: Random) -> Ladder:
    usual = Ladder()

    def rungs(usually: Sequence[Rung]) -> Sequence[Rung]:
        if chance.random() < 0.4:
            return usually
        return tuple(chance.sample(RUNGS, chance.randint(0, len(RUNGS))))

    return Ladder(
        failed=rungs(usual.failed),
        out_of_scope=rungs(usual.out_of_scope),
        ambiguous_input=rungs(usual.ambiguous_input),
        low_confidence=rungs(usual.low_confidence),
        timeout=rungs(usual.timeout),
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
