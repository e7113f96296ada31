"""Estimates what a plan may cost before it runs: a range, and its assumptions."""

from dataclasses import dataclass

from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import ModelSpec, Team, Worker, declared_output, model_name
from leadhand.models.connections import Connections
from leadhand.models.forecast import Forecast
from leadhand.plans.nesting import with_inherited_models

CHARS_PER_TOKEN = 4
MAX_STEPS = 10
FRAME_TOKENS = 800
"""leadhand's own prompt around a task: rules, schemas, markers."""
TOOL_TOKENS = 150
"""One tool's name, description and parameters."""
DIGEST_TOKENS = 400
"""The digest of a result, for a dependent task or the synthesis."""
STEP_TOKENS = 2_000
"""What a step adds to the conversation: a tool call and its output."""
ANSWER_TOKENS = (200, 1_000)
"""A short and a long answer."""
STEP_ANSWER_TOKENS = 300
"""A model's output in a step with a tool call."""


@dataclass(frozen=True, slots=True)
class Span:
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Estimate:
    calls: Span
    cost_usd: tuple[float, float] | None
    """From and to; None if a price is unknown."""
    unpriced: tuple[str, ...]
    assumption: str
    """What the estimate assumes, in half a line."""


@dataclass(frozen=True, slots=True)
class _Piece:
    spec: ModelSpec
    prompt_tokens: int
    max_steps: int


async def estimate(plan: Plan, team: Team) -> Estimate:
    """What the tasks of `plan` and its synthesis may cost, and the decision after a first round,
    but no later round. Raises `InputError` for a bad model."""
    pieces = _pieces(plan, with_inherited_models(team))
    low = high = 0.0
    unpriced: list[str] = []
    async with Connections() as connections:
        for piece in pieces:
            forecast = connections.to(piece.spec).forecast
            least = forecast.usd(piece.prompt_tokens, ANSWER_TOKENS[0])
            most = _most(forecast, piece)
            if least is None or most is None:
                unpriced.append(model_name(piece.spec))
            else:
                low, high = low + least, high + most
    steps = max((piece.max_steps for piece in pieces), default=1)
    assumed = f"1 to {steps} calls a task" if steps > 1 else "1 call a task"
    return Estimate(
        Span(len(pieces), sum(piece.max_steps for piece in pieces)),
        None if unpriced else (low, high),
        tuple(dict.fromkeys(unpriced)),
        f"assumed: {assumed}, of which each adds up to {STEP_TOKENS:,} tokens; no retries",
    )


def _pieces(plan: Plan, team: Team) -> list[_Piece]:
    pieces: list[_Piece] = []
    for task in plan.tasks:
        worker = team.worker(task.worker)
        if worker is not None and worker.team is not None:
            pieces += _nested(task, worker.team)
        elif worker is not None and worker.run is None:
            spec = team.model_of(worker, task.limits.tier)
            if spec is not None:
                pieces.append(_Piece(spec, _prompt(task, worker), _steps(task, worker, team)))
    if plan.max_rounds is not None and team.planner.run is None:
        shown = FRAME_TOKENS + DIGEST_TOKENS * len(plan.tasks)
        pieces += [_Piece(spec, shown, 1) for spec in team.models_of(team.planner)[:1]]
    if team.tiers and _is_written(plan, team):
        shown = FRAME_TOKENS + DIGEST_TOKENS * len(plan.tasks)
        pieces.append(_Piece(team.models_of(team.synthesizer)[0], shown, 1))
    return pieces


def _is_written(plan: Plan, team: Team) -> bool:
    """Whether a model writes the answer: no result is the answer as it is."""
    if team.synthesizer.run is not None:
        return False
    needed = {id for task in plan.tasks for id in task.depends_on}
    ends = [task for task in plan.tasks if task.id not in needed]
    if len(ends) != 1 or (len(plan.tasks) > 1 and plan.synthesis != "last"):
        return True
    worker = team.worker(ends[0].worker)
    return team.output is not None and (worker is None or declared_output(worker) != team.output)


def _nested(task: Task, team: Team) -> list[_Piece]:
    """A nested team, whose plan is not known: one task for each worker."""
    tasks = tuple(
        Task(id=worker.name, worker=worker.name, intent=task.intent) for worker in team.workers
    )
    by_model = KINDS[team.planner.kind].by_model and team.planner.run is None
    asked = team.models_of(team.planner)[:1] if by_model else ()
    planning = [_Piece(spec, FRAME_TOKENS, 1) for spec in asked]
    return planning + _pieces(Plan(goal=task.intent, tasks=tasks), team)


def _steps(task: Task, worker: Worker, team: Team) -> int:
    if worker.plain or not worker.tools:
        return 1
    asked = (task.limits.max_steps, worker.limits.max_steps, team.limits.max_steps)
    return next((steps for steps in asked if steps is not None), MAX_STEPS)


def _prompt(task: Task, worker: Worker) -> int:
    written = len(worker.instructions) + len(task.intent) + len(task.done_when)
    frame = 0 if worker.plain else FRAME_TOKENS
    tools = TOOL_TOKENS * len(worker.tools)
    return frame + written // CHARS_PER_TOKEN + tools + DIGEST_TOKENS * len(task.depends_on)


def _most(forecast: Forecast, piece: _Piece) -> float | None:
    """The price of all steps; each of them reads what the steps before it added."""
    total = 0.0
    for step in range(piece.max_steps):
        last = step == piece.max_steps - 1
        written = ANSWER_TOKENS[1] if last else STEP_ANSWER_TOKENS
        price = forecast.usd(piece.prompt_tokens + step * STEP_TOKENS, written)
        if price is None:
            return None
        total += price
    return total
