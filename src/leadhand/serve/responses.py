"""`/v1/responses`: a response is a run, and the next one follows it."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import cast

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field, JsonValue

from leadhand.contracts.answer import Answer
from leadhand.contracts.summary import RunView
from leadhand.serve.new_runs import Key
from leadhand.serve.openai_requests import (
    ORIGIN,
    ClientMessage,
    ClientRequest,
    Format,
    unsupported,
)
from leadhand.serve.problems import HttpProblem
from leadhand.serve.retention import erase_soon
from leadhand.serve.service import Calling, ServiceCaller
from leadhand.serve.turns import (
    ClientTurn,
    OpenAIDocument,
    Part,
    ProgressLine,
    about,
    annotations,
    error_of,
    message_of,
    refusal_of,
    used,
)

router = APIRouter(prefix="/v1/responses", tags=["OpenAI"])

CANCEL_S = 5.0
"""How long a cancelled run has to end before its response is shown as it is."""
PREFIX = "resp_"
_DETAILS = {
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}
"""Of the usage, which clients take for granted."""
_NO_TEXT: OpenAIDocument = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}


class TextOptions(BaseModel):
    format: Format | None = None


class ResponseRequest(ClientRequest):
    """`POST /v1/responses`. Other parameters are refused, or listed as ignored."""

    input: str | list[dict[str, JsonValue]] = Field(max_length=10_000_000)
    """The request; of messages the last one, and those before it are context, as data."""
    instructions: str | None = None
    """Context, as data: a team follows its own instructions."""
    background: bool = False
    previous_response_id: str | None = None
    text: TextOptions | None = None
    """`format` is the team's own type, or text."""

    def messages(self) -> list[ClientMessage]:
        """Raises `HttpProblem`."""
        if isinstance(self.input, str):
            messages = [ClientMessage(role="user", content=self.input)]
        else:
            messages = [one for n, item in enumerate(self.input) for one in _messages(item, n)]
        if len(messages) > 1 and self.previous_response_id:
            raise unsupported("input", "give the new message alone: what was said before is known")
        if self.instructions:
            messages.insert(0, ClientMessage(role="system", content=self.instructions))
        return messages


def _messages(item: dict[str, JsonValue], place: int) -> list[ClientMessage]:
    match item:
        case {"type": "reasoning"}:
            return []
        case {"role": str(role), "content": str() | list() as content} if item.get(
            "type", "message"
        ) == "message" and role in ("user", "assistant", "system", "developer"):
            return [ClientMessage.model_validate({"role": role, "content": content})]
        case _:
            kind = str(item.get("type", "of no type"))
            raise unsupported(
                f"input[{place}]", f"an item {kind!r:.80} can't be read: send messages"
            )


@router.post("", response_model=None)
async def create(
    body: ResponseRequest, request: Request, caller: Calling, key: Key = None
) -> OpenAIDocument | Response:
    """Runs the team. A client that leaves stops the run, unless it runs in the `background` or the
    client gave an `Idempotency-Key`, with which it can come back."""
    before, after = body.previous_response_id, None
    if before is not None:
        after = (await _stored(caller, before)).turn.run.id
    turn = await body.begin(
        caller,
        body.messages(),
        body.text.format if body.text else None,
        parameters=("input", "text.format"),
        key=key,
        background=body.background,
        after=after,
    )
    response = RunResponse(turn, await turn.run.view())
    if body.stream:
        return turn.stream(response.messages)
    if body.background:
        return response.begun()
    answer = await turn.answer(request)
    return Response(status_code=499) if answer is None else response.ended(answer)


@router.get("/{response_id}", response_model=None)
async def retrieve(
    response_id: str, caller: Calling, stream: bool = False, starting_after: int | None = None
) -> OpenAIDocument | Response:
    """A response as it is now, or with `stream` from its beginning."""
    response = await _stored(caller, response_id)
    if not stream:
        erase_soon(caller, response.turn.run.id)
        return response.now()
    if starting_after is not None:
        raise unsupported("starting_after", "a stream begins at the beginning")
    caller.check_streams()
    return response.turn.stream(response.messages, counted=True)


@router.post("/{response_id}/cancel")
async def cancel(response_id: str, caller: Calling) -> OpenAIDocument:
    response = await _stored(caller, response_id)
    if response.view.status != "cancelled":
        await response.turn.run.cancel("cancelled by its client")
        with suppress(TimeoutError):
            async with asyncio.timeout(CANCEL_S):
                await response.turn.run.answer()
    return (await _stored(caller, response_id)).now()


@router.delete("/{response_id}")
async def delete(response_id: str, caller: Calling) -> OpenAIDocument:
    view = (await _stored(caller, response_id)).view
    await caller.service.supervisor(view.team).delete(view.run_id)
    return {"id": response_id, "object": "response", "deleted": True}


async def _stored(caller: ServiceCaller, response_id: str) -> "RunResponse":
    """One that the principal may see. Raises `HttpProblem` 404."""
    if not response_id.startswith(PREFIX):
        raise HttpProblem(404, f"there is no response {response_id!r:.200}")
    run = caller.service.handle(await caller.visible(response_id.removeprefix(PREFIX)))
    view = await run.view()
    asked = _asked(view)
    as_output, waits = bool(asked.get("as_output")), bool(asked.get("background"))
    return RunResponse(ClientTurn(caller, run, as_output, stays=True, waits=waits), view)


