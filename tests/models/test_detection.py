"""A model server on this machine is found by what it answers, not by its port."""

import asyncio
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from leadhand.models.detection import HOST, LOCAL_SERVERS, LocalServer, local_model
from leadhand.models.listing import ListingError, list_models
from leadhand.testing import ScriptedServer
from tests.patience import HANG_S


@contextmanager
def answering(body: bytes, status: int = 200, location: str = "") -> Generator[int]:
    """The port of a server that answers every GET with the same."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if location:
                self.send_header("Location", location)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer((HOST, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def silent() -> Generator[int]:
    """The port of a server that takes connections and never says a word."""
    with socket.create_server((HOST, 0)) as listening:
        yield listening.getsockname()[1]


def at(port: int, name: str = "Ollama", timeout_s: float = HANG_S) -> LocalServer:
    return LocalServer(name, port, "ollama", "OLLAMA_BASE_URL", timeout_s)


def listing(*ids: str) -> bytes:
    rows = ",".join(f'{{"id": "{id}", "object": "model"}}' for id in ids)
    return f'{{"object": "list", "data": [{rows}]}}'.encode()


def test_the_well_known_servers_are_looked_for_on_loopback_and_briefly() -> None:
    assert all(server.timeout_s < 1 for server in LOCAL_SERVERS)
    assert {server.name: server.port for server in LOCAL_SERVERS} == {
        "Ollama": 11434,
        "llama.cpp": 8080,
        "LM Studio": 1234,
        "vLLM": 8000,
    }
    assert all(server.base_url.startswith("http://127.0.0.1:") for server in LOCAL_SERVERS)


def test_a_server_that_lists_a_model_is_found(model_server: ScriptedServer) -> None:
    model_server.configure(model="llama3:8b")
    port = int(model_server.url.split(":")[2].removesuffix("/v1"))
    found = asyncio.run(local_model([at(port)]))
    assert found is not None
    assert found.spec == "ollama:llama3:8b"


def test_the_first_in_order_wins_and_one_that_is_no_model_server_is_passed_over() -> None:
    with (
        answering(b"<html>hello</html>") as page,
        answering(listing("one")) as first,
        answering(listing("two")) as second,
    ):
        found = asyncio.run(local_model([at(page), at(first, "first"), at(second)]))
    assert found is not None
    assert (found.server.name, found.id) == ("first", "one")


def test_models_that_answer_nothing_are_not_taken_for_ones_that_do() -> None:
    with answering(listing("nomic-embed-text", "bge-reranker", "qwen3:8b")) as port:
        found = asyncio.run(local_model([at(port)]))
    assert found is not None
    assert found.id == "qwen3:8b"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 200),
        (b"{}", 200),
        (b"[" * 100_000, 200),
        (b'{"data": [{"id": 7}, "x", null]}', 200),
        (b'{"data": [{"id": "a row of some other service"}]}', 200),
        (listing(), 200),
        (listing("model"), 404),
    ],
    ids=["empty", "object", "deep", "odd-rows", "other-service", "no-models", "not-found"],
)
def test_f06_what_is_no_list_of_models_is_not_taken_for_one(body: bytes, status: int) -> None:
    """F06"""
    with answering(body, status) as port:
        assert asyncio.run(local_model([at(port)])) is None


def test_a_silent_server_is_not_waited_for() -> None:
    with silent() as port, silent() as other:
        servers = [at(port, timeout_s=0.3), at(other, timeout_s=0.3)]
        assert asyncio.run(local_model(servers)) is None


def test_f22_a_key_is_not_carried_to_where_a_redirect_points() -> None:
    """F22"""
    with answering(listing("stolen")) as elsewhere:
        target = f"http://{HOST}:{elsewhere}/v1/models"
        with answering(b"", 302, target) as port, pytest.raises(ListingError, match="HTTP 302"):
            asyncio.run(list_models(f"http://{HOST}:{port}/v1", key="secret", timeout_s=HANG_S))


def test_f36_a_key_that_no_header_can_hold_is_not_shown() -> None:
    """F36"""
    with answering(listing("one")) as port, pytest.raises(ListingError) as error:
        asyncio.run(list_models(f"http://{HOST}:{port}/v1", key="sec\nret", timeout_s=HANG_S))
    assert str(error.value) == "the key can't be sent"


def test_the_context_that_an_endpoint_tells_of_is_read() -> None:
    body = b'{"data": [{"id": "a", "max_model_len": 4096}, {"id": "b", "meta": {"n_ctx": 512}}]}'
    with answering(body) as port:
        models = asyncio.run(list_models(f"http://{HOST}:{port}/v1", timeout_s=HANG_S))
    assert [(model.id, model.context_tokens) for model in models] == [("a", 4096), ("b", 512)]


@pytest.mark.parametrize("url", ["", "nowhere", "http://", "http://[::1", "ftp://127.0.0.1/v1"])
def test_an_invalid_address_is_a_listing_error(url: str) -> None:
    with pytest.raises(ListingError):
        asyncio.run(list_models(url, timeout_s=HANG_S))
