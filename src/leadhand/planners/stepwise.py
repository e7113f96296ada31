"""The stepwise planner: a model decides, round by round, which tasks start next.

It sees a result in some detail in the round after it, later its summary: what it reads grows with
digests, not with conversations.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from pydantic import JsonValue
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.outcome import Result, TaskResult
from leadhand.contracts.planner_kinds import Decision, Round
from leadhand.contracts.task import EarlierRun, Task
from leadhand.contracts.team import Team
from leadhand.engine.handoffs import excerpt
from leadhand.models.calls import Caller, CallRequest
from leadhand.models.prompts import joined, prompt
from leadhand.models.structured import (
    BadAnswer,
    StructuredAnswer,
    ask_structured,
    object_schema,
    output_tool,
)
from leadhand.planners import earlier_runs
from leadhand.planners.proposal import (
    data_in,
    plan_in,
    roster,
    shortened,
    task_fields,
    with_task_ids,
    without_needs,
)
from leadhand.untrusted.cutting import cut_line
from leadhand.untrusted.fence import Fence

MAX_INTENT_CHARS = 100
MAX_SUMMARY_CHARS = 200
MAX_EXCERPT_CHARS = 1_200
"""How much of a result the planner sees in the round after it."""


class ModelDecider:
    name = "planner"

    def __init__(self, caller: Caller, team: Team, fence: Fence) -> None:
        self._caller = caller
        self._team = team
        self._fence = fence
        self._prompt = joined(prompt("leadhand.planners", "stepwise"), roster(team.workers))

    async def decide(
        self, now: Round, *, problems: Callable[[Decision], Sequence[str]]
    ) -> Decision:
        """Raises `ModelError` if no model gave a decision without problems."""

        def read(answer: StructuredAnswer) -> Decision:
            decision = _decision(answer, now, self._team)
            if found := problems(decision):
                said = shortened(found)
                lines = "\n".join(f"- {one}" for one in said)
                raise BadAnswer(f"This can't be done. Decide again:\n{lines}", why="; ".join(said))
            return decision

        return await ask_structured(
            self._caller,
            self._caller.planning_requester(self.name),
            shown(now, self._team, self._fence),
            request=self._asked(now.after, first=now.number == 1),
            models=self._team.models_of(self._team.planner),
            read=read,
        )

    def _asked(self, after: Sequence[EarlierRun], *, first: bool) -> CallRequest:
        role = self._team.planner
        instructions = joined(self._prompt, earlier_runs.rules(after), role.instructions)
        return CallRequest(
            instructions,
            output=_form(self._team, after, first=first),
            settings=role.settings,
            answers=role.answers,
        )


def shown(now: Round, team: Team, fence: Fence) -> str:
    """What the model is told in a round. What is told again comes first and stays the same."""
    old = [one for one in now.tasks if one.task.id not in now.new]
    new = [one for one in now.tasks if one.task.id in now.new]
    ended = [one for one in old if _has_ended(one)]
    open_tasks = [one for one in old if not _has_ended(one)]
    return joined(
        f"Request: {now.request}",
        f"Inputs: {' '.join(now.inputs.split())}" if now.inputs else "",
        earlier_runs.shown(now.after, fence),
        fence.explanation if now.tasks and not now.after else "",
        _listed(fence, "earlier results", map(_line, ended)),
        _listed(fence, "new results", map(_digest, new)),
        _listed(fence, "tasks that still run", map(_line, open_tasks)),
        _left(now, team),
    )


def _listed(fence: Fence, source: str, lines: Iterator[str]) -> str:
    text = "\n".join(lines)
    return fence.around(text, source=source) if text else ""


def _line(one: TaskResult) -> str:
    if one.result is None:
        return _task(one)
    return (
        f"{_task(one)} -> {cut_line(one.result.summary or excerpt(one.result), MAX_SUMMARY_CHARS)}"
    )


def _task(one: TaskResult) -> str:
    line = f"[{one.task.id}] {one.worker}: {cut_line(one.task.intent, MAX_INTENT_CHARS)}"
    if one.status == "completed" or not _has_ended(one):
        return line
    return f"{line} ({one.status}: {cut_line(one.why or '', MAX_SUMMARY_CHARS)})"


def _digest(one: TaskResult) -> str:
    result = one.result
    if result is None:
        return _line(one)
    text = excerpt(result)
    shown = [cut_line(text, MAX_EXCERPT_CHARS)]
    if result.summary and not text.startswith(result.summary):
        shown.insert(0, cut_line(result.summary, MAX_SUMMARY_CHARS))
    return "\n".join([_task(one), *shown, *_notes(one, result)])


def _notes(one: TaskResult, result: Result) -> Iterator[str]:
    if result.plan_impact is not None:
        yield f"It says: {cut_line(result.plan_impact.reason, MAX_SUMMARY_CHARS)}"
    if result.missing:
        yield f"Not done: {cut_line('; '.join(result.missing), MAX_SUMMARY_CHARS)}"
    if one.why and one.status == "completed":
        yield f"Doubtful: {cut_line(one.why, MAX_SUMMARY_CHARS)}"


def _left(now: Round, team: Team) -> str:
    used = Counter(one.worker for one in now.tasks)
    others = [worker.name for worker in team.workers if worker.name not in used]
    left = [f"{now.max_rounds - now.number + 1} of {now.max_rounds} rounds"]
    left += [f"{now.tokens_left:,} tokens"] if now.tokens_left is not None else []
    left += [f"${now.usd_left:.2f}"] if now.usd_left is not None else []
    workers = ", ".join(f"{name} ({count})" for name, count in used.items())
    return joined(
        f"Workers used: {workers}. Not used: {', '.join(others) or 'none'}." if used else "",
        f"Left, this round included: {', '.join(left)}.",
    )


def _has_ended(one: TaskResult) -> bool:
    return one.status not in ("pending", "running")


def _form(team: Team, after: Sequence[EarlierRun], *, first: bool) -> ToolDefinition:
    fields = task_fields(team, after)
    del fields["limits"]  # the team's are enough, and every round pays for the schema
    return output_tool(
        "decide_next",
        "Decide what is next.",
        reason={"type": "string"},
        done={"type": "boolean"},  # before the tasks, so that a model that is not done starts some
        tasks={
            "type": "array",
            "items": object_schema(**fields),
            **({"minItems": 1} if first else {}),
        },
        ask_again={"type": "string", "enum": ["all", "first"]},
    )


def _decision(answer: StructuredAnswer, now: Round, team: Team) -> Decision:
    data = data_in(answer, "decision")
    tasks: tuple[Task, ...] = ()
    reason = _text(data, "reason")
    if data.get("tasks"):
        plan = plan_in(data, now.request, team, with_artifacts=bool(now.after))
        tasks = with_task_ids(plan.tasks, [one.task for one in now.tasks])
        tasks, removed = without_needs(tasks) if not now.tasks else (tasks, "")
        reason += f" ({removed})" if removed else ""
    runs = any(not _has_ended(one) for one in now.tasks)
    done = data.get("done")
    return Decision(
        tasks=tasks,
        reason=reason,
        asks_after="first" if _text(data, "ask_again") == "first" else "all",
        # Nothing to start and nothing to wait for: that is done, whatever else is said.
        done=done is True or (not tasks and not runs and now.number > 1),
    )


def _text(data: Mapping[str, JsonValue], name: str) -> str:
    value = data.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""
