"""`/v1/models` and `/v1/chat/completions`: each team is a model, and a chat a run of its own."""

import time
from collections.abc import Iterator

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from leadhand.contracts.answer import Answer
from leadhand.serve.new_runs import Key
from leadhand.serve.openai_requests import (
    ClientMessage,
    ClientRequest,
    Format,
    team_named,
    unsupported,
)
from leadhand.serve.service import Calling
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

_USED = ("prompt_tokens", "completion_tokens")

router = APIRouter(prefix="/v1", tags=["OpenAI"])


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(ClientRequest):
    """`POST /v1/chat/completions`. Other parameters are refused, or listed as ignored."""

    messages: list[ClientMessage] = Field(min_length=1, max_length=10_000)
    """The last one is the request; those before it are context, as data."""
    stream_options: StreamOptions | None = None
    response_format: Format | None = None
    """The team's own type, or text."""
    progress: bool = False
    """Whether a stream says how far the run is, in `reasoning_content`. Not of OpenAI."""


@router.get("/models")
async def list_models(caller: Calling) -> OpenAIDocument:
    return {"object": "list", "data": [_model(name) for name in caller.service.supervisors]}


@router.get("/models/{model:path}")
async def read_model(model: str, caller: Calling) -> OpenAIDocument:
    return _model(team_named(caller.service, model).name)


def _model(name: str) -> OpenAIDocument:
    return {"id": name, "object": "model", "created": 0, "owned_by": "leadhand"}


@router.post("/chat/completions", response_model=None)
async def complete(
    body: ChatRequest, request: Request, caller: Calling, key: Key = None
) -> OpenAIDocument | Response:
    """Runs the team for the last message. A client that leaves stops the run, unless it gave an
    `Idempotency-Key`, with which it can come back."""
    if body.stream_options is not None and not body.stream:
        raise unsupported("stream_options", "it is for streams")
    format, parameters = body.response_format, ("messages", "response_format")
    turn = await body.begin(caller, body.messages, format, parameters=parameters, key=key)
    completion = _Completion(turn, body)
    if body.stream:
        return turn.stream(completion.messages)
    answer = await turn.answer(request)
    return Response(status_code=499) if answer is None else completion.document(answer)


class _Completion:
    """Whole, or in pieces, which have one id."""

    def __init__(self, turn: ClientTurn, body: ChatRequest) -> None:
        self._turn, self._progress = turn, body.progress
        self._with_usage = body.stream_options is not None and body.stream_options.include_usage
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
        return {**kind, "usage": used(answer, *_USED), "leadhand": about(answer)}

    def messages(self, part: Part | Exception | None) -> Iterator[str]:
        match part:
            case None:
                yield self._chunk({"role": "assistant"})
            case ProgressLine(line):
                if self._progress:
                    yield self._chunk({"reasoning_content": f"{line}\n"})
            case str():
                yield self._chunk({"content": part})
            case Exception():
                yield message_of(error_of(part))
            case _:
                message = self._message(part)
                del message["content"]  # it was sent
                yield self._chunk(message)
                yield self._chunk({}, _end(part), leadhand=about(part))
                if self._with_usage:
                    yield self._piece(choices=[], usage=used(part, *_USED))
                yield "data: [DONE]\n\n"

    def _message(self, answer: Answer) -> OpenAIDocument:
        """What the assistant says: its text, or why there is none yet."""
        if (problem := self._turn.failure(answer)) is not None:
            raise problem
        text = self._turn.text(answer)
        if text is None:
            return {"content": None, "refusal": refusal_of(answer)}
        cited = [{"type": one["type"], str(one["type"]): one} for one in annotations(answer, text)]
        return {"content": text, "refusal": None, "annotations": cited}

    def _chunk(self, delta: OpenAIDocument, end: str | None = None, **more: object) -> str:
        usage = {"usage": None} if self._with_usage else {}
        choice = {"index": 0, "delta": delta, "finish_reason": end}
        return self._piece(choices=[choice], **usage, **more)

    def _piece(self, **fields: object) -> str:
        return message_of({**self._head, "object": "chat.completion.chunk", **fields})


def _end(answer: Answer) -> str:
    """`length` if a limit ended the run before it was complete."""
    return "length" if answer.ended_by in ("budget", "deadline") else "stop"
