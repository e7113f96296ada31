"""The scripted server's process: it starts fast, speaks both protocols, counts, and ends."""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from typing import cast

import pytest
from anthropic import Anthropic
from openai import NotFoundError, OpenAI

from leadhand.errors import InputError
from leadhand.testing import ScriptedServer
from tests.patience import HANG_S, wait_until
from tests.testing.asking import asked


def test_it_starts_and_stops_and_leaves_no_process() -> None:
    with ScriptedServer() as server:
        port = int(server.anthropic_url.rpartition(":")[2])
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
    server.stop()


def test_the_server_needs_no_library_and_so_starts_at_once() -> None:
    script = "import sys, leadhand.testing.server; print(*{n.split('.')[0] for n in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "leadhand" in loaded
    assert loaded.isdisjoint({"pydantic", "pydantic_ai", "openai", "anthropic", "httpx", "aiohttp"})


def test_it_ends_when_its_parent_is_gone() -> None:
    parent = (
        "import os; from leadhand.testing import ScriptedServer; s = ScriptedServer(); s.start();"
        "print(s.url, flush=True); os._exit(0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", parent], capture_output=True, text=True, check=True, timeout=HANG_S
    )
    # The child held the pipe of our `run` open: that it returned says that the child has ended.
    assert done.stdout.startswith("http://127.0.0.1:")


def test_on_the_command_line_it_prints_its_url_and_serves_its_counts() -> None:
    command = [sys.executable, "-m", "leadhand.testing.server", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        with process.stdout as stdout:
            url = stdout.readline().strip()
        with OpenAI(base_url=url, api_key="dummy", max_retries=0) as client:
            (model,) = client.models.list().data
            message = {"role": "user", "content": "hello"}
            client.chat.completions.create(model=model.id, messages=[message])  # pyright: ignore[reportArgumentType]
        with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats") as response:
            stats = cast("dict[str, object]", json.loads(response.read()))
        assert (model.id, stats["requests"]) == ("scripted", 1)
    finally:
        process.terminate()
        process.wait(HANG_S)


def test_a_wrong_option_by_hand_is_one_line_and_status_2() -> None:
    command = [sys.executable, "-m", "leadhand.testing.server", "--faults", '{"fire": 1}']
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
    assert done.returncode == 2
    assert "'fire'" in done.stderr
    assert "Traceback" not in done.stderr


def test_its_environment_is_all_that_the_sdks_need(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in server.env().items():
        monkeypatch.setenv(name, value)
    with OpenAI() as client:
        assert [model.id for model in client.models.list()] == ["scripted"]
    with Anthropic() as client:
        assert [model.id for model in client.models.list()] == ["scripted"]


def test_the_responses_protocol_is_refused_with_what_to_use_instead(server: ScriptedServer) -> None:
    with (
        OpenAI(base_url=server.url, api_key="dummy") as client,
        pytest.raises(NotFoundError, match="chat completions, not responses"),
    ):
        client.responses.create(model="scripted", input="hello")


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_request_is_an_error_of_the_client(
    server: ScriptedServer, body: bytes
) -> None:
    request = urllib.request.Request(f"{server.url}/chat/completions", data=body, method="POST")
    with pytest.raises(urllib.error.HTTPError) as caught, urllib.request.urlopen(request):
        pass
    with caught.value as error:
        assert error.code == 400
    assert server.stats().requests == 0


def test_a_chunked_body_is_read_whole(server: ScriptedServer) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "in pieces"}]})
    pieces = (body[start : start + 7].encode() for start in range(0, len(body), 7))
    request = urllib.request.Request(f"{server.url}/chat/completions", data=pieces, method="POST")
    with urllib.request.urlopen(request) as response:
        assert b"in pieces" in response.read()


def test_bodies_are_kept_for_assertions_up_to_a_bound(server: ScriptedServer) -> None:
    server.reset(keep_bodies=2)
    for text in ("one", "two", "three"):
        asked(server, "openai", text)
    kept = [json.dumps(body) for body in server.stats().bodies]
    assert ["two" in kept[0], "three" in kept[1], len(kept)] == [True, True, 2]
    assert server.stats().bodies[0]["role"] == "plain"


def test_reset_zeroes_the_counts_and_configure_keeps_them(server: ScriptedServer) -> None:
    asked(server, "openai", "one")
    server.configure(latency_ms=1)
    assert server.stats().requests == 1
    server.reset()
    assert (server.stats().requests, server.stats().prompt_tokens) == (0, 0)


def test_a_marker_in_the_request_overrides_the_latency(server: ScriptedServer) -> None:
    server.configure(latency_ms=3_600_000)
    started = time.monotonic()
    asked(server, "openai", "be quick lat_ms=120")
    assert time.monotonic() - started > 0.11


def test_a_thousand_requests_are_in_flight_at_once(server: ScriptedServer) -> None:
    server.configure(latency_ms=60_000)
    port = int(server.anthropic_url.rpartition(":")[2])
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
    head = "POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\n"
    request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    with ExitStack() as clients:
        for _ in range(1_000):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(request)
        wait_until(lambda: server.stats().max_concurrency == 1_000)
    # Those clients are gone, and so is what they asked for.
    wait_until(lambda: server.stats().by_status == {0: 1_000})
    server.reset()
    assert server.stats().max_concurrency == 0


def test_the_requests_are_given_in_order_by_role_and_never_only_some_of_them(
    server: ScriptedServer,
) -> None:
    server.reset(keep_bodies=2)
    asked(server, "openai", "first")
    asked(server, "openai", "second")
    assert ["first" in str(body) for body in server.requests()] == [True, False]
    assert len(server.requests(role="worker")) + len(server.requests(role="structured")) <= 2
    asked(server, "openai", "third")
    with pytest.raises(InputError, match=r"kept 2 of 3 requests: raise `keep_bodies`"):
        server.requests()
