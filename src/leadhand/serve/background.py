"""What is behind a run's answer, for operators: people's replies, costs, made workers. Pure."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue
from pydantic_core import to_jsonable_python

from leadhand.contracts.data import Record
from leadhand.contracts.outcome import Usage
from leadhand.contracts.people import Verdict
from leadhand.trace.run_history import RunHistory


class AskedQuestion(Record):
    """A question to a person, and the reply."""

    at_s: float
    task_id: str | None
    question: str
    verdict: Verdict | None
    text: str
    by: str


class MadeWorker(Record):
    """A worker that was made for the plan."""

    name: str
    description: str
    instructions: str
    tools: tuple[str, ...] | None


class Used(Record):
    """What models were used for, and what it cost."""

    by: Literal["role", "worker", "model"]
    name: str
    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


class Background(Record):
    people: tuple[AskedQuestion, ...] = ()
    workers: tuple[MadeWorker, ...] = ()
    used: tuple[Used, ...] = ()


def background(history: RunHistory) -> dict[str, JsonValue]:
    """The fields of `Background` as JSON."""
    plan = history.state.plan or history.state.proposed
    fields = Usage.model_fields.keys() & Used.model_fields.keys()
    used: list[JsonValue] = [
        {"by": by, "name": name, **usage.model_dump(include={*fields})}
        for by in ("role", "worker", "model")
        for name, usage in history.usage_by(by).items()
    ]
    return {
        "people": [_plain(one, AskedQuestion.model_fields) for one in history.questions],
        "workers": [_plain(one, MadeWorker.model_fields) for one in (plan.workers if plan else ())],
        "used": used,
    }


def _plain(record: object, fields: Mapping[str, object]) -> JsonValue:
    return to_jsonable_python({name: getattr(record, name) for name in fields})
