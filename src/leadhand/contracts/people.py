"""Questions to people during a run, and their replies."""

import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from pydantic import JsonValue

from leadhand.contracts.data import Record
from leadhand.contracts.task import Plan
from leadhand.errors import InputError

Verdict = Literal["approved", "refused", "answered", "declined"]
"""On a plan: `approved` or `refused`. On a task: `answered`, or `declined` if the person has
nothing to say and the next rung is tried. On tool calls: `approved`; any other verdict refuses
them."""
EXPIRY = "expiry"
"""Who replies to a question that no person has answered in time."""
Occasion = Literal["plan", "escalation"]
"""When a person is asked: before a plan is carried out, or when a task was handed back."""


def occasions(approve: Collection[Occasion]) -> tuple[Occasion, ...]:
    """When people are asked. Raises `InputError`."""
    known: tuple[Occasion, ...] = ("plan", "escalation")
    listed = isinstance(approve, Collection) and not isinstance(approve, str)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not listed or not all(one in known for one in approve):
        raise InputError(f"approve is {approve!r}; it is a list of {' and '.join(known)}")
    return tuple(one for one in known if one in approve)


class ToolCall(Record):
    """A tool call that is made only if a person approves it."""

    id: str
    """Its idempotency key."""
    tool: str
    worker: str
    arguments: dict[str, JsonValue]
    """As JSON; what is stored and shown of them has no secrets."""


class CallReply(Record, extra="forbid"):
    """A person's reply about one tool call."""

    approved: bool
    reason: str = ""
    """What the worker is told: why the call is refused, or something to know besides."""


class Question(Record):
    """A question to a person."""

    task_id: str | None = None
    """The task that was handed back, or that the plan breaks down; None for the run's own plan."""
    text: str
    plan: Plan | None = None
    """The plan to approve."""
    call: bool = False
    """Whether it is about tool calls, which can be approved."""
    calls: tuple[ToolCall, ...] = ()
    """The tool calls that it is about; none if a function asks, or leadhand 0.1 wrote it."""
    route: bool = False
    """Whether no step of a router placed the request: the text of a refusal may name workers."""
    workers: tuple[str, ...] = ()
    """The workers that it may name."""
    expires_at: dt.datetime | None = None
    """When it is refused or declined by itself; None: never."""

    def has_expired(self, now: dt.datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class Reply(Record, extra="forbid"):
    """A person's reply to a question."""

    task_id: str | None = None
    """As in the question."""
    verdict: Verdict = "answered"
    text: str = ""
    """What the worker of the task should know, or why the plan or all tool calls are refused."""
    plan: Plan | None = None
    """The plan to carry out instead of the one in the question; None: that one."""
    by: str = "person"
    calls: Mapping[str, CallReply | bool] = {}
    """The reply about each tool call of the question, by its id; empty: `verdict` is about all."""

    def refusal(self, what: str, why: str) -> str:
        """In words, that it refused `what`."""
        by = "a person" if self.by == "person" else self.by
        said = f"{what} was refused" if self.by == EXPIRY else f"{by} refused {what}"
        return f"{said}: {why}" if why else said

    def on_calls(self, ids: Iterable[str]) -> dict[str, CallReply]:
        """The reply about each call of these ids; one that is not named is refused."""
        approved = self.verdict == "approved" and not self.calls
        other = CallReply(approved=approved, reason=self.text)
        replies = {id: self.calls.get(id, other) for id in ids}
        return {
            id: CallReply(approved=one) if isinstance(one, bool) else one
            for id, one in replies.items()
        }


class RunMessage(Record):
    """A message in the journal to the process that runs a run: a reply, or a request to stop."""

    id: int = 0
    """The message's id in its journal, assigned when it is posted."""
    run_id: str
    reply: Reply | None = None
    """None: cancel the run."""
    reason: str = ""
    """Why to cancel it."""
    interrupted: bool = False
    """The process ended at once on purpose, or, with a `reason`, had no context for the run."""
    seq: int = 0
    """The run's last event when a person replied; 0 if unknown."""

    @property
    def unrestored(self) -> bool:
        return self.interrupted and bool(self.reason)

    def is_before(self, seq: int) -> bool:
        """Whether it is no reply to a question with this `seq`, but to an earlier one."""
        return 0 < self.seq < seq
