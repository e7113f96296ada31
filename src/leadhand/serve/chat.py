"""`/v1/models` and `/v1/chat/completions`: each team is a model, and a chat a run of its own."""

import time
from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from leadhand.contracts.answer import Answer
from leadhand.serve.event_streams import Queue, QueueStream
from leadhand.serve.new_runs import NewRun, start
from leadhand.serve.openai_answers import (
    Document,
    ProgressLine,
    about,
    annotations,
    error_of,
    failure_of,
    followed,
    message_of,
    refusal_of,
    text_of,
)
from leadhand.serve.openai_requests import (
    ClientMessage,
    Format,
    asked_in,
    check_parameters,
    unsupported,
    wants_output,
)
from leadhand.serve.openai_runs import AnyRun, answer_while_connected, stopped_if_left
from leadhand.serve.principals import Current, Principal
from leadhand.serve.problems import HttpProblem
from leadhand.serve.retention import erase_soon, erase_unkept
from leadhand.serve.service import Service, Serving

router = APIRouter(prefix="/v1", tags=["OpenAI"])


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(BaseModel, extra="allow"):
    """`POST /v1/chat/completions`. Other parameters are refused, or listed as ignored."""

    model: str
    """The name of a team."""
    messages: list[ClientMessage] = Field(min_length=1, max_length=10_000)
    """The last one is the request; those before it are context, as data."""
    stream: bool = False
    stream_options: StreamOptions | None = None
    response_format: Format | None = None
    """The team's own type, or text."""
    store: bool | None = None
    """False: the run is erased once its answer was given."""
    progress: bool = False
    """Whether a stream says how far the run is, in `reasoning_content`. Not of OpenAI."""
    metadata: dict[str, str] | None = None
    """Ignored."""


@router.get("/models")
async def list_models(_: Current, service: Serving) -> Document:
    return {"object": "list", "data": [_model(name) for name in service.supervisors]}


@router.get("/models/{model:path}")
async def read_model(model: str, _: Current, service: Serving) -> Document:
    return _model(team_named(service, model))


@router.post("/chat/completions", response_model=None)
async def complete(
    body: ChatRequest,
    request: Request,
    principal: Current,
    service: Serving,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> Document | Response:
    """Runs the team for the last message. A client that leaves stops the run, unless it gave an
    `Idempotency-Key`, with which it can come back."""
    check_parameters(body.model_extra)
    team = service.supervisors[team_named(service, body.model)].team
    asked = asked_in(body.messages, team.name, parameter="messages")
    as_output = wants_output(body.response_format, team, parameter="response_format")
    if body.stream_options is not None and not body.stream:
        raise unsupported("stream_options", "it is for streams")
    run = await start(
        service,
        principal,
        NewRun(team=team.name, request=asked.request, store=body.store is not False),
        uploads=asked.files,
        key=idempotency_key,
        earlier=asked.earlier,
    )
    chat = _Chat(body, principal, run, as_output=as_output)
    stays = idempotency_key is not None
    if body.stream:
        return QueueStream(
            lambda queue: chat.stream(service, queue, stays=stays),
            heartbeat_s=service.settings.heartbeat_s,
            retry_ms=None,
        )
    answer = await answer_while_connected(request, service, run, stays=stays)
    await erase_unkept(service, run.id)
    return Response(status_code=499) if answer is None else chat.whole(answer)


class _Chat:
    """One completion: its pieces have one id."""

    def __init__(
        self, body: ChatRequest, principal: Principal, run: AnyRun, *, as_output: bool
    ) -> None:
        self._principal, self._run, self._as_output = principal, run, as_output
        self._progress = body.progress
        self._usage = body.stream_options is not None and body.stream_options.include_usage
        self._head: Document = {
            "id": f"chatcmpl-{run.id}",
            "created": int(time.time()),
            "model": body.model,
        }

    def whole(self, answer: Answer) -> Document:
        """Raises `HttpProblem` if there is no answer."""
        if (problem := failure_of(answer, self._principal)) is not None:
            raise problem
        message: Document = {"role": "assistant", **self._message(answer)}
        choice: Document = {"index": 0, "message": message, "logprobs": None}
        return {
            **self._head,
            "object": "chat.completion",
            "choices": [choice | {"finish_reason": _finish(answer)}],
            "usage": _usage(answer),
            "leadhand": about(answer),
        }

    async def stream(self, service: Service, queue: Queue, *, stays: bool) -> None:
        parts = followed(
            self._run,
            service.journal,
            self._principal,
            steps=self._progress,
            as_output=self._as_output,
        )
        try:
            async with stopped_if_left(service, self._run, stays=stays):
                await queue.put(self._chunk({"role": "assistant"}))
                async for part in parts:
                    match part:
                        case ProgressLine():
                            await queue.put(self._chunk({"reasoning_content": f"{part.line}\n"}))
                        case str():
                            await queue.put(self._chunk({"content": part}))
                        case Answer():
                            for chunk in self._last(part):
                                await queue.put(chunk)
        except Exception as error:  # the status was sent before
            await queue.put(message_of(error_of(error)))
        finally:
            erase_soon(service, self._principal, self._run.id, after_s=None if stays else 0)

    def _last(self, answer: Answer) -> Iterator[str]:
        if (problem := failure_of(answer, self._principal)) is not None:
            raise problem
        message = self._message(answer)
        del message["content"]  # it was sent
        yield self._chunk(message)
        yield self._chunk({}, answer)
        if self._usage:
            end: Document = {"object": "chat.completion.chunk", "choices": []}
            yield message_of({**self._head, **end, "usage": _usage(answer)})
        yield "data: [DONE]\n\n"

    def _message(self, answer: Answer) -> Document:
        """What the assistant says: its text, or why there is none yet."""
        text = text_of(answer, self._principal, as_output=self._as_output)
        if text is None:
            return {"content": None, "refusal": refusal_of(answer)}
        cited = [{"type": one["type"], str(one["type"]): one} for one in annotations(answer, text)]
        return {"content": text, "refusal": None, "annotations": cited}

    def _chunk(self, delta: Document, answer: Answer | None = None) -> str:
        choice: Document = {"index": 0, "delta": delta, "finish_reason": None}
        chunk: Document = {**self._head, "object": "chat.completion.chunk", "choices": [choice]}
        if self._usage:
            chunk["usage"] = None
        if answer is not None:
            choice["finish_reason"] = _finish(answer)
            chunk["leadhand"] = about(answer)
        return message_of(chunk)


def _finish(answer: Answer) -> str:
    """`length` if a limit ended the run before it was complete."""
    return "length" if answer.ended_by in ("budget", "deadline") else "stop"


def _usage(answer: Answer) -> Document:
    used = answer.metrics
    return {
        "prompt_tokens": used.input_tokens,
        "completion_tokens": used.output_tokens,
        "total_tokens": used.input_tokens + used.output_tokens,
    }


def team_named(service: Service, model: str) -> str:
    """Raises `HttpProblem` 404 that names the teams."""
    try:
        service.supervisor(model)
    except HttpProblem as problem:
        raise HttpProblem(
            404, problem.detail, extra={"param": "model", "code": "model_not_found"}
        ) from None
    return model


def _model(name: str) -> Document:
    return {"id": name, "object": "model", "created": 0, "owned_by": "leadhand"}
