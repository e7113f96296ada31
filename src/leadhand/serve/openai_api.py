"""OpenAI's protocols: each team is a model, a chat is a run, and so is a response, which another
one may follow."""

import asyncio
import json
import logging
import time
from collections.abc import Iterator
from contextlib import suppress

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from leadhand.contracts.answer import Answer
from leadhand.errors import InputError, LeadhandError
from leadhand.serve import openai_requests as requests
from leadhand.serve import turns
from leadhand.serve.events import EventStream
from leadhand.serve.problems import HttpProblem, openai_error, problem_of
from leadhand.serve.run_records import RunRecord
from leadhand.serve.service import Calling, ServiceCaller

OpenAIDocument = turns.OpenAIDocument

router = APIRouter(prefix="/v1", tags=["OpenAI"])

CANCEL_S = 5.0
"""How long a cancelled run has to end before its response is shown as it is."""
PREFIX = "resp_"
_DETAILS = {
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}
"""Of the usage of a response, which clients take for granted."""
_NO_TEXT: OpenAIDocument = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}

_log = logging.getLogger("leadhand")


@router.get("/models")
async def list_models(caller: Calling) -> OpenAIDocument:
    return {"object": "list", "data": [_model(name) for name in caller.service.supervisors]}


@router.get("/models/{model:path}")
async def read_model(model: str, caller: Calling) -> OpenAIDocument:
    return _model(requests.team_named(caller.service, model).name)


def _model(name: str) -> OpenAIDocument:
    return {"id": name, "object": "model", "created": 0, "owned_by": "leadhand"}


def _message_of(data: OpenAIDocument) -> str:
    """A message of a stream; an event, which has a type, with its name."""
    name = f"event: {data['type']}\n" if "type" in data else ""
    return f"{name}data: {json.dumps(data)}\n\n"


def _error_of(error: Exception) -> OpenAIDocument:
    """What ends a stream that can't go on."""
    if not isinstance(error, LeadhandError | HTTPException):
        _log.error("a stream failed", exc_info=error)
    return {"error": openai_error(problem_of(error))}


async def _said(
    writer: "_Completion | RunResponse", turn: turns.ClientTurn, request: Request, *, stream: bool
) -> OpenAIDocument | Response:
    if stream:
        return EventStream(turn.stream(writer.messages), turn.caller)
    answer = await turn.answer(request)
    return Response(status_code=499) if answer is None else writer.document(answer)


# Chats


@router.post("/chat/completions", response_model=None)
async def complete(
    body: requests.ChatRequest, request: Request, caller: Calling
) -> OpenAIDocument | Response:
    """Runs the team for the last message. A client that leaves stops the run."""
    if body.stream:
        caller.check_streams()
    turn = await requests.begin(caller, body)
    completion = _Completion(turn, body)
    return await _said(completion, turn, request, stream=body.stream)


class _Completion:
    """Whole, or in pieces, which have one id."""

    def __init__(self, turn: turns.ClientTurn, body: requests.ChatRequest) -> None:
        self._turn = turn
        self._with_usage = bool((body.stream_options or {}).get("include_usage"))
        self._head: OpenAIDocument = {
            "id": f"chatcmpl-{turn.run.id}",
            "created": int(time.time()),
            "model": body.model,
        }

    def document(self, answer: Answer) -> OpenAIDocument:
        """Raises `HttpProblem` if there is no answer."""
        message = {"role": "assistant", **self._message(answer)}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _end(answer)}
        kind = {**self._head, "object": "chat.completion", "choices": [choice]}
        return {
            **kind,
            "usage": turns.used(answer, "prompt", "completion"),
            "leadhand": turns.about(answer),
        }

    def messages(self, part: turns.Part | Exception | None) -> Iterator[str]:
        match part:
            case None:
                yield self._chunk({"role": "assistant"})
            case turns.ProgressLine(line):
                yield self._chunk({"reasoning_content": f"{line}\n"})
            case str():
                yield self._chunk({"content": part})
            case Exception():
                yield _message_of(_error_of(part))
            case _:
                message = self._message(part)
                del message["content"]  # it was sent
                yield self._chunk(message)
                yield self._chunk({}, _end(part), leadhand=turns.about(part))
                if self._with_usage:
                    yield self._piece(choices=[], usage=turns.used(part, "prompt", "completion"))
                yield "data: [DONE]\n\n"

    def _message(self, answer: Answer) -> OpenAIDocument:
        """What the assistant says: its text, or why there is none yet."""
        if (problem := self._turn.failure(answer)) is not None:
            raise problem
        text = self._turn.text(answer)
        if text is None:
            return {"content": None, "refusal": turns.refusal_of(answer)}
        cited = [
            {"type": one["type"], str(one["type"]): one} for one in turns.annotations(answer, text)
        ]
        return {"content": text, "refusal": None, "annotations": cited}

    def _chunk(self, delta: OpenAIDocument, end: str | None = None, **more: object) -> str:
        usage = {"usage": None} if self._with_usage else {}
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        return self._piece(choices=[choice], **usage, **more)

    def _piece(self, **fields: object) -> str:
        return _message_of({**self._head, "object": "chat.completion.chunk", **fields})


