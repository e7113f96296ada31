"""The planners of simulated runs, by kind: each plans by chance what its kind plans, or can't."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from leadhand.contracts.planner_kinds import Decision, PlannerKind, Round
from leadhand.contracts.role import SUBPLANNER, Route
from leadhand.contracts.task import Limits, Plan, PlanRequest, Task
from leadhand.contracts.team import Team
from leadhand.errors import ModelError
from leadhand.planners.early_tasks import EarlyTasks, SoundTasks
from tests.simulation.scenario import Process, Scenario, template_of

KINDS: tuple[PlannerKind, ...] = ("ahead", "stepwise", "recursive", "routed", "template")


def of_kind(made: Scenario, kind: PlannerKind) -> Scenario:
    """The scenario with what a planner of that kind goes by."""
    chance, team = Random(f"{kind} {made.seed}"), made.team
    names = [worker.name for worker in team.workers]
    if chance.random() < (0.9 if kind == "template" else 0.3):
        team = replace(team, template=template_of(made.plan.tasks))
    if kind == "routed":
        routes = [_route(chance, names) for _ in range(chance.choice((0, 1, 1, 2)))]
        routes.sort(key=lambda route: route.is_default)  # what is behind it is never reached
        team = replace(team, routes=routes)
    if kind == "ahead" and chance.random() < 0.5:  # tasks start while the planner writes
        share = chance.choice((0.3, 0.9, 1.0))
        workers = [replace(one, read_only=chance.random() < share) for one in team.workers]
        team = replace(team, workers=workers, early_start=True)
    return replace(made, team=team)


def _route(chance: Random, names: Sequence[str]) -> Route:
    """A rule that matches the request, or another one, or takes everything."""
    worker, *others = chance.sample(names, len(names))
    also = others[: chance.choice((0, 0, 1, 2))]
    secondary = chance.choice((None, *others[len(also) :]))
    words = chance.choice((("all",), ("all",), ("nothing",), ()))
    return Route(worker, secondary=secondary, also=also, words=words)


class ScriptedPlanner:
    name = "scripted"

    def __init__(self, process: Process) -> None:
        self._chance = Random(f"planner {process.seed}")
        self._drafts = Random(f"drafts {process.seed}")
        self._plan = process.made.plan
        self._may_never = process.made.comes_to_an_end
        self.early: EarlyTasks | None = None
        """What starts tasks of its drafts, if the team has them started."""

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """Whatever it is, the same for the same seed and process."""
        if self.early is not None and self.early.start is not None:
            for _ in range(self._drafts.choice((1, 1, 2))):
                await self._write(SoundTasks(self.early, request, team))
        chance = self._chance
        await _thinks(chance, may_never=self._may_never)
        if chance.random() < 0.85:
            return self._plan
        first, *others = self._plan.tasks
        needs, worker = chance.choice((first.id, "nowhere")), chance.choice((first.worker, "no"))
        change = {"depends_on": (needs,), "worker": worker}
        return self._plan.model_copy(update={"tasks": (first.model_copy(update=change), *others)})

    async def _write(self, tasks: SoundTasks) -> None:
        """Write a draft, whose tasks may be others than those of the plan, in another order."""
        chance = self._drafts
        drafted = [task for task in self._plan.tasks if chance.random() < 0.95]
        if chance.random() < 0.2:
            chance.shuffle(drafted)
        for task in drafted:
            if chance.random() < 0.5:
                await asyncio.sleep(chance.expovariate(1.0))
            change = chance.choice(
                ({"intent": "find the figures of tin"}, {"depends_on": ()}, {"worker": "nobody"})
            )
            tasks.add(task if chance.random() < 0.93 else task.model_copy(update=change))


class ScriptedDecider:
    """Decides soundly, or what can't be done, or late, or not at all, as chance has it."""

    name = "scripted"

    def __init__(self, process: Process) -> None:
        self._seed = f"decider {process.seed}"
        self._workers = [worker.name for worker in process.made.team.workers]
        self._may_never = process.made.comes_to_an_end
        self._asked = 0

    async def decide(
        self, now: Round, *, problems: Callable[[Decision], Sequence[str]]
    ) -> Decision:
        """Some tasks, the same as before, none, or an error; it listens to problems once."""
        self._asked += 1
        chance = Random(f"{self._seed} {self._asked}")
        await _thinks(chance, may_never=self._may_never)
        decision = self._decision(chance, now)
        return self._decision(chance, now) if problems(decision) else decision

    def _decision(self, chance: Random, now: Round) -> Decision:
        count = chance.choice((0, 1, 1, 2, 3)) if now.tasks else chance.choice((1, 2, 3, 12))
        ids = [f"d{number}" for number in range(count)]
        known = [one.task.id for one in now.tasks]
        tasks = [self._task(chance, id, [*known, *ids[:at]], now) for at, id in enumerate(ids)]
        return Decision(
            tuple(tasks),
            reason=chance.choice(("there is more to know", "", "\x1b[2J")),
            asks_after=chance.choice(("all", "first")),
            done=not tasks if chance.random() < 0.7 else chance.random() < 0.5,
        )

    def _task(self, chance: Random, id: str, others: Sequence[str], now: Round) -> Task:
        others = [*others, *(["nowhere"] if chance.random() < 0.02 else [])]
        part = chance.randrange(3) if chance.random() < 0.1 else chance.random()
        return Task(
            id=id if chance.random() < 0.2 else f"{id}-{now.number}",
            worker="nobody" if chance.random() < 0.02 else chance.choice(self._workers),
            intent=f"find out part {part} and say where it is from",
            depends_on=chance.sample(others, min(len(others), chance.choice((0, 0, 1, 2)))),
            tolerates_missing=chance.random() < 0.7,
        )


class LevelsPlanner:
    """Plans each level soundly, or what can't be done, or late, or not at all."""

    name = "scripted"

    def __init__(self, process: Process) -> None:
        self._seed = f"planner {process.seed}"
        self._workers = [worker.name for worker in process.made.team.workers]
        self._may_never = process.made.comes_to_an_end

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """Some tasks, some of them to be broken down, or an error."""
        chance = Random(f"{self._seed} {request.text}")
        await _thinks(chance, may_never=self._may_never)
        ids = [f"t{number}" for number in range(chance.choice((1, 2, 3, 6)))]
        deeper = 0.4 if team.planner.max_levels else 0.03
        tasks = [
            Task(
                id=id,
                worker=SUBPLANNER if chance.random() < deeper else chance.choice(self._workers),
                # The same request once more would never end.
                intent=request.text if chance.random() < 0.03 else f"part {id} {chance.random()}",
                depends_on=chance.sample(ids[:at], min(at, chance.choice((0, 0, 1, 2)))),
                tolerates_missing=chance.random() < 0.5,
                limits=Limits(timeout_s=chance.choice((None, None, None, 5.0))),
            )
            for at, id in enumerate(ids)
        ]
        strategy = chance.choice(("merge", "merge", "last", "select"))
        return Plan(goal=request.text, tasks=tasks, synthesis=strategy)


async def _thinks(chance: Random, *, may_never: bool) -> None:
    way = chance.random()
    if way < 0.04 and may_never:
        await asyncio.get_running_loop().create_future()
    elif way < 0.1:
        errors = (ModelError("no model", transient=True), RuntimeError("no idea"), KeyError(1))
        raise chance.choice(errors)
    elif way < 0.6:
        await asyncio.sleep(chance.expovariate(1.0))
