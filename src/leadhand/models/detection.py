"""Finds a model server on this machine: tries all known ports on loopback at once, briefly.

Only a server that lists models counts. Nothing slow is imported unless a port is open.
"""

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple

HOST = "127.0.0.1"

_OTHER = re.compile(r"embed|rerank|whisper|\btts\b", re.IGNORECASE)
"""Listed models that can't answer a chat."""


class LocalServer(NamedTuple):
    name: str
    port: int
    provider: str
    variable: str
    timeout_s: float = 0.3
    """How long it may take to accept a connection, and then to list its models."""

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self.port}/v1"


class LocalModel(NamedTuple):
    server: LocalServer
    id: str

    @property
    def spec(self) -> str:
        return f"{self.server.provider}:{self.id}"


LOCAL_SERVERS = (
    # The first one that lists a model is used.
    LocalServer("Ollama", 11434, "ollama", "OLLAMA_BASE_URL"),
    LocalServer("llama.cpp", 8080, "openai-chat", "OPENAI_BASE_URL"),
    LocalServer("LM Studio", 1234, "openai-chat", "OPENAI_BASE_URL"),
    LocalServer("vLLM", 8000, "vllm", "VLLM_BASE_URL"),
)


async def local_model(servers: Sequence[LocalServer] = LOCAL_SERVERS) -> LocalModel | None:
    """The first model of the first of `servers` that lists one; None if none does in time."""
    listen = await asyncio.gather(*map(_listens, servers))
    listening = [server for server, listens in zip(servers, listen, strict=True) if listens]
    found = await asyncio.gather(*map(_first_model, listening))
    return next((model for model in found if model is not None), None)


async def _listens(server: LocalServer) -> bool:
    try:
        async with asyncio.timeout(server.timeout_s):
            _, writer = await asyncio.open_connection(HOST, server.port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def _first_model(server: LocalServer) -> LocalModel | None:
    # Imported here because most machines have no server and need no HTTP client.
    from leadhand.models.listing import ListingError, list_models

    try:
        models = await list_models(server.base_url, timeout_s=server.timeout_s)
    except ListingError:
        return None
    answering = (one.id for one in models if one.kind == "model" and not _OTHER.search(one.id))
    return next((LocalModel(server, id) for id in answering), None)