def _end(answer: Answer) -> str:
    """`length` if a limit ended the run before it was complete."""
    return "length" if answer.ended_by in ("budget", "deadline") else "stop"


# Responses


@router.post("/responses", response_model=None)
async def create(
    body: requests.ResponseRequest, request: Request, caller: Calling
) -> OpenAIDocument | Response:
    """Runs the team. A client that leaves stops the run, unless it runs in the `background`."""
    if body.stream:
        caller.check_streams()
    before = body.previous_response_id
    after = None if before is None else (await _stored(caller, before)).turn.run.id
    turn = await requests.begin(caller, body, after=after)
    response = RunResponse(turn, await caller.visible(turn.run.id))
    if body.background and not body.stream:
        return response.document(None)
    return await _said(response, turn, request, stream=body.stream)


@router.get("/responses/{response_id}")
async def retrieve(response_id: str, caller: Calling, stream: bool = False) -> OpenAIDocument:
    """A response as it is now."""
    if stream:
        raise requests.unsupported("stream", "a response streams only to the client that made it")
    return await (await _stored(caller, response_id)).now()


@router.post("/responses/{response_id}/cancel")
async def cancel(response_id: str, caller: Calling) -> OpenAIDocument:
    run = (await _stored(caller, response_id)).turn.run
    with suppress(InputError, TimeoutError):  # it has ended
        await run.cancel("cancelled by its client")
        async with asyncio.timeout(CANCEL_S):
            await run.answer()
    return await (await _stored(caller, response_id)).now()


async def _stored(caller: ServiceCaller, response_id: str) -> "RunResponse":
    """One that the principal may see. Raises `HttpProblem` 404."""
    if not response_id.startswith(PREFIX):
        raise HttpProblem(404, f"there is no response {response_id!r:.200}")
    record = await caller.visible(response_id.removeprefix(PREFIX))
    asked = record.state.origin.get(requests.ORIGIN)
    given = {**asked} if isinstance(asked, dict) else {}
    as_output, background = bool(given.get("as_output")), bool(given.get("background"))
    run = caller.service.handle(record)
    return RunResponse(turns.ClientTurn(caller, run, as_output, background), record)


