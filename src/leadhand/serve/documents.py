"""A run, its tasks and its questions as JSON, for operators and for others. Pure.

Others see what `events.public` shows: ids, workers, how tasks ended, and the answer, but no
prompts, intents, errors, prices or settings. The fields of a model that have a default are for
operators: others get the default.
"""

import datetime as dt
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import yaml
from pydantic import Field, FiniteFloat, JsonValue
from pydantic_core import to_jsonable_python

from leadhand import events
from leadhand.contracts.answer import Answer, Conflict, Gap, Metrics
from leadhand.contracts.data import Record
from leadhand.contracts.outcome import Usage
from leadhand.contracts.people import Question, Verdict
from leadhand.contracts.summary import RunSummary
from leadhand.contracts.task import PlannedWorker
from leadhand.page.markdown import render
from leadhand.run.gaps import without_gaps
from leadhand.run.questions import questions_asked
from leadhand.serve.run_records import RunRecord
from leadhand.state.fold import RunState
from leadhand.trace.overview import Document, attempt_facts, run_facts, task_facts
from leadhand.trace.run_history import AttemptHistory, RunHistory, TaskHistory
from leadhand.trace.steps import PlanVersion, QuestionHistory, Step

MAX_MESSAGE = 300
_PRIVATE = dict[str, Any](cost_usd=None, input_tokens=0, output_tokens=0, origin={})


class RunList(Record):
    runs: tuple[RunSummary, ...]
    next: str | None
    """The cursor of the next page; null if there is none."""


class AttemptEntry(Record):
    attempt: int
    worker: str
    started_s: float
    ended_s: float | None
    end: str
    """`completed`, `failed`, `escalated`, `cancelled`, `interrupted`, `paused` or `running`."""
    kind: str | None
    """The kind of failure, or the reason of an escalation."""
    waited_s: float | None
    """How much of it were waits for rates, slots and the event loop; null if unknown."""
    waits: tuple[tuple[float, float], ...]
    """From when to when its model calls waited: for rates, for the budget, after a refusal."""
    message: str | None = None
    """Why it did not complete, or why its result is doubted: the first 300 characters."""
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class TaskEntry(Record):
    """A task of a run or of a nested one. Times are in seconds since the run's start."""

    id: str
    path: str
    """With the tasks around it, as in `legal/draft`."""
    parent: str | None
    """The path of the task whose nested team has it."""
    worker: str
    status: str
    depends_on: tuple[str, ...]
    part_of: str | None
    """The task that was split into it."""
    round: int | None
    started_s: float | None
    finished_s: float | None
    busy_s: float
    attempts: tuple[AttemptEntry, ...]
    critical: bool
    """Whether it is on the longest chain of tasks that depend on each other."""
    intent: str | None = None
    error: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class RunBudget(Record, extra="forbid"):
    """What a run may spend on models, within what the caller and the team may."""

    usd: Annotated[FiniteFloat, Field(gt=0, le=1e9)] | None = None
    tokens: Annotated[int, Field(ge=1, le=10**15)] | None = None


class AnswerDocument(Answer[object]):
    """An answer, without its tasks, which are those of the run. For others than operators only the
    text, the output, how it ended, and which tasks have gaps."""


class OpenQuestion(Question):
    """A question to a person. A principal who may not see it gets its id, task and times alone."""

    id: str
    """What a reply names as `question`."""
    asked_at: dt.datetime
    allowed: tuple[Verdict, ...] = ()
    """The verdicts of a reply; empty if this principal may not reply."""
    effects: Mapping[Verdict, str] = Field(default_factory=dict[Verdict, str])
    """What happens on each of them."""
    mine: bool = False
    """Whether this principal may reply."""


