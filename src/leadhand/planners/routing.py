"""Routing: chooses the worker for a request, and the next one for a task that was handed back.

The team's rules are tried first, then the router's model if the team has one, then the default
route. A routed request is a plan of one task; another planner plans all other requests.
"""

import logging
from collections.abc import Sequence
from typing import Protocol

from leadhand.contracts.outcome import Escalated, Failed, PlanImpact, Result
from leadhand.contracts.task import Plan, PlanRequest, Task
from leadhand.contracts.team import Team, Worker
from leadhand.errors import ModelError
from leadhand.plans.routes import candidates, route_of
from leadhand.ports import Planner, Remedies
from leadhand.state.fold import RunState

_log = logging.getLogger("leadhand")


class Chooser(Protocol):
    """Chooses a worker without rules, for example by a model."""

    async def choose(self, text: str, among: Sequence[Worker], *, said: str = "") -> str | None:
        """The name of one of the workers; None in doubt. Raises `ModelError`.

        `said` is the message of the worker that handed it back.
        """
        ...


class Router:
    """Chooses workers of one team."""

    def __init__(self, team: Team, chooser: Chooser | None = None) -> None:
        """`chooser` is used if no rule but a default matches a text."""
        self._team = team
        self._chooser = chooser

    async def first(self, text: str) -> str | None:
        """The worker for a request; None if neither a rule nor a model chooses one."""
        route = route_of(self._team.routes, text)
        if route is not None and not route.is_default:
            return route.worker
        chosen = await self._chosen(text, self._team.workers)
        return chosen or (route.worker if route is not None else None)

    async def reassign(
        self, task: Task, outcome: Escalated | Failed, *, workers: Sequence[str]
    ) -> str | None:
        """The next worker for a task that was handed back, as in `Remedies.reassign`.

        The rules do not consider the `outcome`.
        """
        by_rule = [name for name in candidates(self._team.routes, task.intent) if name in workers]
        if by_rule:
            return by_rule[0]
        others = [worker for worker in self._team.workers if worker.name in workers]
        return await self._chosen(task.intent, others, said=outcome.message)

    async def _chosen(self, text: str, among: Sequence[Worker], *, said: str = "") -> str | None:
        if self._chooser is None or not among:
            return None
        try:
            return await self._chooser.choose(text, among, said=said)
        except ModelError as error:
            _log.warning("the router chose no worker: %s", error)
            return None


class RoutingPlanner:
    """Gives a request to one worker; a request without one is planned as usual."""

    def __init__(self, router: Router, *, otherwise: Planner) -> None:
        self._router = router
        self._otherwise = otherwise
        self.name = "router"

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """A plan of one task, or the other planner's; `name` is then that planner's."""
        worker = await self._router.first(request.text)
        found = team.worker(worker) if worker is not None else None
        # The router can't write a payload; a planner can.
        if worker is None or (found is not None and found.input is not None):
            self.name = self._otherwise.name
            return await self._otherwise.plan(request, team)
        task = Task(id=worker, worker=worker, intent=request.text)
        return Plan(goal=request.text, tasks=(task,), synthesis=team.synthesis)


class RoutedRemedies:
    """The router is the first to choose another worker; other `Remedies` do everything else.

    Methods raise `ModelError` if a model that they ask fails.
    """

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
