"""Routing: chooses the worker for a request, and the next one for a task that was handed back.

The team's rules are tried first, then its trained router, then a model; each may abstain.
"""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from leadhand.contracts.outcome import Escalated, Failed, PlanImpact, Result
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.role import Guess
from leadhand.contracts.task import PREVIOUS, EarlierRun, Plan, PlanRequest, Task
from leadhand.contracts.team import Team, Worker
from leadhand.errors import LeadhandError, ModelError
from leadhand.plans.routes import candidates, default_route, reason, route_of
from leadhand.ports import Planner, Remedies
from leadhand.routing.trained import TrainedRouter
from leadhand.state.fold import RunState

_log = logging.getLogger("leadhand")
ROUTER = "router"
"""Who proposes the plan for a request that a step placed."""
IN_DOUBT = "router in doubt"
"""Who proposes the plan for a request that no step placed, about which a person is asked."""
BY_ROUTER = (ROUTER, IN_DOUBT)
JOINED = "Say which worker each part of the answer comes from."
"""For the synthesizer."""


class Chooser(Protocol):
    async def choose(
        self,
        text: str,
        among: Sequence[Worker],
        *,
        said: str = "",
        after: Sequence[EarlierRun] = (),
    ) -> Sequence[str]:
        """The names of the workers that get the text side by side, the likeliest first; none in
        doubt.

        Raises `ModelError`. `said` is the message of the worker that handed it back, `after` the
        runs that it follows.
        """
        ...


class Opinion(NamedTuple):
    """What one step of a router says about a text."""

    step: str
    """`rules`, `trained router`, `model` or `default worker`."""
    workers: tuple[str, ...]
    """Who should get it, the first one first; empty: it abstains."""
    why: str

    @property
    def shown(self) -> str:
        return f"{self.step}: {self.why}"


