"""`/v1/responses`: a response is a run, and the next one follows it."""

import asyncio
import datetime as dt
from contextlib import suppress
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field, JsonValue

from leadhand.serve.chat import team_named
from leadhand.serve.event_streams import Queue, QueueStream
from leadhand.serve.new_runs import NewRun, start
from leadhand.serve.openai_answers import Document, followed
from leadhand.serve.openai_requests import (
    ClientMessage,
    Format,
    GivenRequest,
    asked_in,
    check_parameters,
    unsupported,
    wants_output,
)
from leadhand.serve.openai_runs import AnyRun, answer_while_connected, stopped_if_left
from leadhand.serve.principals import Current, Principal
from leadhand.serve.problems import HttpProblem
from leadhand.serve.response_documents import (
    ORIGIN,
    PREFIX,
    RunResponse,
    Stream,
    response_of,
)
from leadhand.serve.retention import erase_soon, erase_unkept
from leadhand.serve.service import Service, Serving

router = APIRouter(prefix="/v1/responses", tags=["OpenAI"])

CANCEL_S = 5.0
"""How long a cancelled run has to end before its response is shown as it is."""


class Reasoning(BaseModel):
    summary: Literal["auto", "concise", "detailed"] | None = None
    """If given, a stream says how far the run is."""


class TextOptions(BaseModel):
    format: Format | None = None


class ResponseRequest(BaseModel, extra="allow"):
    """`POST /v1/responses`. Other parameters are refused, or listed as ignored."""

    model: str
    """The name of a team."""
    input: str | list[dict[str, JsonValue]] = Field(max_length=10_000_000)
    """The request; of messages the last one, and those before it are context, as data."""
    instructions: str | None = None
    """Context, as data: a team follows its own instructions."""
    stream: bool = False
    background: bool = False
    store: bool | None = None
    """False: the run is erased once its response was given, whole."""
    previous_response_id: str | None = None
    reasoning: Reasoning | None = None
    text: TextOptions | None = None
    """`format` is the team's own type, or text."""
    metadata: dict[str, str] | None = Field(default=None, max_length=16)
    include: list[str] | None = None
    """Ignored, as are `stream_options`."""
    stream_options: dict[str, JsonValue] | None = None


@router.post("", response_model=None)
async def create(
    body: ResponseRequest,
    request: Request,
    principal: Current,
    service: Serving,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> Document | Response:
    """Runs the team. A client that leaves stops the run, unless it runs in the `background` or the
    client gave an `Idempotency-Key`, with which it can come back."""
    check_parameters(body.model_extra)
    team = service.supervisors[team_named(service, body.model)].team
    format = body.text.format if body.text else None
    known: dict[str, JsonValue] = {
        "as_output": wants_output(format, team, parameter="text.format"),
        "background": body.background,
        "metadata": dict[str, JsonValue](body.metadata or {}),
    }
    asked = _asked(body, team.name)
    after = None
    if body.previous_response_id is not None:
        after = (await _stored(service, principal, body.previous_response_id)).id
    run = await start(
        service,
        principal,
        NewRun(
            team=team.name,
            request=asked.request,
            after=after,
            store=body.store is not False,
        ),
        uploads=asked.files,
        key=idempotency_key,
        earlier=asked.earlier,
        kept={ORIGIN: {key: one for key, one in known.items() if one}},
    )
    now = dt.datetime.now(dt.UTC)
    response = RunResponse(run.id, team.name, principal, created_at=now, asked=known, after=after)
    stays = body.background or idempotency_key is not None
    if body.stream:
        steps = body.reasoning is not None and body.reasoning.summary is not None
        return _stream(service, principal, run, response, steps=steps, stays=stays)
    if body.background:
        return response.begun()
    answer = await answer_while_connected(request, service, run, stays=stays)
    await erase_unkept(service, run.id)
    return Response(status_code=499) if answer is None else response.ended(answer)


def _asked(body: ResponseRequest, team: str) -> GivenRequest:
    if isinstance(body.input, str):
        messages = [ClientMessage(role="user", content=body.input)]
    else:
        messages = [one for place, item in enumerate(body.input) for one in _messages(item, place)]
    if len(messages) > 1 and body.previous_response_id:
        raise unsupported("input", "give the new message alone: what was said before is known")
    if body.instructions:
        messages.insert(0, ClientMessage(role="system", content=body.instructions))
    return asked_in(messages, team, parameter="input")


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


def _stream(
    service: Service,
    principal: Principal,
    run: AnyRun,
    response: RunResponse,
    *,
    steps: bool,
    stays: bool,
) -> QueueStream:
    async def read(queue: Queue) -> None:
        parts = followed(
            run,
            service.journal,
            principal,
            steps=steps,
            as_output=response.as_output,
            waits=response.in_background,
        )
        try:
            async with stopped_if_left(service, run, stays=stays):
                await Stream(response, queue).follow(parts)
        finally:
            erase_soon(service, principal, run.id, after_s=None if stays else 0)

    return QueueStream(read, heartbeat_s=service.settings.heartbeat_s, retry_ms=None)


@router.get("/{response_id}", response_model=None)
async def retrieve(
    response_id: str,
    principal: Current,
    service: Serving,
    stream: bool = False,
    starting_after: int | None = None,
) -> Document | Response:
    """A response as it is now, or with `stream` from its beginning."""
    run = await _stored(service, principal, response_id)
    if not stream:
        document = await _document(run, principal)
        erase_soon(service, principal, run.id)
        return document
    if starting_after is not None:
        raise unsupported("starting_after", "a stream begins at the beginning")
    response = response_of(await run.view(), principal)
    return _stream(service, principal, run, response, steps=False, stays=True)


@router.post("/{response_id}/cancel")
async def cancel(response_id: str, principal: Current, service: Serving) -> Document:
    run = await _stored(service, principal, response_id)
    if (await run.view()).status != "cancelled":
        await run.cancel("cancelled by its client")
        with suppress(TimeoutError):
            async with asyncio.timeout(CANCEL_S):
                await run.answer()
    return await _document(run, principal)


@router.delete("/{response_id}")
async def delete(response_id: str, principal: Current, service: Serving) -> Document:
    run = await _stored(service, principal, response_id)
    supervisor = service.supervisor((await run.view()).team)
    await supervisor.delete(run.id)
    return {"id": response_id, "object": "response", "deleted": True}


async def _stored(service: Service, principal: Principal, response_id: str) -> AnyRun:
    """The run of a response that the principal may see. Raises `HttpProblem` 404."""
    if not response_id.startswith(PREFIX):
        raise HttpProblem(404, f"there is no response {response_id!r:.200}")
    known = await service.visible(principal, response_id.removeprefix(PREFIX))
    return service.supervisor(known.team).handle(known.run_id)


async def _document(run: AnyRun, principal: Principal) -> Document:
    view = await run.view()
    response = response_of(view, principal)
    if view.answer is None or view.status in ("running", "interrupted"):
        return response.begun(view.status)
    return response.ended(view.answer)
