"""Routing: whose a request is, and who has a task next that was handed back.

The team's rules are asked first, then a model where the team has one for it, and in doubt it is the
default's. A routed request is a plan of one task; planning any other is another planner's business.
"""

import logging
from collections.abc import Sequence
from typing import Protocol

from leadhand.contracts.outcome import Escalated, Failed
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team, Worker
from leadhand.errors import ModelError
from leadhand.plans.routes import candidates, route_of
from leadhand.ports import Planner, PlanRequest

_log = logging.getLogger("leadhand")


class Chooser(Protocol):
    """Knows by other means than rules whose a text is; a model, say."""

    async def choose(self, text: str, among: Sequence[Worker], *, said: str = "") -> str | None:
        """The name of one of the workers, none in doubt. `said`: what a worker said of it.

        Raises `ModelError`.
        """
        ...


class Router:
    """Knows whose what is, in one team."""

    def __init__(self, team: Team, chooser: Chooser | None = None) -> None:
        """`chooser` is asked where no rule but a default takes a text."""
        self._team = team
        self._chooser = chooser

    async def first(self, text: str) -> str | None:
        """The worker whose a request is; none where neither a rule nor a model can tell."""
        route = route_of(self._team.routes, text)
        if route is not None and not route.is_default:
            return route.worker
        chosen = await self._chosen(text, self._team.workers)
        return chosen or (route.worker if route is not None else None)

    async def reassign(
        self, task: Task, outcome: Escalated | Failed, *, workers: Sequence[str]
    ) -> str | None:
        """Who of `workers` a task may be for that was handed back, as `Remedies.reassign` says.

        By rule it is the next one whose it may be; the rules know nothing of the `outcome`.
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
            _log.warning("nobody was chosen, because %s", error)
            return None


class RoutingPlanner:
    """Gives a request to the one worker whose it is; what is nobody's is planned as usual."""

    def __init__(self, router: Router, *, otherwise: Planner) -> None:
        self._router = router
        self._otherwise = otherwise
        self.name = "router"

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """A plan of one task, or the other planner's; `name` says afterwards whose it is."""
        worker = await self._router.first(request.text)
        found = team.worker(worker) if worker is not None else None
        # A route has no payload to give: that takes a planner.
        if worker is None or (found is not None and found.input is not None):
            self.name = self._otherwise.name
            return await self._otherwise.plan(request, team)
        task = Task(id=worker, worker=worker, intent=request.text)
        return Plan(goal=request.text, tasks=(task,), synthesis=team.synthesis)
