"""What people are asked while a run goes on, and what they say."""

from typing import Literal

from leadhand.contracts.record import Record
from leadhand.contracts.task import Plan

Verdict = Literal["approved", "refused", "answered", "declined"]
"""Of a plan: `approved` or `refused`. Of a task: `answered`, or `declined` where the person has
nothing to say and the ladder goes on; where its worker wants to call a tool, `approved` too."""
Occasion = Literal["plan", "escalation"]
"""When a person may be asked: before a plan is carried out, and where a task was handed back."""


class Question(Record):
    """Something that a person is asked."""

    task_id: str | None = None
    """The task that was handed back; none where the plan is to be approved."""
    text: str
    plan: Plan | None = None
    """The plan to approve."""
    call: bool = False
    """Whether it is about a tool call that can be approved."""


class Reply(Record):
    """What a person says to a question."""

    task_id: str | None = None
    """As in the question."""
    verdict: Verdict
    text: str = ""
    """What the worker of the task should know, or why the plan is refused."""
    plan: Plan | None = None
    """The plan to carry out in place of the one that was shown; none: that one."""
    by: str = "person"


def checked_reply(said: Reply) -> Reply:
    """`said`, every part of it checked, however it was made. Raises `ValidationError`."""
    return Reply.model_validate(said.model_dump(warnings=False))


class RunMessage(Record):
    """Something left in the journal for whoever works on a run: a reply, or the word to stop."""

    id: int = 0
    """Of the message in its journal; given when it is posted."""
    run_id: str
    reply: Reply | None = None
    """None: the run is to be cancelled."""
    reason: str = ""
    """Why it is to be cancelled."""
    interrupted: bool = False
    """True: the process was ended on purpose, at once; nothing is to be cancelled."""
