"""Events as they happen, over HTTP: of one run, and of all that a principal may see."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import Response
from pydantic import JsonValue
from pydantic_core import PydanticSerializationError, to_jsonable_python
from starlette.types import Receive, Scope, Send

from leadhand import events
from leadhand.contracts.summary import RunSummary
from leadhand.errors import LeadhandError
from leadhand.events import Event, RunFinished, TextDelta, public
from leadhand.run.handle import Run
from leadhand.serve.service import Calling, Service, ServiceCaller

router = APIRouter(prefix="/api/v1", tags=["events"])

STALLED_S = 60.0
"""How long a reader may take for one message."""
RETRY = "retry: 1000\n\n"
"""After so many milliseconds a client connects again."""
POLL_S = 0.5
MAX_LISTED = 200
"""Of the latest runs, in which changes by other processes are noticed."""
_STREAM = {
    "description": "Server-sent events: `id` is the event's `seq`, `event` its type, `data` the "
    "event as JSON; `text_delta`, without id, while a model writes; `end` when the run is over.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}
_OVER = {"description": "The run is over, and the client has all of it."}


class EventStream(Response):
    """Sends messages to one reader, and heartbeats, until there are no more, or the reader leaves,
    takes nothing for too long, or may see them no longer."""

    media_type = "text/event-stream"

    def __init__(
        self, messages: AsyncGenerator[str], caller: ServiceCaller, *, revoked: str = ""
    ) -> None:
        """`revoked` is the last message to a reader who may see them no longer."""
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._messages, self._caller, self._revoked = messages, caller, revoked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = self.raw_headers
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        ends = asyncio.timeout(None)
        with self._caller.streaming():
            parts = [
                asyncio.create_task(self._end_after(part, ends))
                for part in (partial(self._beat, send), partial(disconnected, receive))
            ]
            try:
                async with ends:
                    await self._write(send)
            except TimeoutError:
                if not ends.expired():
                    return  # it takes nothing
            finally:
                for part in parts:
                    part.cancel()
                await asyncio.gather(*parts, return_exceptions=True)
        await _send(send, "", more=False)

    async def _end_after(self, part: Callable[[], Awaitable[None]], ends: asyncio.Timeout) -> None:
        with suppress(TimeoutError):
            await part()
        ends.reschedule(asyncio.get_running_loop().time())

    async def _write(self, send: Send) -> None:
        async with aclosing(self._messages) as messages:
            async for text in messages:
                if text:
                    await _send(send, text)

    async def _beat(self, send: Send) -> None:
        """Until the caller counts no more."""
        while True:
            await asyncio.sleep(self._caller.service.settings.heartbeat_s)
            if not await self._caller.still_counts():
                if self._revoked:
                    await _send(send, self._revoked)
                return
            await _send(send, ": heartbeat\n\n")


async def _send(send: Send, text: str, *, more: bool = True) -> None:
    """Raises `TimeoutError` if the reader does not take it."""
    body = text.encode("utf-8", "replace")
    async with asyncio.timeout(STALLED_S):
        await send({"type": "http.response.body", "body": body, "more_body": more})


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def message_of(event: Event | TextDelta, caller: ServiceCaller, *, run_id: str = "") -> str:
    """An event as a message; empty if the reader may see nothing of it. With `run_id`, in a stream
    of many runs, it has no id."""
    data = _data(event) if caller.is_operator else public(event)
    if not data:
        return ""
    id = "" if run_id or isinstance(event, TextDelta) else f"id: {event.seq}\n"
    return f"{id}{message(event.type, data)}"


def message(kind: str, data: dict[str, JsonValue] | str) -> str:
    text = data if isinstance(data, str) else json.dumps(data)
    return f"event: {kind}\ndata: {text}\n\n"


def ends(event: Event | TextDelta) -> bool:
    """Whether nothing follows it, unless the run is resumed."""
    return isinstance(event, RunFinished) and not event.within


def _data(event: Event | TextDelta) -> dict[str, JsonValue] | str:
    if isinstance(event, TextDelta):
        return asdict(event)
    try:
        return events.dump(event)
    except PydanticSerializationError:  # half of a character that a model wrote
        return to_jsonable_python(event)


# Of one run


@router.get("/runs/{run_id}/events", response_class=Response, responses={200: _STREAM, 204: _OVER})
async def follow_run(
    run_id: str,
    caller: Calling,
    after_seq: Annotated[int, Query(ge=0, description="Begin after this event.")] = 0,
    last_event_id: Annotated[int | None, Header(ge=0)] = None,
) -> Response:
    """The events of a run from the beginning, or after a given one, until it is over."""
    after = after_seq if last_event_id is None else last_event_id
    run = await (caller.visible(run_id) if after else caller.followed(run_id))
    if 0 < run.last.seq <= after and ends(run.last):
        return Response(status_code=204, headers={"cache-control": "no-store"})
    caller.check_streams()
    return EventStream(_messages(caller.service.handle(run), after, caller), caller)


async def _messages(run: Run, after: int, caller: ServiceCaller) -> AsyncGenerator[str]:
    """A shutdown ends them, or a journal that can't be read: the client connects again."""
    parts = [RETRY]
    with suppress(LeadhandError):
        async with aclosing(run.batches(after_seq=after)) as found:
            async for batch in found:
                parts += [message_of(event, caller) for event in batch]
                if ends(batch[-1]):
                    parts.append(message("end", {"run_id": run.id}))
                yield "".join(parts)
                parts = []


