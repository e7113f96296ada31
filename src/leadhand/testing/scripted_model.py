"""The scripted model without process, socket or real time, so that virtual time is exact."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx2
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from leadhand.testing.counts import Stats
from leadhand.testing.exchange import Response
from leadhand.testing.json_data import Object
from leadhand.testing.server import ModelServer
from leadhand.testing.settings import ServerSettings


class ScriptedModel(httpx2.AsyncBaseTransport):
    """Answers as `ScriptedServer` does with the same settings, in the event loop that asks."""

    def __init__(self, *, model: str = "scripted", **settings: object) -> None:
        """Made outside of an event loop."""
        self._server = ModelServer(ServerSettings(model=model))
        client = httpx2.AsyncClient(transport=self)
        provider = OpenAIProvider(
            base_url="http://127.0.0.1/v1", api_key="dummy", http_client=client
        )
        provider.client.max_retries = 0
        self.model: Model = OpenAIChatModel(model, provider=provider)
        self.configure(**settings)

        async def first() -> None:
            """The SDK looks at the platform in a thread, once, which virtual time would outrun."""
            await provider.client.models.list()

        asyncio.run(first())

    def configure(self, **settings: object) -> None:
        """Change settings, as of a `ScriptedServer`."""
        given: Object = settings  # pyright: ignore[reportAssignmentType]
        self._server.configure(given)

    def stats(self) -> Stats:
        return Stats.from_json(self._server.counts.snapshot())

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        counts = self._server.counts
        counts.started()
        status = 0
        try:
            body = await request.aread()
            response = self._server.answer(request.method, request.url.path, body)
            # Never at once: requests that come in together are in flight together.
            await asyncio.sleep(max(response.delay_s, 0.001))
            if response.reset_after == -1:
                raise httpx2.ReadError("the connection was reset")
            status = response.status
        finally:
            counts.ended(status)
        headers = [("content-type", response.content_type), *response.headers]
        return httpx2.Response(status, headers=headers, stream=_Body(response))


class _Body(httpx2.AsyncByteStream):
    """The body of a response, a stream at its rate, as far as it is sent."""

    def __init__(self, response: Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        response, ends = self._response, self._response.reset_after
        if ends is not None:
            response = replace(response, body=response.body[:ends])
        for part in response.events if response.event_every_s else [response.body]:
            yield part
            await asyncio.sleep(response.event_every_s)
        if ends is not None:
            raise httpx2.ReadError("the connection was reset")
