"""A run as data: what `show --json` prints, and of which the service shows a part. Pure."""

import dataclasses
from collections.abc import Iterable
from typing import cast

from pydantic import JsonValue

from leadhand.contracts.outcome import Usage
from leadhand.trace.run_history import AttemptHistory, RunHistory, TaskHistory
from leadhand.trace.steps import PlanVersion, QuestionHistory, Step

Document = dict[str, JsonValue]


def overview(history: RunHistory, *, held: bool) -> Document:
    """Tasks with all attempts, plans, costs, gaps; `held`: whether a process works on the run."""
    return {
        **run_facts(history, held=held),
        "questions": _plain(history.open_questions),
        "tasks": _tasks(history),
        "critical_path": list(history.critical_path),
    }


def run_facts(history: RunHistory, *, held: bool) -> Document:
    """Of the run as a whole."""
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
        "plans": _plain(history.plans),
        "people": _plain(history.questions),
        "notices": _plain(history.notices),
        "gaps": [gap.model_dump(mode="json") for gap in answer.gaps] if answer is not None else [],
        "conflicts": [conflict.model_dump(mode="json") for conflict in history.conflicts],
        "used_by_role": _used_by(history.usage_by("role")),
        "used_by_worker": _used_by(history.usage_by("worker")),
        "used_by_model": _used_by(history.usage_by("model")),
        "metrics": history.metrics.model_dump(mode="json"),
    }


def _tasks(history: RunHistory) -> list[JsonValue]:
    out: list[JsonValue] = []
    for task in history.ordered_tasks():
        attempts: list[JsonValue] = []
        for one in task.attempts:
            inside: Document = {"tasks": [] if one.nested is None else _tasks(one.nested)}
            attempts.append(attempt_facts(one) | inside)
        done: Document = {"attempts": attempts}
        out.append(task_facts(history, task) | done)
    return out


def task_facts(history: RunHistory, task: TaskHistory) -> Document:
    """Of a task, apart from its attempts."""
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
        "model": facts.usage.model,
        **_used(facts.usage),
        "error": task.dropped or facts.why,
        "before": _plain(task.before),
    }


def attempt_facts(attempt: AttemptHistory) -> Document:
    return {
        "attempt": attempt.number,
        "worker": attempt.worker,
        "started_s": attempt.started_s,
        "ended_s": attempt.ended_s,
        "end": attempt.end,
        "kind": attempt.kind or None,
        "waited_s": attempt.waited_s,
        "waits": [[*one] for one in attempt.waits],
        "message": attempt.message,
        "traceback": attempt.traceback or None,
        "model": attempt.model,
        **_used(attempt.usage),
        "tools": dict(attempt.tools),
        "steps": _plain(attempt.steps),
    }


def _used_by(used: dict[str, Usage]) -> JsonValue:
    return {name: _used(usage) for name, usage in used.items()}


def _used(usage: Usage) -> Document:
    return usage.model_dump(include={"requests", "input_tokens", "output_tokens", "cost_usd"})


def _plain(records: Iterable[Step | PlanVersion | QuestionHistory]) -> list[JsonValue]:
    return [cast("Document", dataclasses.asdict(record)) for record in records]
