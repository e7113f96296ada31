"""OpenAI's protocols: each team is a model, a chat is a run, and so is a response, which another
one may follow."""

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress

from fastapi import APIRouter, Request
from fastapi.responses import Response

from leadhand.contracts.answer import Answer
from leadhand.errors import InputError
from leadhand.serve import openai_requests as requests
from leadhand.serve.events import EventStream
from leadhand.serve.openai_requests import ORIGIN, ChatRequest, ResponseRequest
from leadhand.serve.problems import HttpProblem
from leadhand.serve.run_records import RunRecord
from leadhand.serve.service import Calling, ServiceCaller, revoked
from leadhand.serve.turns import (
    ClientTurn,
    OpenAIDocument,
    Part,
    ProgressLine,
    about,
    error_message,
    used,
)

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


@router.get("/models")
async def list_models(caller: Calling) -> OpenAIDocument:
    return {"object": "list", "data": [_model(name) for name in caller.service.supervisors]}


@router.get("/models/{model:path}")
async def read_model(model: str, caller: Calling) -> OpenAIDocument:
    return _model(requests.team_named(caller.service, model).name)


def _model(name: str) -> OpenAIDocument:
    return {"id": name, "object": "model", "created": 0, "owned_by": "leadhand"}


# Chats


@router.post("/chat/completions", response_model=None)
async def complete(
    body: ChatRequest, request: Request, caller: Calling
) -> OpenAIDocument | Response:
    """Runs the team for the last message. A client that leaves stops the run."""
    caller.check_streams()
    turn = await requests.begin(caller, body)
    head = {"id": f"chatcmpl-{turn.run.id}", "created": int(time.time()), "model": body.model}
    if body.stream:
        with_usage = bool((body.stream_options or {}).get("include_usage"))
        chunks = _chunks(turn, {**head, "object": "chat.completion.chunk"}, with_usage=with_usage)
        ending = error_message(revoked(), chat=True)
        return EventStream(turn.stream(chunks, chat=True), caller, revoked=ending)
    if (answer := await turn.answer(request)) is None:
        return Response(status_code=499)
    message = {"role": "assistant", **_message(turn, answer)}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _end(answer)}
    usage = used(answer, "prompt", "completion")
    whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    return {**whole, "leadhand": about(answer)}


def _message(turn: ClientTurn, answer: Answer) -> OpenAIDocument:
    """What the assistant says: its text, or why there is none yet. Raises `HttpProblem` if there is
    no answer."""
    said = turn.said(answer)
    if said.problem is not None:
        raise said.problem
    if said.text is None:
        return {"content": None, "refusal": said.refusal}
    cited = [{"type": one["type"], str(one["type"]): one} for one in said.annotations]
    return {"content": said.text, "refusal": None, "annotations": cited}


def _end(answer: Answer) -> str:
    """`length` if a limit ended the run before it was complete."""
    return "length" if answer.ended_by in ("budget", "deadline") else "stop"


async def _chunks(
    turn: ClientTurn, head: OpenAIDocument, *, with_usage: bool
) -> AsyncGenerator[OpenAIDocument]:
    def chunk(delta: OpenAIDocument, end: str | None = None) -> OpenAIDocument:
        usage = {"usage": None} if with_usage else {}
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}], **usage}

    yield chunk({"role": "assistant"})
    async for part in turn.parts():
        match part:
            case ProgressLine(line):
                yield chunk({"reasoning_content": f"{line}\n"})
            case str():
                yield chunk({"content": part})
            case _:
                message = _message(turn, part)
                del message["content"]  # it was sent
                yield chunk(message)
                yield {**chunk({}, _end(part)), "leadhand": about(part)}
                if with_usage:
                    yield {**head, "choices": [], "usage": used(part, "prompt", "completion")}


# Responses


@router.post("/responses", response_model=None)
async def create(
    body: ResponseRequest, request: Request, caller: Calling
) -> OpenAIDocument | Response:
    """Runs the team. A client that leaves stops the run, unless it runs in the `background`."""
    caller.check_streams()
    before = body.previous_response_id
    after = None if before is None else (await _stored(caller, before)).turn.run.id
    turn = await requests.begin(caller, body, after=after)
    response = RunResponse(turn, await caller.visible(turn.run.id))
    if body.stream:
        ending = error_message(revoked(), chat=False)
        return EventStream(turn.stream(response.events()), caller, revoked=ending)
    if body.background:
        return response.document(None)
    answer = await turn.answer(request)
    return Response(status_code=499) if answer is None else response.document(answer)


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
    asked = record.state.origin.get(ORIGIN)
    given = {name: bool(value) for name, value in asked.items()} if isinstance(asked, dict) else {}
    return RunResponse(ClientTurn(caller, caller.service.handle(record), **given), record)


