"""A run and its answer in the words of OpenAI's protocols, and as it happens."""

import datetime as dt
import json
import logging
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from pydantic import JsonValue
from starlette.exceptions import HTTPException

from leadhand import events
from leadhand.contracts.answer import FOUND_HEADING, Answer
from leadhand.errors import LeadhandError
from leadhand.events import TextDelta
from leadhand.ports import Journal
from leadhand.run.handle import Run
from leadhand.serve.principals import Principal
from leadhand.serve.problems import HttpProblem, openai_error, problem_of

_log = logging.getLogger("leadhand")

Document = dict[str, object]
AGAIN = "\n\n---\n\n"
"""Comes between text that is void and what takes its place: what was sent can't be taken back."""
_NO_SOURCE = ("", "result")
"""What the sources have of a result without evidence."""
_PLACE = re.compile(r"(?::[\d,-]+|[!#]\S*)\Z")
"""The line, page or row at the end of a reference to a file."""


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """How far a run is, in words that anyone may see."""

    line: str


async def followed(
    run: Run[Any, object],
    journal: Journal,
    principal: Principal,
    *,
    steps: bool,
    as_output: bool = False,
    waits: bool = False,
) -> AsyncGenerator[ProgressLine | str | Answer]:
    """The text of the answer as a model writes it, or its rest once it is there, and the answer at
    last; or what there is of it when the run waits for a person, unless the reader `waits` too."""
    sent = ""
    async with aclosing(run.events(deltas=True)) as found:
        async for event in found:
            match event:
                case TextDelta(task_id=None, role="synthesizer") if not as_output:
                    yield f"{AGAIN}{event.text}" if event.reset and sent else event.text
                    sent = event.text if event.reset else sent + event.text
                case events.RunWaiting(within=()) if not waits:
                    if await journal.last_seq(run.id) == event.seq:  # it was not resumed
                        yield event.answer
                        return
                case events.RunFinished(within=()):
                    text = text_of(event.answer, principal, as_output=as_output)
                    if text is not None and (rest := _rest(text, sent)):
                        yield rest
                    yield event.answer
                case events.RunEvent(within=()) if steps and (line := _step(event)):
                    yield ProgressLine(line)
                case _:
                    pass


def _rest(text: str, sent: str) -> str:
    """What a text has besides what was sent of it; all of it if that is no part of it."""
    if not sent.strip():
        return text
    before, found, after = text.partition(sent.strip())
    if found and not before.strip():
        return after
    if not found:
        return f"{AGAIN}{text}"
    notes = (before.strip().removesuffix(FOUND_HEADING).strip(), after.strip())
    return AGAIN + "\n\n".join(filter(None, notes))


def _step(event: object) -> str:
    match event:
        case events.PlanAccepted():
            return "The plan is made."
        case events.TaskDispatched(attempt=1):
            return f"{event.task_id}: {event.worker} starts."
        case events.TaskCompleted():
            return f"{event.task_id} is done."
        case events.TaskDispatched():
            return f"{event.task_id} is tried again."
        case events.TaskFailed(final=True) | events.TaskEscalated(final=True):
            return f"{event.task_id} is given up."
        case events.SynthesisStarted():
            return "The answer is being written."
        case _:
            return ""


def seen_by(principal: Principal, answer: Answer) -> tuple[str, JsonValue]:
    """The text and the output of an answer as the principal may see them."""
    if principal.has("operator"):
        return answer.answer, answer.output
    at = dt.datetime.min.replace(tzinfo=dt.UTC)
    end = events.RunFinished(seq=0, at=at, elapsed_s=0.0, run_id=answer.run_id, answer=answer)
    seen = cast("dict[str, JsonValue]", events.public(end)["answer"])
    return str(seen["answer"]), seen["output"]


def text_of(answer: Answer, principal: Principal, *, as_output: bool) -> str | None:
    """What the assistant says: the answer's text, or its output as JSON; None if there is none."""
    if answer.status not in ("complete", "partial"):
        return None
    text, output = seen_by(principal, answer)
    if as_output:
        return None if output is None else json.dumps(output, ensure_ascii=False)
    return text


def refusal_of(answer: Answer) -> str:
    """What is said instead, of a run that waits for a person, or has no output of its type."""
    if not answer.waiting:
        return f"The answer has no output of the team's type; run {answer.run_id} says why."
    asked = "a worker has a question to a person"
    if any(one.plan is not None or one.call for one in answer.waiting):
        asked = "a person has to approve its plan or its tool calls"
    return (
        f"There is no answer yet: {asked}. Run {answer.run_id} waits for the reply, at "
        f"/api/v1/runs/{answer.run_id}/replies or on the page of the service, and then continues."
    )


def failure_of(answer: Answer, principal: Principal) -> HttpProblem | None:
    """What a client gets of a run that failed or was cancelled; None of any other."""
    if answer.status not in ("failed", "cancelled"):
        return None
    why = f"the team {answer.team!r} has no answer; run {answer.run_id} says what failed"
    if answer.status == "cancelled":
        why = f"run {answer.run_id} was cancelled"
    elif principal.has("operator"):
        why += "".join(f"\n{gap.task_id}: {gap.why}" for gap in answer.gaps)
    return HttpProblem(
        409 if answer.status == "cancelled" else 500,
        why,
        headers={"x-should-retry": "false"},
        extra={"code": f"run_{answer.status}", "run_id": answer.run_id},
    )


def annotations(answer: Answer, text: str) -> Iterator[Document]:
    """A citation for each source that the text names: of a page, or of a file, whose `file_id` is
    what the text calls it."""
    for ref in dict.fromkeys(source.ref for source in answer.sources):
        found = re.search(rf"(?<!\w){re.escape(ref)}(?!\w)", text)
        if found is None or ref in _NO_SOURCE:
            continue
        start, end = found.span()
        if ref.startswith(("https://", "http://")):
            place: Document = {"start_index": start, "end_index": end, "url": ref, "title": ref}
            yield {"type": "url_citation", **place}
        else:
            name = _PLACE.sub("", ref)
            yield {"type": "file_citation", "file_id": ref, "filename": name, "index": start}


def about(answer: Answer) -> Document:
    """What OpenAI's protocols have no words for."""
    return {
        "run_id": answer.run_id,
        "status": answer.status,
        "engine": answer.engine,
        "ended_by": answer.ended_by,
        "gaps": [gap.task_id for gap in answer.gaps],
    }


def message_of(data: Document) -> str:
    """A message of a stream; an event, which has a type, with its name."""
    name = f"event: {data['type']}\n" if "type" in data else ""
    return f"{name}data: {json.dumps(data)}\n\n"


def error_of(error: Exception) -> Document:
    """What ends a stream that can't go on."""
    if not isinstance(error, LeadhandError | HTTPException):
        _log.error("a stream failed", exc_info=error)
    return {"error": openai_error(problem_of(error))}
