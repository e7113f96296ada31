"""Remedies of a team with a router: the router is the first to choose another worker."""

from collections.abc import Sequence

from leadhand.contracts.outcome import Escalated, Failed, PlanImpact, Result
from leadhand.contracts.task import Task
from leadhand.errors import ModelError
from leadhand.planners.routing import Router
from leadhand.ports import Remedies
from leadhand.state.fold import RunState


class RoutedRemedies:
    """The router for choosing a worker; other `Remedies` for everything else.

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
