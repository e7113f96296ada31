"""A run as data for `show --json`: its tasks with every attempt, its plans, its costs, its gaps."""

import dataclasses
from collections.abc import Iterable
from typing import cast

from pydantic import JsonValue

from leadhand.contracts.outcome import Usage
from leadhand.trace.story import Story, StoryAttempt, TaskStory
from leadhand.trace.story_parts import PlanVersion, Step, StoryQuestion

Document = dict[str, JsonValue]


def overview(story: Story, *, held: bool) -> Document:
    """The document; `held` is whether somebody works on the run right now."""
    state, answer = story.state, story.state.answer
    return {
        "run_id": state.run_id,
        "status": story.standing(held=held),
        "team": state.team,
        "request": state.request,
        "engine": answer.engine if answer is not None else state.engine,
        "started_at": story.started_at.isoformat() if story.started_at is not None else None,
        "ended_by": answer.ended_by if answer is not None else None,
        "confidence": answer.confidence if answer is not None else None,
        "questions": _plain(story.questions),
        "plans": _plain(story.plans),
        "tasks": _tasks(story),
        "people": _plain(story.asked),
        "notices": _plain(story.notices),
        "gaps": [gap.model_dump(mode="json") for gap in answer.gaps] if answer is not None else [],
        "conflicts": [conflict.model_dump(mode="json") for conflict in state.conflicts],
        "critical_path": list(story.critical_path),
        "used_by_role": _used_by(story.spent_by("role")),
        "used_by_worker": _used_by(story.spent_by("worker")),
        "used_by_model": _used_by(story.spent_by("model")),
        "metrics": story.metrics.model_dump(mode="json"),
    }


def _tasks(story: Story) -> list[JsonValue]:
    return [_task(story, task) for task in story.in_order()]


def _task(story: Story, task: TaskStory) -> Document:
    facts = story.facts(task.id)
    return {
        "id": task.id,
        "worker": facts.worker,
        "status": story.status(task.id),
        "intent": facts.task.intent,
        "depends_on": list(facts.task.depends_on),
        "part_of": task.part_of,
        "started_s": facts.started_s,
        "finished_s": facts.finished_s,
        "busy_s": facts.busy_s,
        **_used(facts.usage),
        "error": task.dropped or facts.why,
        "before": _plain(task.before),
        "attempts": [_attempt(attempt) for attempt in task.attempts],
    }


def _attempt(attempt: StoryAttempt) -> Document:
    inside = attempt.inside
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
    return {
        "requests": usage.requests,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
    }


def _plain(records: Iterable[Step | PlanVersion | StoryQuestion]) -> list[JsonValue]:
    return [cast("Document", dataclasses.asdict(record)) for record in records]