# Of all runs


@router.get("/events", response_class=Response, responses={200: _STREAM})
async def follow_all(request: Request, caller: Calling) -> Response:
    """What happens from now on in all runs that the caller may see, each event with its `run_id`.

    After `ready` nothing is missed. `run_changed` has what is new of a run in the list. There are
    no ids: a client that connects again, as after a stream that was too slow, reads the list again.
    """
    caller.check_streams()
    feed: Feed = request.app.state.feed
    return EventStream(feed.follow(caller), caller)


New = Sequence[tuple[Event | RunSummary, Mapping[str, JsonValue]]]
"""Events, and runs whose entry in the list has changed, each with the origin of its run."""


def _shown(one: Event | RunSummary, origin: Mapping[str, JsonValue], caller: ServiceCaller) -> str:
    """What the caller may see. Changes also tell those who only answer questions that there may be
    new ones."""
    sees = caller.principal.may_see(origin)
    if not isinstance(one, RunSummary):
        return message_of(one, caller, run_id=one.run_id) if sees else ""
    if not sees and not caller.principal.rules(origin, "approver"):
        return ""
    fields = {"run_id", "team", "status", "questions"}
    return message("run_changed", one.model_dump(mode="json", include=fields))


class Feed:
    """Looks for new events, once for all readers, while there are any."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._readers = set[asyncio.Queue[New | None]]()
        self._looking: asyncio.Task[None] | None = None
        self._touched: dict[str, int] = {}
        """Runs of this process that have new events, and the last event before these."""
        for one in service.supervisors.values():
            one.add_listener(self._hear)

    def _hear(self, event: Event) -> None:
        if self._readers:
            self._touched.setdefault(event.run_id, event.seq - 1)

    async def follow(self, caller: ServiceCaller) -> AsyncGenerator[str]:
        """What `caller` may see from now on, until the service is told to stop."""
        yield RETRY
        looks = asyncio.Queue[New | None]()
        self._readers.add(looks)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_on())
        try:
            if await looks.get() is not None:
                yield message("ready", {})
                while (found := await looks.get()) is not None:
                    yield "".join(_shown(one, origin, caller) for one, origin in found)
        finally:
            self._readers.remove(looks)
            if not self._readers:
                self._looking.cancel()
                self._touched.clear()

    async def _look_on(self) -> None:
        listed: Mapping[str, RunSummary] | None = None
        seqs = dict[str, int]()
        """The last event of each run that was read."""
        while not self._service.draining.is_set():
            with suppress(LeadhandError):  # the journal may be back the next time
                runs = await self._service.journal.runs(
                    limit=MAX_LISTED, where=lambda run: run.team in self._service.supervisors
                )
                found = () if listed is None else await self._new(runs, listed, seqs)
                for run in runs if listed is None else ():
                    seqs[run.run_id] = await self._service.journal.last_seq(run.run_id)
                listed = {run.run_id: run for run in runs}
                for looks in self._readers:
                    looks.put_nowait(found)
            await asyncio.sleep(POLL_S)
        for looks in self._readers:
            looks.put_nowait(None)

    async def _new(
        self, runs: Sequence[RunSummary], listed: Mapping[str, RunSummary], seqs: dict[str, int]
    ) -> New:
        """What is new since `listed`, the list as it was; `seqs` is brought up to date."""
        changed = [run for run in reversed(runs) if run != listed.get(run.run_id)]
        touched = dict(self._touched.popitem() for _ in range(len(self._touched)))
        journal, records = self._service.journal, self._service.records
        found: list[tuple[Event | RunSummary, Mapping[str, JsonValue]]] = []
        for run_id in dict.fromkeys([*touched, *(run.run_id for run in changed)]):
            await journal.commit(run_id)
            record = records.known(run_id) or await records.read(run_id)
            after = seqs.get(run_id, touched.get(run_id, 0))
            for event in await journal.events(run_id, after_seq=after) if record else ():
                seqs[run_id] = event.seq
                found.append((event, record.state.origin if record else {}))
        for run_id in seqs.keys() - {run.run_id for run in runs} - touched.keys():
            del seqs[run_id]
        return [*found, *((run, run.origin) for run in changed)]