class RunDocument(Record):
    run_id: str
    status: str
    team: str
    engine: str
    request: str
    after: str | None
    started_at: dt.datetime
    updated_at: dt.datetime
    elapsed_s: float
    """When the last event was, as the times of tasks: the time in which no process works is out."""
    seq: int
    """Of the last event in it."""
    answer: AnswerDocument | None
    """Of a run that waits: what there is so far."""
    answer_html: str
    questions: tuple[OpenQuestion, ...]
    tasks: tuple[TaskEntry, ...]
    plans: tuple[PlanVersion, ...] = ()
    gaps: tuple[Gap, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    metrics: Metrics | None = None
    budget: RunBudget | None = None
    cost_usd: float | None = None
    notices: tuple[Step, ...] = ()
    people: tuple[QuestionHistory, ...] = ()
    workers: tuple[PlannedWorker, ...] = ()
    """Those that were made for the plan."""
    used_by_role: Mapping[str, Usage] = {}
    """What models were used for, and what it cost."""
    used_by_worker: Mapping[str, Usage] = {}
    used_by_model: Mapping[str, Usage] = {}


def run_entry(run: RunSummary, *, operator: bool) -> RunSummary:
    """A run in a list."""
    return run if operator else run.model_copy(update=_PRIVATE)


def run_document(record: RunRecord, *, held: bool, operator: bool, replies: bool) -> Document:
    """`held`: whether a process works on it; `replies`: whether the principal may reply."""
    history, state = record.history, record.state
    answer, plan = state.answer or state.waiting, state.plan or state.proposed
    shown = None if answer is None else seen_answer(answer, operator=operator)
    facts, html = run_facts(history, held=held), ""
    if answer is not None and shown is not None:
        facts |= {"engine": answer.engine, "gaps": _plain(answer.gaps)}
        # The document has the gaps and the contact apart.
        html = _html(without_gaps(shown.answer, answer.gaps, contact=answer.contact))
    more: Document = {
        "updated_at": _plain(record.last.at),
        "elapsed_s": history.last_s,
        "seq": record.last.seq,
        "answer": shown and shown.model_dump(mode="json", exclude={"tasks"}),
        "answer_html": html,
        "questions": _plain([*run_questions(state, seen=operator or replies, replies=replies)]),
        "tasks": [*_tasks(history, "", {*history.critical_path}, operator=operator)],
        "budget": state.budget and {"usd": state.budget.usd, "tokens": state.budget.tokens},
        "cost_usd": state.usage.cost_usd,
        "workers": _plain(plan.workers if plan is not None else ()),
    }
    return _seen(RunDocument, facts | more, operator=operator)


def _seen(kind: type[Record], facts: Document, *, operator: bool) -> Document:
    """The facts that it has; the defaults are for others than operators."""
    shown = {name: facts[name] for name in kind.model_fields if name in facts}
    return shown if operator else shown | _defaults(kind)


@functools.cache
def _defaults(kind: type[Record]) -> Document:
    fields = kind.model_fields.items()
    return {name: _plain(field.default) for name, field in fields if not field.is_required()}


# Most of the time that a run of thousands of tasks takes, and an answer does not change.
_html = functools.lru_cache(maxsize=32)(render)


def seen_answer(answer: Answer, *, operator: bool) -> Answer:
    """For others than operators without what only those see: why there are gaps, and the tasks."""
    if operator:
        return answer
    kind = events.RunWaiting if answer.waiting else events.RunFinished
    at = dt.datetime.min.replace(tzinfo=dt.UTC)
    event = kind(seq=0, at=at, elapsed_s=0.0, run_id=answer.run_id, answer=answer)
    shown = cast("Document", events.public(event)["answer"])
    shown |= {name: getattr(answer, name) for name in ("run_id", "team", "request")}
    gaps = [{"why": "not done", **gap} for gap in cast("list[Document]", shown["gaps"])]
    return Answer.model_validate({**shown, "gaps": gaps})


def _tasks(
    history: RunHistory, parent: str, critical: set[str], *, operator: bool
) -> Iterator[Document]:
    """`critical`: the tasks of this history that are on the longest chain."""
    for task in history.ordered_tasks():
        row = task_entry(history, task, parent, operator=operator)
        yield row | {"critical": task.id in critical}
        inner = task.attempts[-1].nested if task.attempts else None
        if inner is not None:
            nested = {*inner.critical_path} if task.id in critical else set[str]()
            yield from _tasks(inner, str(row["path"]), nested, operator=operator)


def task_entry(history: RunHistory, task: TaskHistory, parent: str, *, operator: bool) -> Document:
    path = f"{parent}/{task.id}" if parent else task.id
    place: Document = {"path": path, "parent": parent or None, "critical": False}
    place |= {"attempts": [attempt_entry(one, operator=operator) for one in task.attempts]}
    return _seen(TaskEntry, task_facts(history, task) | place, operator=operator)


def attempt_entry(attempt: AttemptHistory, *, operator: bool) -> Document:
    facts = attempt_facts(attempt) | {"message": attempt.message[:MAX_MESSAGE]}
    return _seen(AttemptEntry, facts, operator=operator)


def run_questions(state: RunState, *, seen: bool, replies: bool) -> Iterator[OpenQuestion]:
    """The open questions of a run; of those that may not be `seen` only that they are there."""
    for question, event in questions_asked(state):
        hidden = Question(task_id=question.task_id, text="", expires_at=question.expires_at)
        found = effects(question, amends=state.plan is not None) if replies else {}
        yield OpenQuestion(
            **dict(question if seen else hidden),
            id=str(event.seq),
            asked_at=event.at,
            allowed=tuple(found),
            effects=found,
            mine=replies,
        )


def effects(question: Question, *, amends: bool) -> dict[Verdict, str]:
    """What happens on each reply that the question allows, in plain words.

    `amends`: whether the run has a plan already, which the one in the question would change.
    """
    if question.plan is not None:
        kind = "route" if question.route else "amendment" if amends else "plan"
    else:
        kind = "calls" if question.calls else "call" if question.call else "task"
    words = {
        "tools": " and ".join(dict.fromkeys(call.tool for call in question.calls)),
        "worker": question.calls[0].worker if question.calls else "",
        "others": " The name of another worker hands it over." if question.workers else "",
    }
    return {verdict: text.format(**words) for verdict, text in _effects()[kind].items()}


@functools.cache
def _effects() -> dict[str, dict[Verdict, str]]:
    return yaml.safe_load(Path(__file__).with_name("effects.yaml").read_text(encoding="utf-8"))


def _plain(value: object) -> JsonValue:
    return cast("JsonValue", to_jsonable_python(value))