class RunResponse:
    """The response that a run is, for a principal."""

    def __init__(self, turn: ClientTurn, record: RunRecord) -> None:
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

    async def now(self) -> OpenAIDocument:
        works = await self.turn.caller.service.is_held(self._record)
        state = self._record.state
        return self.document(None if works else state.answer or state.waiting)

    def document(self, answer: Answer | None) -> OpenAIDocument:
        """With an answer, or what there is while the run waits for a person; None: not yet."""
        if answer is None:
            return {**self._head, "leadhand": {"run_id": self.turn.run.id}}
        usage = {**used(answer, "input", "output"), **_DETAILS}
        out = {**self._head, "leadhand": about(answer), "usage": usage}
        if (content := self._content(answer)) is not None:
            out["output"] = [self._message("completed", content)]
        match answer.status:
            case "complete":
                out["status"] = "completed"
            case "cancelled":
                out["status"] = "cancelled"
            case "failed":
                problem = self.turn.said(answer).problem
                error = {"code": "server_error", "message": problem.detail if problem else ""}
                out |= {"status": "failed", "error": error}
            case "waiting" if self.turn.background:
                pass  # clients ask again until it has ended
            case "waiting" | "partial":
                reason = "waiting_for_person" if answer.waiting else answer.ended_by or "gaps"
                out |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        return out

    def _message(self, status: str, *content: OpenAIDocument) -> OpenAIDocument:
        head: OpenAIDocument = {"id": f"msg_{self.turn.run.id}", "type": "message"}
        return {**head, "role": "assistant", "status": status, "content": [*content]}

    def _content(self, answer: Answer) -> OpenAIDocument | None:
        """What the message says; None if there is no message."""
        said = self.turn.said(answer)
        if said.text is not None:
            return {**_NO_TEXT, "text": said.text, "annotations": said.annotations}
        return {"type": "refusal", "refusal": said.refusal} if said.refusal else None

    async def events(self) -> AsyncGenerator[OpenAIDocument]:
        """Those of a stream, numbered from 0."""
        numbers, begun = itertools.count(), False
        for kind in ("created", "in_progress"):
            yield _event(kind, response=self.document(None)) | {"sequence_number": next(numbers)}
        async for part in self.turn.parts():
            for one in self._events(part, begun=begun):
                yield one | {"sequence_number": next(numbers)}
            begun = begun or isinstance(part, str)

    def _events(self, part: Part, *, begun: bool) -> Iterator[OpenAIDocument]:
        """What says a part; `begun`: whether text was sent before."""
        match part:
            case ProgressLine(line):
                yield _event("in_progress", response=self.document(None), progress=line)
            case str():
                if not begun:
                    yield from self._begin(_NO_TEXT)
                yield self._event_in("output_text.delta", delta=part, logprobs=[])
            case answer:
                yield from self._end(answer, begun=begun)
                response = self.document(answer)
                # A stream ends with one of three events; the status of the response says more.
                status = response["status"]
                kind = status if status in ("completed", "failed") else "incomplete"
                yield _event(f"{kind}", response=response)

    def _begin(self, content: OpenAIDocument) -> Iterator[OpenAIDocument]:
        yield _event("output_item.added", output_index=0, item=self._message("in_progress"))
        yield self._event_in("content_part.added", part=content)

    def _end(self, answer: Answer, *, begun: bool) -> Iterator[OpenAIDocument]:
        """Of the message, if there is one."""
        content, item = self._content(answer), self._message("incomplete")
        if content is not None:
            said = content.get("refusal")
            if not begun:
                yield from self._begin({**content, "refusal": ""} if said else _NO_TEXT)
            if said:
                yield self._event_in("refusal.delta", delta=said)
                yield self._event_in("refusal.done", refusal=said)
            else:
                for n, one in enumerate(self.turn.said(answer).annotations):
                    kind = "output_text.annotation.added"
                    yield self._event_in(kind, annotation_index=n, annotation=one)
                yield self._event_in("output_text.done", text=content["text"], logprobs=[])
            yield self._event_in("content_part.done", part=content)
            item = self._message("completed", content)
        if begun or content is not None:
            yield _event("output_item.done", output_index=0, item=item)

    def _event_in(self, kind: str, **fields: object) -> OpenAIDocument:
        """About what the message says."""
        place = {"item_id": f"msg_{self.turn.run.id}", "output_index": 0, "content_index": 0}
        return _event(kind, **place, **fields)


def _event(kind: str, **fields: object) -> OpenAIDocument:
    return {"type": f"response.{kind}", **fields}
