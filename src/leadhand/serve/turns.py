"""Turns of clients that wait for an answer: a run, and what it says, whole or as it is written."""

import asyncio
import json
import logging
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.exceptions import HTTPException

from leadhand import events
from leadhand.contracts.answer import FOUND_HEADING, REQUEST_GAP, Answer
from leadhand.errors import InputError, LeadhandError
from leadhand.events import TextDelta
from leadhand.run.handle import Run
from leadhand.serve.documents import seen_answer
from leadhand.serve.events import disconnected
from leadhand.serve.lifespan import erase_unkept
from leadhand.serve.problems import HttpProblem, openai_error, problem_of
from leadhand.serve.service import ServiceCaller

OpenAIDocument = dict[str, object]
AGAIN = "\n\n---\n\n"
"""Comes between text that is void and what takes its place: what was sent can't be taken back."""
_NO_SOURCE = ("", "result")
"""What the sources have of a result without evidence."""
_PLACE = re.compile(r"(?::[\d,-]+|[!#]\S*)\Z")
"""The line, page or row at the end of a reference to a file."""

_log = logging.getLogger("leadhand")


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """How far a run is, in words that anyone may see."""

    line: str


Part = ProgressLine | str | Answer
"""Text of the answer, as it is written, and the answer at last."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a client hears of an answer: a text with citations, why there is none, or an error."""

    text: str | None = None
    """The answer's text, or its output as JSON."""
    annotations: Sequence[OpenAIDocument] = ()
    refusal: str = ""
    problem: HttpProblem | None = None


@dataclass(frozen=True, slots=True)
class ClientTurn:
    """A run, and the client that waits for its answer."""

    caller: ServiceCaller
    run: Run[Any, object]
    as_output: bool = False
    """Whether the client gets the output as JSON in place of the text."""
    background: bool = False
    """Whether the client waits for replies of people, too, and may leave and come back."""
    progress: bool = False
    """Whether it is told how far the run is."""
    erases: bool = True
    """Whether a run that is not to be stored is erased once there is its answer."""

    async def answer(self, request: Request) -> Answer | None:
        """The answer; None if the client has left before."""
        answering = asyncio.create_task(self.caller.while_counting(self._answered()))
        leaving = asyncio.create_task(disconnected(request.receive))
        try:
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                return None
            return answering.result()
        finally:
            if not answering.done() or answering.exception():
                await self._stop()
            for task in (answering, leaving):
                task.cancel()
            await asyncio.wait((answering, leaving))

    async def _answered(self) -> Answer:
        async with aclosing(self.parts()) as parts:
            return [part async for part in parts if isinstance(part, Answer)][-1]

    async def stream(
        self, said: AsyncGenerator[OpenAIDocument], *, chat: bool = False
    ) -> AsyncGenerator[str]:
        """What is `said` as messages; an error ends them. A client that leaves stops the run."""
        ended = False
        try:
            async with aclosing(said):
                async for one in said:
                    yield _message(one)
            ended = True
            if chat:
                yield "data: [DONE]\n\n"
        except Exception as error:  # the status was sent before
            ended = True
            if not isinstance(error, LeadhandError | HTTPException):
                _log.error("a stream failed", exc_info=error)
            yield error_message(problem_of(error), chat=chat)
        finally:
            if not ended:
                await self._stop()

    async def _stop(self) -> None:
        """Its client left."""
        if not self.background and not self.caller.service.draining.is_set():
            with suppress(InputError):  # it has ended
                await self.run.cancel("its client left")

    async def parts(self) -> AsyncGenerator[Part]:
        """The text of the answer as a model writes it, or its rest once it is there, and the answer
        at last; or what there is of it when the run waits for a person."""
        sent = ""
        async with aclosing(self.run.events(deltas=True)) as found:
            async for event in found:
                match event:
                    case TextDelta(task_id=None, role="synthesizer") if not self.as_output:
                        yield f"{AGAIN}{event.text}" if event.reset and sent else event.text
                        sent = event.text if event.reset else sent + event.text
                    case events.RunWaiting(within=()) if not self.background:
                        last = await self.caller.service.journal.last_seq(self.run.id)
                        if last == event.seq:  # it was not resumed
                            yield event.answer
                            return
                    case events.RunFinished(within=()):
                        text = self.said(event.answer).text
                        if text is not None and (rest := _rest(text, sent)):
                            yield rest
                        if self.erases:
                            await erase_unkept(self.caller.service, self.run.id)
                        yield event.answer
                    case events.RunEvent(within=()) if self.progress and (line := _step(event)):
                        yield ProgressLine(line)
                    case _:
                        pass

    def said(self, answer: Answer) -> Said:
        if answer.status in ("failed", "cancelled"):
            return Said(problem=self._failure(answer))
        shown = seen_answer(answer, operator=self.caller.is_operator)
        text = shown.answer
        if self.as_output:
            data = json.dumps(shown.output, ensure_ascii=False)
            text = None if shown.output is None else data
        if text is None or answer.status == "waiting":
            return Said(refusal=refusal_of(answer))
        return Said(text, [*annotations(answer, text)])

    def _failure(self, answer: Answer) -> HttpProblem:
        """What a client gets of a run that failed or was cancelled."""
        wrong = [gap.why for gap in answer.gaps if gap.task_id == REQUEST_GAP]
        if wrong:
            return HttpProblem(400, wrong[0], extra={"run_id": answer.run_id})
        why = f"the team {answer.team!r} has no answer; run {answer.run_id} says what failed"
        if answer.status == "cancelled":
            why = f"run {answer.run_id} was cancelled"
        elif self.caller.is_operator:
            why += "".join(f"\n{gap.task_id}: {gap.why}" for gap in answer.gaps)
        return HttpProblem(
            409 if answer.status == "cancelled" else 500,
            why,
            headers={"x-should-retry": "false"},
            extra={"code": f"run_{answer.status}", "run_id": answer.run_id},
        )