class Router:
    def __init__(
        self,
        team: Team,
        chooser: Chooser | None = None,
        *,
        failed: Callable[[str], None] = _log.warning,
    ) -> None:
        """`chooser` is used if neither a rule but a default nor the trained router decides;
        `failed` is told why its answer can't be used."""
        self._team = team
        self._chooser = chooser
        self._failed = failed
        self._model = "it is in doubt"
        """Why the chooser chose no worker for a request."""

    def by_code(self, text: str) -> tuple[Opinion, ...]:
        """What the rules and the trained router say, in the order in which they decide."""
        return self._by_rules(text), self._by_training(text)

    @property
    def default(self) -> Opinion:
        """Who gets a text that no step places."""
        route = default_route(self._team.routes)
        if route is not None:
            return Opinion("default worker", route.workers, "its route has no condition")
        if len(self._team.workers) == 1:
            return Opinion("default worker", (self._team.workers[0].name,), "there is no other")
        return Opinion("default worker", (), "no route is without a condition")

    async def first(self, text: str, after: Sequence[EarlierRun] = ()) -> Opinion | None:
        """None if no step places it. If the model's answer can't be used, the default gets it."""
        for opinion in self.by_code(text):
            if opinion.workers:
                return opinion
        if self._chooser is None:
            return None
        try:
            chosen = await self._chooser.choose(text, self._team.workers, after=after)
        except ModelError as error:
            self._model = f"it gave no answer that can be used: {error}"
            return self._without_model(str(error))
        return Opinion("model", tuple(chosen), "the model chose it") if chosen else None

    def late(self, text: str, why: str) -> "Unplaced | None":
        """The same if the model was too slow, which `why` says; None if code places the text."""
        if any(one.workers for one in self.by_code(text)):
            return None
        self._without_model(why)
        return self.unplaced(text, why)

    def _without_model(self, error: str) -> Opinion | None:
        """The default worker, if there is one, because the model chose none."""
        default, why = self.default, f"the router's model chose no worker ({error})"
        gets = " and ".join(default.workers)
        self._failed(f"{why}: {gets}, the default, gets the request" if gets else why)
        return default if gets else None

    def unplaced(self, text: str, model: str | None = None) -> "Unplaced":
        opinions = self.by_code(text)
        why = "; ".join(f"{one.step}: {one.why}" for one in opinions)
        if self._chooser is not None:
            why += f"; model: {model or self._model}"
        made = self._guess(text)
        guess = made.worker if isinstance(made, Guess) else None
        default = self.default.workers
        likeliest = (guess,) if guess is not None else default or (self._likeliest(text),)
        return Unplaced(why, default=default, likeliest=likeliest)

    def _likeliest(self, text: str) -> str:
        """The worker with the highest score, although the trained router knows none for it."""
        router = self._team.trained_router
        known = router.candidates(text) if isinstance(router, TrainedRouter) else ()
        names = [worker for worker, _ in known if worker is not None]
        return names[0] if names else self._team.workers[0].name

    async def reassign(
        self, task: Task, outcome: Escalated | Failed, *, workers: Sequence[str]
    ) -> str | None:
        """As in `Remedies.reassign`; rules and the trained router don't consider the `outcome`."""
        by_rule = [name for name in candidates(self._team.routes, task.intent) if name in workers]
        if by_rule:
            return by_rule[0]
        trained = [name for name in self._by_training(task.intent).workers if name in workers]
        if trained:
            return trained[0]
        others = [worker for worker in self._team.workers if worker.name in workers]
        return await self._chosen(task.intent, others, said=outcome.message)

    def _by_rules(self, text: str) -> Opinion:
        route = route_of(self._team.routes, text)
        if route is None or route.is_default:
            why = "no rule matches" if self._team.routes else "the team has no rules"
            return Opinion("rules", (), why)
        number = [*self._team.routes].index(route) + 1
        return Opinion("rules", route.workers, f"rule {number}: {reason(route, text)}")

    def _by_training(self, text: str) -> Opinion:
        guess = self._guess(text)
        if isinstance(guess, str):
            return Opinion("trained router", (), guess)
        if guess.worker is None:
            return Opinion("trained router", (), "it is unlike the examples of any worker")
        percent = min(int(guess.confidence * 100), 99)
        if not guess.accepted:
            why = f"{guess.worker} is likeliest, but at {percent}% too uncertain"
            return Opinion("trained router", (), why)
        return Opinion("trained router", (guess.worker,), f"{percent}% confident")

    def _guess(self, text: str) -> Guess | str:
        router = self._team.trained_router
        if router is None:
            return "the team has none"
        try:
            guess = router.guess(text)
        except Exception as error:
            # A classifier of the user's own may raise anything; the next step decides.
            _log.warning("the trained router failed", exc_info=error)
            return f"it failed: {type(error).__name__}: {error}"
        if guess.worker is not None and self._team.worker(guess.worker) is None:
            return f"it chose {guess.worker!r}, which is not in the team"
        if not 0 <= guess.confidence <= 1:
            return f"its confidence is {guess.confidence}, not 0 to 1"
        return guess

    async def _chosen(self, text: str, among: Sequence[Worker], *, said: str) -> str | None:
        if self._chooser is None or not among:
            return None
        try:
            return next(iter(await self._chooser.choose(text, among, said=said)), None)
        except ModelError as error:
            _log.warning("the router chose no worker: %s", error)
            return None


class Unplaced(LeadhandError):
    """No step of a team's router places a request.

    A planner raises it; a run asks a person, else takes the default, else ends without a plan.
    """

    def __init__(self, why: str, *, default: Sequence[str], likeliest: Sequence[str]) -> None:
        self.why = why
        self.default = tuple(default)
        self.likeliest = tuple(likeliest)
        super().__init__(f"no worker was found for this request ({why})")


