"""A run as data for `show --json`: tasks with all attempts, plans, costs, gaps."""

import dataclasses
from collections.abc import Iterable
from typing import cast

from pydantic import JsonValue

from leadhand.contracts.outcome import Usage
from leadhand.trace.run_history import AttemptHistory, RunHistory, TaskHistory
from leadhand.trace.steps import PlanVersion, QuestionHistory, Step

Document = dict[str, JsonValue]


def overview(history: RunHistory, *, held: bool) -> Document:
    state, answer = history.state, history.state.answer
    return {
        "run_id": state.run_id,
        "status": history.run_status(held=held),
        "team": state.team,
        "request": state.request,
        "after": (state.after[0].run_id or None) if state.after else None,
        "engine": answer.engine if answer is not None else state.engine,
        "started_at": history.started_at.isoformat() if history.started_at is not None else None,
        "ended_by": answer.ended_by if answer is not None else None,
        "confidence": answer.confidence if answer is not None else None,
        "questions": _plain(history.open_questions),
        "plans": _plain(history.plans),
        "tasks": _tasks(history),
        "people": _plain(history.questions),
        "notices": _plain(history.notices),
        "gaps": [gap.model_dump(mode="json") for gap in answer.gaps] if answer is not None else [],
        "conflicts": [conflict.model_dump(mode="json") for conflict in history.conflicts],
        "critical_path": list(history.critical_path),
        "used_by_role": _used_by(history.usage_by("role")),
        "used_by_worker": _used_by(history.usage_by("worker")),
        "used_by_model": _used_by(history.usage_by("model")),
        "metrics": history.metrics.model_dump(mode="json"),
    }


def _tasks(history: RunHistory) -> list[JsonValue]:
    return [_task(history, task) for task in history.ordered_tasks()]


def _task(history: RunHistory, task: TaskHistory) -> Document:
    facts = history.task_state(task.id)
    return {
        "id": task.id,
        "worker": facts.worker,
        "status": history.task_status(task.id),
        "intent": facts.task.intent,
        "depends_on": list(facts.task.depends_on),
        "part_of": task.part_of,
        "round": facts.round or None,
        "started_s": facts.started_s,
        "finished_s": facts.finished_s,
        "busy_s": facts.busy_s,
        **_used(facts.usage),
        "error": task.dropped or facts.why,
        "before": _plain(task.before),
        "attempts": [_attempt(attempt) for attempt in task.attempts],
    }


def _attempt(attempt: AttemptHistory) -> Document:
    inside = attempt.nested
    return {
        "attempt": attempt.number,
        "worker": attempt.worker,
        "started_s": attempt.started_s,
        "ended_s": attempt.ended_s,
        "end": attempt.end,
        "kind": attempt.kind or None,
        "message": attempt.message,
        "traceback": attempt.traceback or None,
        "model": attempt.model,
        **_used(attempt.usage),
        "tools": dict(attempt.tools),
        "steps": _plain(attempt.steps),
        "tasks": _tasks(inside) if inside is not None else [],
    }


def _used_by(used: dict[str, Usage]) -> JsonValue:
    return {name: _used(usage) for name, usage in used.items()}


def _used(usage: Usage) -> Document:
    return usage.model_dump(include={"requests", "input_tokens", "output_tokens", "cost_usd"})


def _plain(records: Iterable[Step | PlanVersion | QuestionHistory]) -> list[JsonValue]:
    return [cast("Document", dataclasses.asdict(record)) for record in records]