def error_message(problem: HttpProblem, *, chat: bool) -> str:
    """What ends a stream that can't go on."""
    kind = {} if chat else {"type": "error"}
    return _message({**kind, "error": openai_error(problem)})


def _message(data: OpenAIDocument) -> str:
    """A message of a stream; an event, which has a type, with its name."""
    name = f"event: {data['type']}\n" if "type" in data else ""
    return f"{name}data: {json.dumps(data)}\n\n"


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


def annotations(answer: Answer, text: str) -> Iterator[OpenAIDocument]:
    """A citation for each source that the text names: of a page, or of a file, whose `file_id` is
    what the text calls it."""
    for ref in dict.fromkeys(source.ref for source in answer.sources):
        found = re.search(rf"(?<!\w){re.escape(ref)}(?!\w)", text)
        if found is None or ref in _NO_SOURCE:
            continue
        start, end = found.span()
        if ref.startswith(("https://", "http://")):
            place: OpenAIDocument = {"start_index": start, "end_index": end}
            yield {"type": "url_citation", **place, "url": ref, "title": ref}
        else:
            name = _PLACE.sub("", ref)
            yield {"type": "file_citation", "file_id": ref, "filename": name, "index": start}


def about(answer: Answer) -> OpenAIDocument:
    """What OpenAI's protocols have no words for."""
    found = {name: getattr(answer, name) for name in ("run_id", "status", "engine", "ended_by")}
    return {**found, "gaps": [gap.task_id for gap in answer.gaps]}


def used(answer: Answer, read: str, written: str) -> OpenAIDocument:
    """The tokens of a run, by the words that a protocol has for them."""
    tokens = answer.metrics.input_tokens, answer.metrics.output_tokens
    named = {f"{read}_tokens": tokens[0], f"{written}_tokens": tokens[1]}
    return {**named, "total_tokens": sum(tokens)}
