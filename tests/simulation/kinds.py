"""The kinds of planner that have seeds of their own: what each goes by, and what its runs promise.

Some of their runs follow an earlier one. What every run promises is in `promises`.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from leadhand.contracts.earlier import PREVIOUS, EarlierResult, EarlierRun, earlier_results
from leadhand.contracts.events import PlanProposed
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.routes import Guess, Route
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import PlannerKind, Team
from leadhand.errors import ModelError
from leadhand.planners.early_tasks import EarlyTasks, SoundTasks
from tests.simulation.recording import Recording
from tests.simulation.scenario import Scenario, template_of
from tests.simulation.seen import Seen

KINDS: tuple[PlannerKind, ...] = ("ahead", "stepwise", "recursive", "routed", "template")
SCRIPTED, TEMPLATE, ROUTER, IN_DOUBT = "scripted", "template", "router", "router in doubt"
PLANS_BY = {
    "ahead": (SCRIPTED, TEMPLATE),
    "stepwise": (SCRIPTED, TEMPLATE),
    "recursive": (SCRIPTED, TEMPLATE),
    "routed": (ROUTER, IN_DOUBT),
    "template": (TEMPLATE,),
}
"""Who, besides a person, proposes the plan of each kind."""
MATCHING = ("all",)
"""Words of a rule that the request has."""


def of_kind(made: Scenario, kind: PlannerKind) -> Scenario:
    """The scenario with what a planner of that kind goes by."""
    chance, team, plan = Random(f"{kind} {made.seed}"), made.team, made.plan
    names = [worker.name for worker in team.workers]
    after = _earlier(chance, team) if chance.random() < 0.3 else ()
    if after:
        named = [chance.choice(((), (PREVIOUS,), (PREVIOUS, f"{PREVIOUS}/e0"))) for _ in plan.tasks]
        tasks = [
            task.model_copy(update={"artifacts": some})
            for task, some in zip(plan.tasks, named, strict=True)
        ]
        plan = plan.model_copy(update={"tasks": tuple(tasks)})
    if chance.random() < (0.9 if kind == "template" else 0.3):
        team = replace(team, template=template_of(made.plan.tasks))
    if kind == "routed":
        routes = [_route(chance, names) for _ in range(chance.choice((0, 1, 1, 2)))]
        trained = TrainedRouter.by_chance(chance, names) if chance.random() < 0.4 else None
        routes.sort(key=lambda route: route.is_default)  # what is behind it is never reached
        team = replace(team, routes=routes, trained_router=trained)
    if kind == "ahead":
        team = _early(Random(f"early {made.seed}"), team)
    return replace(made, team=team, plan=plan, after=after)


def _early(chance: Random, team: Team) -> Team:
    """The team, perhaps one whose tasks start while the planner writes."""
    if chance.random() < 0.5:
        return team
    share = chance.choice((0.3, 0.9, 1.0))
    workers = [replace(one, read_only=chance.random() < share) for one in team.workers]
    return replace(team, workers=workers, early_start=True)


def _earlier(chance: Random, team: Team) -> tuple[EarlierRun, ...]:
    """The run before, by this team or another, and perhaps the one before that."""

    def result(number: int) -> EarlierResult:
        done = number == 0 or chance.random() < 0.5
        return EarlierResult(
            task_id=f"e{number}",
            worker=chance.choice(team.workers).name,
            intent="find out what there was",
            status="completed" if done else "failed",
            summary=chance.choice(("", "half of it", "\x1b[2J")),
            output={"found": number} if done else None,
            why=None if done else "the disk was full",
        )

    return tuple(
        EarlierRun(
            run_id=f"before{number}",
            team=chance.choice((team.name, "another")),
            request="do the first half",
            status="partial",
            answer="# The first half",
            results=tuple(result(number) for number in range(chance.choice((1, 1, 3)))),
        )
        for number in range(chance.choice((1, 2)))
    )


def _route(chance: Random, names: Sequence[str]) -> Route:
    """A rule that matches the request, or another one, or takes everything."""
    worker, *others = chance.sample(names, len(names))
    also = others[: chance.choice((0, 0, 1, 2))]
    secondary = chance.choice((None, *others[len(also) :]))
    words = chance.choice((MATCHING, MATCHING, ("nothing",), ()))
    return Route(worker, secondary=secondary, also=also, words=words)


@dataclass(frozen=True)
class TrainedRouter:
    """A classifier that says the same of every text."""

    workers: Sequence[str]
    said: Guess

    @classmethod
    def by_chance(cls, chance: Random, names: Sequence[str]) -> "TrainedRouter":
        """One that is sure, in doubt, or knows nothing like it."""
        worker = chance.choice((None, *names))
        sure = worker is not None and chance.random() < 0.5
        return cls(names, Guess(worker, 0.9 if sure else 0.3, sure))

    def guess(self, text: str) -> Guess:
        """The same every time."""
        return self.said


class ScriptedPlanner:
    """Gives the scenario's plan or an unsound one, late or never, or raises."""

    name = SCRIPTED

    def __init__(self, made: Scenario, *, process: int, may_never: bool) -> None:
        """`may_never`: whether the run comes to its end although a plan never comes."""
        self._chance = Random(f"planner {made.seed} in process {process}")
        self._plan = made.plan
        self._may_never = may_never
        self._drafts = Random(f"drafts {made.seed} in process {process}")
        self.early: EarlyTasks | None = None
        """What starts tasks of its drafts, if the team has them started."""

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """Whatever it is, the same for the same seed and process."""
        if self.early is not None and self.early.start is not None:
            for _ in range(self._drafts.choice((1, 1, 2))):
                await self._write(SoundTasks(self.early, request, team))
        chance = self._chance
        if self._may_never and chance.random() < 0.04:
            await asyncio.get_running_loop().create_future()
        if chance.random() < 0.5:
            await asyncio.sleep(chance.expovariate(1.0))
        if chance.random() < 0.15:
            errors = (ModelError("no model", transient=True), RuntimeError("no idea"), KeyError(1))
            raise chance.choice(errors)
        if chance.random() < 0.85:
            return self._plan
        first, *others = self._plan.tasks
        change = chance.choice(
            (
                {"depends_on": (first.id,)},
                {"depends_on": ("nowhere",)},
                {"worker": "nobody"},
                {"artifacts": (f"{PREVIOUS}/nothing",)},
            )
        )
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


