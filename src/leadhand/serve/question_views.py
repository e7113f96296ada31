"""Open questions as JSON, with what each reply does in plain words. Pure."""

import datetime as dt
from collections.abc import Iterator, Mapping

from pydantic import Field

from leadhand.contracts.people import Question, Verdict
from leadhand.run.questions import open_questions
from leadhand.serve.run_records import RunRecord


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


def run_questions(record: RunRecord, *, seen: bool, replies: bool) -> Iterator[OpenQuestion]:
    """The open questions of a run; of those that may not be `seen` only that they are there."""
    state = record.history.state
    for question in open_questions(state):
        if question.task_id in record.asked:
            seq, at = record.asked[question.task_id]
            hidden = Question(task_id=question.task_id, text="", expires_at=question.expires_at)
            shown = question if seen else hidden
            found = effects(question, amends=state.plan is not None) if replies else {}
            yield OpenQuestion(
                **dict(shown),
                id=str(seq),
                asked_at=at,
                allowed=tuple(found),
                effects=found,
                mine=replies,
            )


def effects(question: Question, *, amends: bool) -> dict[Verdict, str]:
    """What happens on each reply that the question allows, in plain words.

    `amends`: whether the run has a plan already, which the one in the question would change.
    """
    if question.plan is not None and question.route:
        return {
            "approved": "The worker that is proposed does the request.",
            "refused": "With the name of a worker as text, that one does it. Without, nothing is "
            "done, and the answer says so.",
        }
    if question.plan is not None and amends:
        return {
            "approved": "The plan is changed as shown, and its new tasks start.",
            "refused": "The plan stays as it was approved. What the change was for is missing from "
            "the answer.",
        }
    if question.plan is not None:
        return {
            "approved": "The plan is carried out as shown, or as you change it. Later changes of "
            "it are asked about again.",
            "refused": "Nothing of it is done, and the answer gives your reason.",
        }
    if question.calls:
        tools = " and ".join(dict.fromkeys(call.tool for call in question.calls))
        worker = question.calls[0].worker
        return {
            "approved": f"{tools} is called once with exactly these arguments, and {worker} "
            "continues with the result.",
            "refused": f"{tools} is not called. {worker} reads your reason and continues; the "
            "answer says what was not done.",
        }
    if question.call:
        return {
            "approved": "The task continues and does what it asks for.",
            "declined": "The task does not do it; the answer says what is missing.",
        }
    others = " The name of another worker hands it over." if question.workers else ""
    return {
        "answered": f"The task starts again with your text added to what it is to do.{others}",
        "declined": "Another way is tried if the team has one. Otherwise the task is left out, and "
        "the answer says so.",
    }
