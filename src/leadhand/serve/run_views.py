"""A run, its tasks and its questions as JSON, for operators and for others. Pure.

Others see what `events.public` shows: ids, workers, how tasks ended, and the answer, but no
prompts, intents, errors, prices or settings. The fields of a model that have a default are for
operators: others get the default.
"""

import datetime as dt
import functools
from collections.abc import Iterator
from typing import Annotated, Any, Literal, cast

from pydantic import Field, FiniteFloat, JsonValue
from pydantic_core import to_jsonable_python

from leadhand import events
from leadhand.contracts.answer import Answer, Conflict, Gap, Metrics
from leadhand.contracts.data import Record
from leadhand.contracts.outcome import Usage
from leadhand.contracts.summary import RunSummary
from leadhand.contracts.task import PlannedWorker
from leadhand.page.markdown import render
from leadhand.run.gaps import without_gaps
from leadhand.serve.question_views import OpenQuestion, run_questions
from leadhand.serve.run_records import RunRecord
from leadhand.trace.run_history import AttemptHistory, RunHistory, TaskHistory
from leadhand.trace.steps import PlanVersion, QuestionHistory, Step

Document = dict[str, JsonValue]
MAX_MESSAGE = 300
_SPENT = ("model", "input_tokens", "output_tokens", "cost_usd")


class RunEntry(RunSummary):
    """A run in a list."""

    waited_s: float | None = None
    """How long its first open question has waited."""
    found_in: str | None = None
    """Where a search found its words: `request`, `answer` or `error`."""


class RunList(Record):
    runs: tuple[RunEntry, ...]
    next: str | None
    """The cursor of the next page; null if there is none."""
    searched: int | None = None
    """How many runs a search has looked at; null without one."""
    complete: bool = True
    """Whether these are all runs that fit, up to the page's end: false if a search was cut off."""


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
    """Why it did not complete, its first 300 characters."""
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


class ShownGap(Gap):
    why: str = ""


class AnswerDocument(Answer[object]):
    """An answer, without its tasks, which are those of the run. For others than operators only the
    text, the output, how it ended, and which tasks have gaps."""

    run_id: str = ""
    team: str = ""
    request: str = ""
    gaps: tuple[ShownGap, ...] = ()  # pyright: ignore[reportIncompatibleVariableOverride]


class UsedBy(Usage):
    """What models were used for, and what it cost."""

    by: Literal["role", "worker", "model"]
    name: str


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
    deadline_s: float | None
    seq: int
    """Of the last event in it."""
    partial: bool
    """Whether `tasks` has only those that changed since `since_seq`."""
    answer: AnswerDocument | None
    """Of a run that waits: what there is so far."""
    answer_html: str
    questions: tuple[OpenQuestion, ...]
    tasks: tuple[TaskEntry, ...]
    critical_path: tuple[str, ...]
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
    used: tuple[UsedBy, ...] = ()


def run_entry(
    run: RunSummary, *, operator: bool, now: dt.datetime | None = None, found_in: str | None = None
) -> RunEntry:
    hidden: dict[str, Any] = {} if operator else {"cost_usd": None, "origin": {}}
    waited_s = (now - run.asked_at).total_seconds() if now and run.asked_at else None
    return RunEntry(**{**dict(run), **hidden}, waited_s=waited_s, found_in=found_in)


def run_document(
    record: RunRecord, *, held: bool, operator: bool, replies: bool, since_seq: int = 0
) -> Document:
    """`held`: whether a process works on it; `replies`: whether the principal may reply."""
    history, state = record.history, record.history.state
    answer = state.answer or state.waiting
    partial = 0 < since_seq <= record.seq
    critical, plan = history.critical_path, state.plan or state.proposed
    shown = None if answer is None else _answer(answer, operator=operator)
    out: Document = {
        "run_id": state.run_id,
        "status": history.run_status(held=held),
        "team": state.team,
        "engine": answer.engine if answer is not None else state.engine,
        "request": state.request,
        "after": (state.after[0].run_id or None) if state.after else None,
        "started_at": _plain(history.started_at),
        "updated_at": _plain(record.updated_at),
        "elapsed_s": history.last_s,
        "deadline_s": state.deadline_s,
        "seq": record.seq,
        "partial": partial,
        "answer": shown,
        "answer_html": "" if answer is None or shown is None else _html(_text(answer, shown)),
        "questions": _plain([*run_questions(record, seen=operator or replies, replies=replies)]),
        "tasks": [
            row
            for row in _tasks(history, "", None, operator=operator, critical={*critical})
            if not partial or record.changed_since(str(row["path"]).partition("/")[0], since_seq)
        ],
        "critical_path": list(critical),
        "plans": _plain(history.plans),
        "gaps": _plain(answer.gaps if answer is not None else ()),
        "conflicts": _plain(history.conflicts),
        "metrics": _plain(history.metrics),
        "budget": state.budget and {"usd": state.budget.usd, "tokens": state.budget.tokens},
        "cost_usd": state.usage.cost_usd,
        "notices": _plain(history.notices),
        "people": _plain(history.questions),
        "workers": _plain(plan.workers if plan is not None else ()),
        "used": [
            {"by": by, "name": name, **usage.model_dump(mode="json")}
            for by in ("role", "worker", "model")
            for name, usage in history.usage_by(by).items()
        ],
    }
    return _seen(RunDocument, out, operator=operator)


