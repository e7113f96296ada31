"""leadhand as one of the peers: their job, their prompts and their measuring, by our front door.

    LEADHAND_PEERS=DIR python -m benchmarks.peer_driver --variant leadhand_plain --n 100

`DIR/common.py` is the peers' harness: it parses the arguments, measures and prints `RESULT {...}`.
A line `METRICS [...]` follows with what each run, the first a warm-up, said of itself. Nothing is
cut short: planner call, check, scheduler, workers' loops, events and synthesizer call are those of
any run.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from pydantic import BaseModel, ConfigDict

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Metrics
from leadhand.contracts.task import PlanRequest
from leadhand.contracts.team import Role
from leadhand.models import structured
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.synthesis.merge import Merge
from leadhand.untrusted.fence import Fence

Run = Callable[[int], Awaitable[str]]


class Common(Protocol):
    """The peers' `common.py`, as far as a driver uses it."""

    KINDS: Sequence[str]
    WORKER_PROMPT: Mapping[str, str]
    PLANNER_PROMPT: str
    SYNTH_PROMPT: str
    REQUEST: str
    FINAL_MARK: str
    MODEL: str

    def dag(self) -> Mapping[str, Mapping[str, object]]:
        """The graph that everyone runs: id to `deps`, `lat_ms` and `layer`."""
        ...

    def main(self, variants: Mapping[str, Mapping[str, object]]) -> None:
        """Measure the variant that the arguments name."""
        ...


def common_of(folder: Path) -> Common:
    """The harness in `folder`."""
    spec = importlib.util.spec_from_file_location("peers_common", folder / "common.py")
    if spec is None or spec.loader is None:
        raise SystemExit(f"{folder} has no common.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["peers_common"] = module
    spec.loader.exec_module(module)
    return cast("Common", module)


class _Item(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: int
    worker: str
    task: str


class _Plan(BaseModel):
    tasks: tuple[_Item, ...]


@dataclass(frozen=True, slots=True)
class PlainPlanner:
    """Plans with the peers' prompt. The form that they all get has `task` for the intent."""

    caller: Caller
    prompt: str
    name: str = "planner"

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """The plan that the model's plain JSON comes to."""

        def read(answer: structured.StructuredAnswer) -> Plan:
            given = _Plan.model_validate_json(answer.text).tasks
            tasks = [Task(id=str(one.id), worker=one.worker, intent=one.task) for one in given]
            return Plan(goal=request.text, tasks=tuple(tasks))

        return await structured.ask_structured(
            self.caller,
            Requester("planner"),
            request.text,
            request=CallRequest(self.prompt),
            models=team.tiers["standard"],
            read=read,
        )


class Driver:
    """The variants, and what their runs said of themselves."""

    def __init__(self, common: Common) -> None:
        self._common = common
        self.metrics: list[Metrics] = []

    def variants(self) -> dict[str, Mapping[str, object]]:
        """By name, as `Common.main` takes them."""
        return {
            "leadhand_plain": {"run": self._fan_out(plain=True)},
            "leadhand_typed": {"run": self._fan_out(plain=False)},
            "leadhand_serial": {"run": self._fan_out(plain=True, concurrency=1)},
            "leadhand_dag": {"run": self._graph, "dag": True},
        }

    def _team(self, *, plain: bool) -> Team:
        prompts = self._common.WORKER_PROMPT
        return Team(
            "peers",
            model=f"openai-chat:{self._common.MODEL}",
            workers=tuple(
                Worker(kind, kind, instructions=prompts[kind], plain=plain)
                for kind in self._common.KINDS
            ),
            synthesizer=Role(plain=True, instructions=self._common.SYNTH_PROMPT),
        )

    def _planner(self, caller: Caller | None, fence: Fence) -> PlainPlanner:
        assert caller is not None, "the team has a model"
        return PlainPlanner(caller, self._common.PLANNER_PROMPT)

    def _fan_out(self, *, plain: bool, concurrency: int = 64) -> Run:
        """Planner, `n` independent tasks, synthesizer."""
        team = self._team(plain=plain)

        async def run(n: int) -> str:
            supervisor = Supervisor(team, planner=self._planner, concurrency=concurrency)
            return await self._answered(supervisor, None, tasks=n)

        return run

    async def _graph(self, n: int) -> str:
        """The graph as a plan of a person; like the others, without a synthesizer call."""
        common = self._common
        tasks: list[Task] = []
        for id, spec in common.dag().items():
            lat_ms, layer = cast("int", spec["lat_ms"]), cast("int", spec["layer"])
            tasks.append(
                Task(
                    id=id,
                    worker=common.KINDS[layer % len(common.KINDS)],
                    intent=f"{id} lat_ms={lat_ms}",
                    depends_on=tuple(cast("list[str]", spec["deps"])),
                )
            )
        plan = Plan(goal=common.REQUEST, tasks=tuple(tasks))
        supervisor = Supervisor(self._team(plain=True), synthesizer=Merge())
        await self._answered(supervisor, plan, tasks=len(tasks))
        return common.FINAL_MARK

    async def _answered(self, supervisor: Supervisor, plan: Plan | None, *, tasks: int) -> str:
        request = self._common.REQUEST
        answer = await supervisor.run(request, plan=plan)
        if answer.status != "complete" or len(answer.tasks) != tasks:
            raise SystemExit(
                f"{answer.status}, {len(answer.tasks)} of {tasks} tasks: {answer.gaps}"
            )
        self.metrics.append(answer.metrics)
        return answer.answer


def main() -> None:
    """Measure the variant that the arguments name."""
    common = common_of(Path(os.environ["LEADHAND_PEERS"]))
    driver = Driver(common)
    common.main(driver.variants())
    print("METRICS " + json.dumps([metrics.model_dump(mode="json") for metrics in driver.metrics]))


if __name__ == "__main__":
    main()
