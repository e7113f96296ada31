"""The planner of a simulated recursive run: it plans each level by chance, or can't."""

import asyncio
from collections.abc import Sequence
from random import Random

from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Limits, Plan, PlanRequest, Task
from leadhand.contracts.team import Team
from leadhand.errors import ModelError

MAX_LEVELS = 2


class LevelsPlanner:
    """Plans soundly, or what can't be done, or late, or not at all, as chance has it."""

    name = "scripted"

    def __init__(
        self, seed: int, workers: Sequence[str], *, process: int = 1, may_never: bool
    ) -> None:
        """`may_never`: whether the run comes to its end although a plan never comes."""
        self._seed = f"planner {seed} in process {process}"
        self._workers = workers
        self._may_never = may_never

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """Some tasks, some of them to be broken down, or an error."""
        chance = Random(f"{self._seed} {request.text}")
        await self._thinks(chance)
        ids = [f"t{number}" for number in range(chance.choice((1, 2, 3, 6)))]
        tasks = [self._task(chance, id, ids, request, team) for id in ids]
        strategy = chance.choice(("merge", "merge", "last", "select"))
        return Plan(goal=request.text, tasks=tasks, synthesis=strategy)

    def _task(
        self, chance: Random, id: str, ids: Sequence[str], request: PlanRequest, team: Team
    ) -> Task:
        deeper = 0.4 if team.planner.max_levels else 0.03
        worker = SUBPLANNER if chance.random() < deeper else chance.choice(self._workers)
        same = chance.random() < 0.03
        earlier = ids[: ids.index(id)]
        return Task(
            id=id,
            worker="nobody" if chance.random() < 0.01 else worker,
            intent=request.text if same else f"find out part {id} of {hash_of(request.text)}",
            depends_on=chance.sample(earlier, min(len(earlier), chance.choice((0, 0, 1, 2)))),
            tolerates_missing=chance.random() < 0.5,
            limits=Limits(timeout_s=chance.choice((None, None, None, 5.0))),
        )

    async def _thinks(self, chance: Random) -> None:
        way = chance.random()
        if way < 0.03 and self._may_never:
            await asyncio.get_running_loop().create_future()
        elif way < 0.1:
            raise chance.choice((ModelError("no model", transient=True), RuntimeError("no idea")))
        elif way < 0.6:
            await asyncio.sleep(chance.expovariate(1.0))


def hash_of(text: str) -> str:
    """A short name for a text, the same in every process."""
    return f"{Random(text).getrandbits(32):08x}"