def planned(recording: Recording) -> Iterator[str]:
    """The plan is made by those, and of that, that its kind goes by."""
    made = recording.scenario
    kind = made.team.planner.kind
    if kind is None:
        return
    for event in recording.events:
        if not isinstance(event, PlanProposed) or event.within or event.task_id is not None:
            continue
        if event.by == "person":
            continue
        if event.by not in PLANS_BY[kind]:
            yield f"event {event.seq}: {event.by} plans, and the planner is {kind}"
        right = _right(made, event.by)
        workers = [(task.id, task.worker) for task in event.plan.tasks]
        if right is not None and workers != right:
            yield f"event {event.seq}: {event.by} gave {workers}, and {right} is right"


def told_of_earlier(recording: Recording, task: Seen | None, handoff: Handoff) -> Iterator[str]:
    """A task is given what it names of the runs before, and nothing else of them."""
    known = earlier_results(recording.scenario.after)
    named = [name for name in task.task.artifacts if name in known] if task is not None else []
    told = [one.task_id for one in handoff.context if one.task_id.startswith(PREVIOUS)]
    if told != named:
        yield f"{handoff.task_id} names {named} of the runs before, and was told of {told}"
    given = {name: handoff.inputs.get(name) for name in handoff.inputs if name.startswith(PREVIOUS)}
    right: dict[str, object] = {}
    for name in named:
        one = known[name]
        if isinstance(one, EarlierRun):
            right[name] = one.answer
        elif one.output is not None:
            right[name] = one.output
    if given != right:
        yield f"{handoff.task_id} was given {given} of the runs before, not {right}"


def _right(made: Scenario, by: str) -> list[tuple[str, str]] | None:
    """The tasks and workers of a plan by one of `PLANS_BY`; None if it is for them to say."""
    team, kind = made.team, made.team.planner.kind
    if by == TEMPLATE:
        entries = [(entry.id, entry.worker) for entry in team.template]
        return entries or [(worker.name, worker.name) for worker in team.workers]
    if by == SCRIPTED and kind == "ahead":
        return [(task.id, task.worker) for task in made.plan.tasks]
    if by == ROUTER:
        return [(name, name) for name in _placed(made) or _default(team)]
    if by == IN_DOUBT and _placed(made):
        return []  # there is no doubt
    return None


def _placed(made: Scenario) -> tuple[str, ...]:
    """Who gets the request by a rule, by training, or because they had the one before."""
    team, trained = made.team, made.team.trained_router
    for route in team.routes:
        if route.words == MATCHING:
            return (route.worker, *route.also)
    if isinstance(trained, TrainedRouter) and trained.said.accepted and trained.said.worker:
        return (trained.said.worker,)
    before = made.after[0] if made.after and made.after[0].team == team.name else None
    workers = {one.worker for one in before.results if one.output or one.summary} if before else ()
    return tuple(workers) if len(workers) == 1 else ()


def _default(team: Team) -> tuple[str, ...]:
    """Who gets what nobody places."""
    for route in team.routes:
        if not route.words:
            return (route.worker, *route.also)
    return (team.workers[0].name,) if len(team.workers) == 1 else ()
