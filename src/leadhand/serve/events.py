"""Events as they happen, over HTTP: of one run, and of all that a principal may see."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
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
from leadhand.ports import Journal
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
MAX_UNREAD = 1_000
"""Messages of all runs that wait for a reader."""
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

    def __init__(self, messages: AsyncGenerator[str], caller: ServiceCaller) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._messages, self._caller = messages, caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = self.raw_headers
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        with self._caller.streaming():
            writing = asyncio.create_task(self._write(send))
            parts = (
                writing,
                asyncio.create_task(self._beat(send)),
                asyncio.create_task(disconnected(receive)),
            )
            try:
                await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for part in parts:
                    part.cancel()
                await asyncio.gather(*parts, return_exceptions=True)
        error = None if writing.cancelled() else writing.exception()
        if isinstance(error, TimeoutError):
            return  # it takes nothing
        if error is not None:
            raise error
        await _send(send, "", more=False)

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


def message_of(event: Event | TextDelta, *, operator: bool, run_id: str = "") -> str:
    """An event as a message; empty if the reader may see nothing of it. With `run_id`, in a stream
    of many runs, it has no id."""
    data = _data(event) if operator else public(event)
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
    known = await caller.visible(run_id)
    after = after_seq if last_event_id is None else last_event_id
    if after and await _is_over(caller.service.journal, run_id, after):
        return Response(status_code=204, headers={"cache-control": "no-store"})
    caller.check_streams()
    return EventStream(_messages(caller.service.handle(known), after, caller), caller)


async def _is_over(journal: Journal, run_id: str, after: int) -> bool:
    """Whether the run has ended, with no event after that one."""
    last = await journal.last_seq(run_id)
    found = await journal.events(run_id, after_seq=last - 1) if 0 < last <= after else ()
    return bool(found) and ends(found[-1])


async def _messages(run: Run, after: int, caller: ServiceCaller) -> AsyncGenerator[str]:
    """A shutdown ends them, or a journal that can't be read: the client connects again."""
    yield RETRY
    with suppress(LeadhandError):
        async with aclosing(run.events(after_seq=after, deltas=True)) as found:
            async for event in found:
                yield message_of(event, operator=caller.is_operator)
                if ends(event):
                    yield message("end", {"run_id": run.id})


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


@dataclass(slots=True, eq=False)
class _Reader:
    caller: ServiceCaller
    queue: asyncio.Queue[str]
    is_slow: bool = False
    """Whether it has lost a message: its stream ends, and it comes again."""

    def put(self, text: str) -> None:
        try:
            if text:
                self.queue.put_nowait(text)
        except asyncio.QueueFull:
            self.is_slow = True


class Feed:
    """Reads the journal for new events, once for all readers, while there are any."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._readers: list[_Reader] = []
        self._polling: asyncio.Task[None] | None = None
        self._looked = asyncio.Event()
        self._listed: dict[str, RunSummary] = {}
        self._seqs: dict[str, int] = {}
        """The last event of each run that was read."""
        self._touched: dict[str, int] = {}
        """Runs of this process that have new events, and the last event before these."""
        for one in service.supervisors.values():
            one.add_listener(self._hear)

    def _hear(self, event: Event) -> None:
        if self._polling is not None:
            self._touched.setdefault(event.run_id, event.seq - 1)

    async def follow(self, caller: ServiceCaller) -> AsyncGenerator[str]:
        """What `caller` may see from now on, until the service is told to stop."""
        reader = _Reader(caller, asyncio.Queue(MAX_UNREAD))
        yield RETRY
        self._readers.append(reader)
        if self._polling is None:
            self._polling = asyncio.create_task(self._poll())
        try:
            await self._looked.wait()
            yield message("ready", {})
            while not (self._service.draining.is_set() or reader.is_slow):
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL_S):
                        text = await reader.queue.get()
                    yield text
        finally:
            self._readers.remove(reader)
            if not self._readers:
                self._polling.cancel()
                self._polling = None
                self._looked.clear()
                self._touched.clear()

    async def _poll(self) -> None:
        while True:
            with suppress(LeadhandError):  # the journal may be back the next time
                await self._look()
                self._looked.set()
            await asyncio.sleep(POLL_S)

    async def _look(self) -> None:
        """Report what has changed in the list, and the new events."""
        service, known = self._service, self._listed
        runs = await service.journal.runs(
            limit=MAX_LISTED, where=lambda run: run.team in service.supervisors
        )
        self._listed = {run.run_id: run for run in runs}
        if not self._looked.is_set():
            self._seqs = {id: await service.journal.last_seq(id) for id in self._listed}
            return
        changed = [run for run in reversed(runs) if run != known.get(run.run_id)]
        touched = [self._touched.popitem() for _ in range(len(self._touched))]
        after = {run.run_id: 0 for run in changed} | dict(touched) | self._seqs
        for run_id in dict.fromkeys([*(id for id, _ in touched), *(run.run_id for run in changed)]):
            await service.journal.commit(run_id)
            self._seqs[run_id] = await self._put_events(run_id, after[run_id])
        for run in changed:
            self._put_changed(run)
        kept = {*self._listed, *(id for id, _ in touched)}
        self._seqs = {id: seq for id, seq in self._seqs.items() if id in kept}

    async def _put_events(self, run_id: str, after: int) -> int:
        """The last event that there is."""
        known = await self._service.stored(run_id)
        if known is None:
            return after
        for event in await self._service.journal.events(run_id, after_seq=after):
            after = event.seq
            show = partial(message_of, event, run_id=run_id)
            for reader in self._readers:
                if reader.caller.principal.may_see(known.origin):
                    reader.put(show(operator=reader.caller.is_operator))
        return after

    def _put_changed(self, run: RunSummary) -> None:
        """Also to those who only answer questions: there may be new ones."""
        fields = {"run_id", "team", "status", "questions"}
        text = message("run_changed", run.model_dump(mode="json", include=fields))
        for reader in self._readers:
            principal = reader.caller.principal
            if principal.may_see(run.origin) or principal.rules(run.origin, "approver"):
                reader.put(text)