def _seen(kind: type[Record], out: Document, *, operator: bool) -> Document:
    return out if operator else out | _defaults(kind)


@functools.cache
def _defaults(kind: type[Record]) -> Document:
    fields = kind.model_fields.items()
    return {name: _plain(field.default) for name, field in fields if not field.is_required()}


# Most of the time that a run of thousands of tasks takes, and an answer does not change.
def _text(answer: Answer, shown: Document) -> str:
    """The text without its gaps and the contact, which the document has apart."""
    return without_gaps(str(shown["answer"]), answer.gaps, contact=answer.contact)


_html = functools.lru_cache(maxsize=32)(render)


def _answer(answer: Answer, *, operator: bool) -> Document:
    if operator:
        return answer.model_dump(mode="json", exclude={"tasks"})
    return {"answer": "", "output": None, **_public(answer)}


def public_answer(answer: Answer) -> Answer:
    """An answer without what only operators see: why there are gaps, tasks, conflicts."""
    gaps = tuple(Gap(task_id=gap.task_id, why="not done") for gap in answer.gaps)
    hidden = {"gaps": gaps, "tasks": (), "conflicts": (), "sources": (), "waiting": ()}
    shown = {name: value for name, value in _public(answer).items() if name != "gaps"}
    return answer.model_copy(update={**hidden, **shown})


def _public(answer: Answer) -> Document:
    kind = events.RunWaiting if answer.waiting else events.RunFinished
    at = dt.datetime.min.replace(tzinfo=dt.UTC)
    event = kind(seq=0, at=at, elapsed_s=0.0, run_id=answer.run_id, answer=answer)
    return cast("Document", events.public(event)["answer"])


def _tasks(
    history: RunHistory, path: str, parent: str | None, *, operator: bool, critical: set[str]
) -> Iterator[Document]:
    for task in history.ordered_tasks():
        place = f"{path}{task.id}"
        yield task_entry(history, task, place, parent, operator=operator) | {
            "critical": not path and task.id in critical
        }
        inner = task.attempts[-1].nested if task.attempts else None
        if inner is not None:
            nested = {*inner.critical_path} if task.id in critical else set[str]()
            for row in _tasks(inner, f"{place}/", place, operator=operator, critical=set()):
                row["critical"] = row["parent"] == place and row["id"] in nested
                yield row


def task_entry(
    history: RunHistory, task: TaskHistory, path: str, parent: str | None, *, operator: bool
) -> Document:
    facts = history.task_state(task.id)
    out: Document = {
        "id": task.id,
        "path": path,
        "parent": parent,
        "worker": facts.worker,
        "status": history.task_status(task.id),
        "depends_on": list(facts.task.depends_on),
        "part_of": task.part_of,
        "round": facts.round or None,
        "started_s": facts.started_s,
        "finished_s": facts.finished_s,
        "busy_s": facts.busy_s,
        "attempts": [attempt_entry(one, operator=operator) for one in task.attempts],
        "critical": False,
        "intent": facts.task.intent,
        "error": task.dropped or facts.why,
        **{name: getattr(facts.usage, name) for name in _SPENT},
    }
    return _seen(TaskEntry, out, operator=operator)


def attempt_entry(attempt: AttemptHistory, *, operator: bool) -> Document:
    worked_s = attempt.worked_s
    out: Document = {
        "attempt": attempt.number,
        "worker": attempt.worker,
        "started_s": attempt.started_s,
        "ended_s": attempt.ended_s,
        "end": attempt.end,
        "kind": attempt.kind or None,
        "waited_s": None if worked_s is None else max(attempt.took_s - worked_s, 0.0),
        "waits": [list(one) for one in attempt.waits],
        "message": None if attempt.end == "completed" else attempt.message[:MAX_MESSAGE],
        **{name: getattr(attempt.usage, name) for name in _SPENT},
        "model": attempt.model,
    }
    return _seen(AttemptEntry, out, operator=operator)


def _plain(value: object) -> JsonValue:
    return cast("JsonValue", to_jsonable_python(value))