class RunResponse:
    """The response that a run is, for a principal: a document, or the events of a stream."""

    def __init__(self, turn: turns.ClientTurn, record: RunRecord) -> None:
        self.turn, self._record, state = turn, record, record.state
        began, after = record.history.started_at, state.after[0].run_id if state.after else ""
        self._head: OpenAIDocument = {
            "id": f"{PREFIX}{state.run_id}",
            "object": "response",
            "created_at": int(began.timestamp()) if began else 0,
            "model": state.team,
            "status": "in_progress",
            "background": turn.background,
            "error": None,
            "incomplete_details": None,
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": f"{PREFIX}{after}" if after else None,
            "text": {"format": {"type": "json_object" if turn.as_output else "text"}},
            "tool_choice": "none",
            "tools": [],
            "usage": None,
        }
        self._sent, self._writes = 0, False

    async def now(self) -> OpenAIDocument:
        state, journal = self._record.state, self.turn.caller.service.journal
        works = state.answer is None and await journal.holder(state.run_id) is not None
        return self.document(None if works else state.answer or state.waiting)

    def document(self, answer: Answer | None) -> OpenAIDocument:
        """With an answer, or what there is while the run waits for a person; None: not yet."""
        if answer is None:
            return {**self._head, "leadhand": {"run_id": self.turn.run.id}}
        usage = {**turns.used(answer, "input", "output"), **_DETAILS}
        out = {**self._head, "leadhand": turns.about(answer), "usage": usage}
        if (content := self._content(answer)) is not None:
            out["output"] = [self._message("completed", content)]
        match answer.status:
            case "complete" | "cancelled":
                out["status"] = {"complete": "completed"}.get(answer.status, "cancelled")
            case "failed":
                problem = self.turn.failure(answer)
                error = {"code": "server_error", "message": problem.detail if problem else ""}
                out |= {"status": "failed", "error": error}
            case "waiting" if self.turn.background:
                pass  # clients ask again until it has ended
            case "waiting" | "partial":
                reason = answer.ended_by or "gaps"
                reason = "waiting_for_person" if answer.waiting else reason
                out |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        return out

    def _message(self, status: str, *content: OpenAIDocument) -> OpenAIDocument:
        head: OpenAIDocument = {"id": f"msg_{self.turn.run.id}", "type": "message"}
        return {**head, "role": "assistant", "status": status, "content": [*content]}

    def _content(self, answer: Answer) -> OpenAIDocument | None:
        """What the message says: the text with its citations, or why there is no text; None if
        there is no message."""
        if self.turn.failure(answer) is not None:
            return None
        text = self.turn.text(answer)
        if text is None:
            return {"type": "refusal", "refusal": turns.refusal_of(answer)}
        return {**_NO_TEXT, "text": text, "annotations": [*turns.annotations(answer, text)]}

    def messages(self, part: turns.Part | Exception | None) -> Iterator[str]:
        """The events of a stream, numbered from 0."""
        match part:
            case None:
                yield self._event("created", response=self.document(None))
                yield self._event("in_progress", response=self.document(None))
            case turns.ProgressLine(line):
                yield self._event("in_progress", response=self.document(None), progress=line)
            case str():
                yield from self._begin_message(_NO_TEXT)
                yield self._event_in("output_text.delta", delta=part, logprobs=[])
            case Exception():
                yield _message_of({"type": "error", **_error_of(part)})
            case _:
                yield from self._end(part)

    def _event(self, kind: str, **fields: object) -> str:
        number, self._sent = self._sent, self._sent + 1
        return _message_of({"type": f"response.{kind}", "sequence_number": number, **fields})

    def _event_in(self, kind: str, **fields: object) -> str:
        """About what the message says."""
        place = {"item_id": f"msg_{self.turn.run.id}", "output_index": 0, "content_index": 0}
        return self._event(kind, **place, **fields)

    def _begin_message(self, content: OpenAIDocument) -> Iterator[str]:
        if not self._writes:
            self._writes, item = True, self._message("in_progress")
            yield self._event("output_item.added", output_index=0, item=item)
            yield self._event_in("content_part.added", part=content)

    def _end(self, answer: Answer) -> Iterator[str]:
        content, item = self._content(answer), self._message("incomplete")
        if content is not None:
            said = content.get("refusal")
            yield from self._begin_message({**content, "refusal": ""} if said else _NO_TEXT)
            if said:
                yield self._event_in("refusal.delta", delta=said)
                yield self._event_in("refusal.done", refusal=said)
            else:
                for n, one in enumerate(turns.annotations(answer, str(content["text"]))):
                    kind = "output_text.annotation.added"
                    yield self._event_in(kind, annotation_index=n, annotation=one)
                yield self._event_in("output_text.done", text=content["text"], logprobs=[])
            yield self._event_in("content_part.done", part=content)
            item = self._message("completed", content)
        if self._writes:
            yield self._event("output_item.done", output_index=0, item=item)
        response = self.document(answer)
        # A stream ends with one of three events; the status of the response says more.
        status = response["status"]
        kind = status if status in ("completed", "failed") else "incomplete"
        yield self._event(f"{kind}", response=response)