def _asked(view: RunView) -> dict[str, JsonValue]:
    kept = view.origin.get(ORIGIN)
    return kept if isinstance(kept, dict) else {}


class RunResponse:
    """The response that a run is, for a principal: a document, or the events of a stream."""

    def __init__(self, turn: ClientTurn, view: RunView) -> None:
        self.turn, self.view = turn, view
        self._head: OpenAIDocument = {
            "id": f"{PREFIX}{view.run_id}",
            "object": "response",
            "created_at": int(view.started_at.timestamp()),
            "model": view.team,
            "status": "in_progress",
            "background": turn.waits,
            "error": None,
            "incomplete_details": None,
            "metadata": _asked(view).get("metadata") or {},
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": f"{PREFIX}{view.after}" if view.after else None,
            "text": {"format": {"type": "json_object" if turn.as_output else "text"}},
            "tool_choice": "none",
            "tools": [],
            "usage": None,
        }
        self._sent, self._writes = 0, False

    def now(self) -> OpenAIDocument:
        answer, status = self.view.answer, self.view.status
        if answer is None or status in ("running", "interrupted"):
            return self.begun(status)
        return self.ended(answer)

    def begun(self, status: str = "running") -> OpenAIDocument:
        """While there is no answer."""
        return {**self._head, "leadhand": {"run_id": self.view.run_id, "status": status}}

    def ended(self, answer: Answer) -> OpenAIDocument:
        """With an answer, or what there is while the run waits for a person."""
        usage = {**used(answer, "input_tokens", "output_tokens"), **_DETAILS}
        out = {**self._head, "leadhand": about(answer), "usage": usage}
        if (content := self._content(answer)) is not None:
            out["output"] = [self._message("completed", content)]
        match answer.status:
            case "complete" | "cancelled":
                out["status"] = {"complete": "completed"}.get(answer.status, "cancelled")
            case "failed":
                problem = self.turn.failure(answer)
                error = {"code": "server_error", "message": problem.detail if problem else ""}
                out |= {"status": "failed", "error": error}
            case "waiting" if self.turn.waits:
                pass  # clients ask again until it has ended
            case "waiting" | "partial":
                reason = answer.ended_by or "gaps"
                reason = "waiting_for_person" if answer.waiting else reason
                out |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        return out

    def _message(self, status: str, *content: OpenAIDocument) -> OpenAIDocument:
        head: OpenAIDocument = {"id": f"msg_{self.view.run_id}", "type": "message"}
        return {**head, "role": "assistant", "status": status, "content": [*content]}

    def _content(self, answer: Answer) -> OpenAIDocument | None:
        """What the message says: the text with its citations, or why there is no text; None if
        there is no message."""
        if self.turn.failure(answer) is not None:
            return None
        text = self.turn.text(answer)
        if text is None:
            return {"type": "refusal", "refusal": refusal_of(answer)}
        return {**_NO_TEXT, "text": text, "annotations": [*annotations(answer, text)]}

    def messages(self, part: Part | Exception | None) -> Iterator[str]:
        """The events of a stream, numbered from 0."""
        match part:
            case None:
                yield self._event("created", response=self.begun())
                yield self._event("in_progress", response=self.begun())
            case ProgressLine():
                pass
            case str():
                yield from self._begin_message(_NO_TEXT)
                yield self._event_in("output_text.delta", delta=part, logprobs=[])
            case Exception():
                yield message_of({"type": "error", **error_of(part)})
            case _:
                yield from self._end(part)

    def _event(self, kind: str, **fields: object) -> str:
        number, self._sent = self._sent, self._sent + 1
        return message_of({"type": f"response.{kind}", "sequence_number": number, **fields})

    def _event_in(self, kind: str, **fields: object) -> str:
        """About what the message says."""
        place = {"item_id": f"msg_{self.view.run_id}", "output_index": 0, "content_index": 0}
        return self._event(kind, **place, **fields)

    def _begin_message(self, content: OpenAIDocument) -> Iterator[str]:
        if not self._writes:
            self._writes, item = True, self._message("in_progress")
            yield self._event("output_item.added", output_index=0, item=item)
            yield self._event_in("content_part.added", part=content)

    def _end(self, answer: Answer) -> Iterator[str]:
        content, item = self._content(answer), self._message("incomplete")
        if content is not None:
            yield from self._end_text(content)
            yield self._event_in("content_part.done", part=content)
            item = self._message("completed", content)
        if self._writes:
            yield self._event("output_item.done", output_index=0, item=item)
        response = self.ended(answer)
        # A stream ends with one of three events; the status of the response says more.
        status = response["status"]
        kind = status if status in ("completed", "failed") else "incomplete"
        yield self._event(f"{kind}", response=response)

    def _end_text(self, content: OpenAIDocument) -> Iterator[str]:
        if said := content.get("refusal"):
            yield from self._begin_message(content | {"refusal": ""})
            yield self._event_in("refusal.delta", delta=said)
            yield self._event_in("refusal.done", refusal=said)
            return
        yield from self._begin_message(_NO_TEXT)
        for n, one in enumerate(cast("list[OpenAIDocument]", content["annotations"])):
            kind = "output_text.annotation.added"
            yield self._event_in(kind, annotation_index=n, annotation=one)
        yield self._event_in("output_text.done", text=content["text"], logprobs=[])
