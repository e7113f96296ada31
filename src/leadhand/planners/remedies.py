"""Remedies by a model: a refined intent, another worker, smaller tasks, a revised plan.

Each is one structured question to the planner's model, which sees texts of workers as data. Code
checks the answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TypeVar

from pydantic import JsonValue
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.outcome import Escalated, Failed, ImpactKind, PlanImpact, Result
from leadhand.contracts.task import EarlierRun, Plan, Task, names_earlier
from leadhand.contracts.team import Team
from leadhand.engine.handoffs import digest, excerpt
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.prompts import joined, prompt
from leadhand.models.structured import StructuredAnswer, ask_structured, output_tool
from leadhand.planners import earlier_runs
from leadhand.planners.choosing import NO_WORKER
from leadhand.planners.proposal import data_in, form, plan_in, roster
from leadhand.ports import Arbiter
from leadhand.state.fold import RunState
from leadhand.untrusted.fence import Fence

_PACKAGE = "leadhand.planners"
_IMPACTS: dict[ImpactKind, str] = {
    "blocks": "The worker of {} found that planned work is pointless or can't be done.",
    "adds": "The worker of {} found that the request needs work that is not planned.",
}
_MAX_LISTED = 200
"""How many tasks of a running plan a model sees."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelRemedies:
    """All methods raise `ModelError`."""

    name = "planner"

    caller: Caller
    team: Team
    fence: Fence
    _: KW_ONLY
    request: str
    arbiter: Arbiter
    after: Sequence[EarlierRun] = ()

    async def refine(self, task: Task, outcome: Escalated | Failed) -> str | None:
        given = await self._ask("refine", self._failed(task, outcome), intent={"type": "string"})
        return _text(given, "intent") or None

    async def reassign(
        self, task: Task, outcome: Escalated | Failed, *, workers: Sequence[str]
    ) -> str | None:
        names: JsonValue = {"type": "string", "enum": [*workers, NO_WORKER]}
        text = joined("Choose from:", self._roster(workers), self._failed(task, outcome))
        chosen = _text(await self._ask("route", text, worker=names), "worker")
        return chosen if chosen in workers else None

    async def split(self, task: Task, outcome: Escalated | Failed) -> Sequence[Task]:
        """Two tasks or more, or none."""
        workers = self._roster([worker.name for worker in self.team.workers])
        text = joined(
            "The team:",
            workers,
            self._failed(task, outcome),
            earlier_runs.shown(self.after, self.fence),
        )
        parts = (await self._plan("split", text, goal=task.intent)).tasks
        return [_with_paths_of(task, part) if part.artifacts else part for part in parts]

    async def judge(self, task: Task, first: Result, second: Result) -> tuple[bool, str]:
        choice = await self.arbiter.judge(task.intent, (first, second))
        return choice.index == 1, choice.why

    async def revise(self, state: RunState, impact: PlanImpact, *, task_id: str) -> Sequence[Task]:
        tasks = list(state.tasks.values())
        waiting = {t.task.id: t.task for t in tasks if t.status == "pending" and not t.attempts}
        begun = [one for one in tasks if one.task.id not in waiting]
        results = [one for one in begun if one.result is not None]
        text = joined(
            f"Request: {self.request}",
            "The team:",
            self._roster([worker.name for worker in self.team.workers]),
            "Started or ended:",
            *(f"- {_line(one.task)} ({one.status})" for one in begun[:_MAX_LISTED]),
            "Not started:",
            *(f"- {_line(task)}" for task in [*waiting.values()][:_MAX_LISTED]),
            _IMPACTS[impact.kind].format(task_id),
            f"Tasks that it concerns: {', '.join(impact.task_ids)}" if impact.task_ids else "",
            earlier_runs.shown(self.after, self.fence) or self.fence.explanation,
            self.fence.around(impact.reason, source=f"finding of {task_id}"),
            *(
                self.fence.around(digest(one).summary, source=f"result of {one.task.id}")
                for one in results[:_MAX_LISTED]
            ),
        )
        plan = await self._plan("revise", text, goal=self.request)
        # Fields that are not in the schema stay as they were.
        named = ("worker", "intent", "depends_on", *(("artifacts",) if self.after else ()))
        return [
            waiting[task.id].model_copy(
                update={
                    name: getattr(_with_paths_of(waiting[task.id], task), name) for name in named
                }
                | ({"payload": task.payload} if task.payload is not None else {})
            )
            if task.id in waiting
            else task
            for task in plan.tasks
        ]

    def _failed(self, task: Task, outcome: Escalated | Failed) -> str:
        said = outcome.reason if isinstance(outcome, Escalated) else outcome.kind
        left = outcome.partial
        found = joined(left.summary, excerpt(left)) if left is not None else ""
        return joined(
            f"Request: {self.request}",
            f"Task for {task.worker}: {task.intent}",
            f"Done when: {task.done_when}" if task.done_when else "",
            f"Outcome: {said}",
            self.fence.explanation,
            self.fence.around(outcome.message, source=f"message of {task.worker}"),
            self.fence.around(found, source="partial result") if left is not None else "",
        )

    def _roster(self, names: Sequence[str]) -> str:
        return roster(worker for worker in self.team.workers if worker.name in names)

    async def _plan(self, name: str, text: str, *, goal: str) -> Plan:
        def read(answer: StructuredAnswer) -> Plan:
            data = data_in(answer, "plan")
            return plan_in(data, goal, self.team, with_artifacts=bool(self.after))

        instructions = joined(prompt(_PACKAGE, name), earlier_runs.rules(self.after))
        output = form(self.team, self.after, limits=False)  # models fill them in by habit
        return await self._asked(instructions, output, text, read)

    async def _ask(self, name: str, text: str, **properties: JsonValue) -> Mapping[str, JsonValue]:
        output = output_tool("decide", "Give your decision.", **properties)
        read = partial(data_in, what="decision")
        return await self._asked(prompt(_PACKAGE, name), output, text, read)

    async def _asked(
        self,
        instructions: str,
        output: ToolDefinition,
        text: str,
        read: Callable[[StructuredAnswer], T],
    ) -> T:
        role = self.team.planner
        return await ask_structured(
            self.caller,
            Requester("supervisor"),
            text,
            request=CallRequest(
                instructions, output=output, settings=role.settings, answers=role.answers
            ),
            models=self.team.models_of(role),
            read=read,
        )


def _text(given: Mapping[str, JsonValue], name: str) -> str:
    value = given.get(name)
    return value.strip() if isinstance(value, str) else ""


def _line(task: Task) -> str:
    needs = f", after {', '.join(task.depends_on)}" if task.depends_on else ""
    used = ", ".join(name for name in task.artifacts if names_earlier(name))
    uses = f", with {used}" if used else ""
    return f"`{task.id}` for {task.worker}{needs}{uses}: {' '.join(task.intent.split())}"


def _with_paths_of(old: Task, new: Task) -> Task:
    """`new` with the files that `old` works on; a model names earlier results only."""
    paths = [name for name in old.artifacts if not names_earlier(name)]
    return new.model_copy(update={"artifacts": (*paths, *new.artifacts)})
