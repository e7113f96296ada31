"""Questions to people during a run, and their replies."""

from typing import Literal

from leadhand.contracts.record import Record
from leadhand.contracts.task import Plan

Verdict = Literal["approved", "refused", "answered", "declined"]
"""On a plan: `approved` or `refused`. On a task: `answered`, or `declined` if the person has
nothing to say and the next rung is tried; if its worker wants to call a tool, also `approved`."""
Occasion = Literal["plan", "escalation"]
"""When a person is asked: before a plan is carried out, or when a task was handed back."""


class Question(Record):
    """A question to a person."""

    task_id: str | None = None
    """The task that was handed back; None if the plan needs approval."""
    text: str
    plan: Plan | None = None
    """The plan to approve."""
    call: bool = False
    """Whether it is about a tool call, which can be approved."""


class Reply(Record):
    """A person's reply to a question."""

    task_id: str | None = None
    """As in the question."""
    verdict: Verdict
    text: str = ""
    """What the worker of the task should know, or why the plan is refused."""
    plan: Plan | None = None
    """The plan to carry out instead of the one in the question; None: that one."""
    by: str = "person"


def checked_reply(reply: Reply) -> Reply:
    """`reply`, validated in all its parts, however it was built. Raises `ValidationError`."""
    return Reply.model_validate(reply.model_dump(warnings=False))


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
    """True: the process was ended at once on purpose; there is nothing to cancel."""
    seq: int = 0
    """The run's last event when a person replied; 0 if unknown."""

    def is_before(self, seq: int) -> bool:
        """Whether it is no reply to a question with this `seq`, but to an earlier one."""
        return 0 < self.seq < seq