class RoutingPlanner:
    def __init__(self, router: Router, *, otherwise: Planner) -> None:
        self._router = router
        self._otherwise = otherwise
        self.name = ROUTER
        self.why = ""
        """Which step chose the workers of the plan, and why; empty if no step did."""

    def late(self, request: PlanRequest, team: Team, why: str) -> Unplaced | None:
        """Who gets a request if the router's model was too slow; None for other planners."""
        error, before = self._router.late(request.text, why), _as_before(request, team)
        self.why = self._router.default.shown
        if error is None or error.default or before is None:
            return error
        self.why = before.shown
        return Unplaced(error.why, default=before.workers, likeliest=before.workers)

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """A plan of a task for each worker, or the other planner's; `name` is then its name.

        A follow-up first goes to the worker that answered the request before. Raises `Unplaced` if
        the team's planner is `routed` and no step places the request. For other teams it goes to
        the default route, else to the other planner.
        """
        opinion = await self._router.first(request.text, request.after)
        must_route = KINDS[team.planner.kind].must_route
        if opinion is None and must_route:
            opinion = _as_before(request, team)
        if opinion is None and must_route:
            self.why = self._router.default.shown
            raise self._router.unplaced(request.text)
        if opinion is None and default_route(team.routes) is not None:
            opinion = self._router.default
        names = opinion.workers if opinion is not None else ()
        # The router can't write a payload; a planner can.
        if not names or any(one.input is not None for one in team.workers if one.name in names):
            self.name = self._otherwise.name
            return await self._otherwise.plan(request, team)
        self.why = opinion.shown if opinion is not None else ""
        return routed_plan(request, names, team)


async def plan_or_default(planner: Planner, request: PlanRequest, team: Team) -> Plan:
    """The planner's plan, or the default worker's. Raises `Unplaced` without a default worker."""
    try:
        return await planner.plan(request, team)
    except Unplaced as error:
        if not error.default:
            raise
        return routed_plan(request, error.default, team)


def routed_plan(request: PlanRequest, workers: Sequence[str], team: Team) -> Plan:
    """Side by side."""
    text, earlier = request.text, (PREVIOUS,) if request.after else ()
    tasks = tuple(
        Task(id=worker, worker=worker, intent=text, artifacts=earlier) for worker in workers
    )
    instruction = JOINED if len(tasks) > 1 else ""
    return Plan(goal=text, tasks=tasks, synthesis=team.synthesis, instruction=instruction)


def _as_before(request: PlanRequest, team: Team) -> Opinion | None:
    """The worker of the run before, if only one answered it; "And in May?" is for it, too."""
    if not request.after or request.after[0].team != team.name:
        return None
    names = {one.worker for one in request.after[0].results if one.is_usable}
    if len(names) != 1 or team.worker(*names) is None:
        return None
    return Opinion("earlier run", (*names,), "it answered the request before")


class RoutedRemedies:
    """The router is the first to choose another worker. Methods raise `ModelError`."""

    def __init__(self, router: Router, *, otherwise: Remedies | None = None) -> None:
        """Without `otherwise`, only `reassign` has answers."""
        self._router = router
        self._otherwise = otherwise
        self.name = "router" if otherwise is None else otherwise.name

    async def refine(self, task: Task, outcome: Escalated | Failed) -> str | None:
        return await self._otherwise.refine(task, outcome) if self._otherwise else None

    async def reassign(
        self, task: Task, outcome: Escalated | Failed, *, workers: Sequence[str]
    ) -> str | None:
        worker = await self._router.reassign(task, outcome, workers=workers)
        if worker is None and self._otherwise is not None:
            return await self._otherwise.reassign(task, outcome, workers=workers)
        return worker

    async def split(self, task: Task, outcome: Escalated | Failed) -> Sequence[Task]:
        return await self._otherwise.split(task, outcome) if self._otherwise else ()

    async def judge(self, task: Task, first: Result, second: Result) -> tuple[bool, str]:
        return await self._known().judge(task, first, second)

    async def revise(self, state: RunState, impact: PlanImpact, *, task_id: str) -> Sequence[Task]:
        return await self._known().revise(state, impact, task_id=task_id)

    def _known(self) -> Remedies:
        if self._otherwise is None:
            raise ModelError("the team has no model to judge with", transient=False)
        return self._otherwise
