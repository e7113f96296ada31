"""Many connections, and odd ones, to a real server: they leave nothing behind, and others go on."""

import asyncio
import contextlib
import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadhand.cli.serve.command import ServedConnection
from leadhand.serve import ServiceSettings, app
from tests.patience import HANG_S, wait_until
from tests.serve.desk import Desk, Gate, authenticate, served, serving_desk, supervisors_of

STREAMS = 500 if "LEADHAND_TEST_ALL" in os.environ else 100


@pytest.fixture
def many_files() -> Iterator[None]:
    """Leave to open as many files as this process may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def request(path: str, who: str = "ann") -> bytes:
    lines = (f"GET {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {who}", "", "")
    return "\r\n".join(lines).encode()


def port_of(desk: Desk) -> int:
    return int(desk.url.rpartition(":")[2])


def started(desk: Desk, team: str, text: str) -> str:
    answer = desk.client().post("/api/v1/runs", json={"team": team, "request": text})
    assert answer.status_code == 202, answer.text
    return answer.json()["run_id"]


def open_sockets() -> int:
    """Of this process, in which both sides are."""
    found = 0
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # it was closed just now
            found += os.readlink(f"/proc/self/fd/{number}").startswith("socket:")
    return found


@pytest.fixture(name="desk")
def _desk(tmp_path: Path) -> Iterator[Desk]:
    settings = ServiceSettings(grace_s=0, max_streams=STREAMS)
    with serving_desk(tmp_path / "home", settings=settings) as desk:
        yield desk


def test_hundreds_of_streams_get_every_event_while_others_are_served(
    desk: Desk, many_files: None
) -> None:
    run_id = started(desk, "gate", "wait")
    path = f"/api/v1/runs/{run_id}/events"
    assert desk.client("bob").get("/api/v1/me").status_code == 200
    before = open_sockets()
    reached: list[None] = []

    async def follow() -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(desk))
        writer.write(request(path))
        read = await reader.readuntil(b"event: task_dispatched")
        reached.append(None)
        if len(reached) == STREAMS:
            answer = await asyncio.to_thread(desk.client("bob").get, "/api/v1/me")
            assert answer.status_code == 200
            desk.gate.open()
        read += await reader.readuntil(b"event: end")
        writer.close()
        await writer.wait_closed()
        return read

    async def main() -> list[bytes]:
        async with asyncio.timeout(HANG_S):
            return await asyncio.gather(*(follow() for _ in range(STREAMS)))

    found = asyncio.run(main())
    ids = [[line for line in one.splitlines() if line.startswith(b"id: ")] for one in found]
    assert len(ids[0]) > 4
    assert all(one == ids[0] for one in ids)
    wait_until(lambda: open_sockets() <= before)


def test_a_reader_that_reads_nothing_delays_no_run_and_gets_it_all_in_the_end(desk: Desk) -> None:
    text = "x" * 900_000
    with socket.create_connection(("127.0.0.1", port_of(desk)), timeout=HANG_S) as slow:
        run_id = started(desk, "gate", text)
        slow.sendall(request(f"/api/v1/runs/{run_id}/events", "root"))
        desk.gate.open()
        wait = desk.client().get(f"/api/v1/runs/{run_id}/events").text
        assert "event: end" in wait
        read = b""
        while b"event: end" not in read[-2_000:]:
            read += slow.recv(1_000_000)
    assert len(read) > 2 * len(text)


def test_connections_that_are_half_closed_or_say_half_of_a_request_leave_nothing(
    desk: Desk,
) -> None:
    run_id = started(desk, "gate", "wait")
    path = f"/api/v1/runs/{run_id}/events"
    assert desk.client().get("/api/v1/me").status_code == 200
    before = open_sockets()
    odd: list[socket.socket] = []
    for sent, ends in (
        (request(path), True),
        (request("/api/v1/events"), True),
        (request(path)[:20], True),
        (request(path)[:20], False),
        (request(path), False),
        (b"\x16\x03\x01\x02\x00\x01", False),
        (b"", True),
    ):
        connection = socket.create_connection(("127.0.0.1", port_of(desk)), timeout=HANG_S)
        connection.sendall(sent)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        odd.append(connection)
    assert desk.client().get("/api/v1/me").status_code == 200
    for connection in odd:
        connection.close()
    wait_until(lambda: open_sockets() <= before)
    assert desk.client().get("/api/v1/me").status_code == 200


def test_a_connection_that_asks_nothing_is_closed_and_one_that_follows_a_run_is_not(
    tmp_path: Path,
) -> None:
    """Nor does half of a request keep it, before or after a whole one."""
    gate = Gate()
    service = app(supervisors_of(tmp_path, gate), auth=authenticate)
    with served(service, keep_alive_s=1, http=ServedConnection) as url:
        desk = Desk(url, gate, service)
        run_id = started(desk, "gate", "wait")
        whole, half = request("/healthz"), request("/healthz")[:20]
        with contextlib.ExitStack() as stack:
            silent = [
                stack.enter_context(
                    socket.create_connection(("127.0.0.1", port_of(desk)), timeout=HANG_S)
                )
                for _ in range(4)
            ]
            follows = silent.pop()
            follows.sendall(request(f"/api/v1/runs/{run_id}/events"))
            for connection, sent in zip(silent, (b"", half, whole + half), strict=True):
                connection.sendall(sent)
            for connection in silent:
                said = b"".join(iter(lambda one=connection: one.recv(65_536), b""))
                assert said.count(b"HTTP/1.1 ") == (connection is silent[2])
            desk.gate.open()
            read = b""
            while b"event: end" not in read:
                read += (part := follows.recv(65_536))
                assert part
        desk.close()


def test_one_principal_follows_a_limited_number_of_streams(tmp_path: Path) -> None:
    settings = ServiceSettings(grace_s=0, max_streams=1)
    with serving_desk(tmp_path, settings=settings) as desk:
        run_id = started(desk, "gate", "wait")
        path = f"/api/v1/runs/{run_id}/events"
        with desk.client("ann").stream("GET", "/api/v1/events") as first:
            lines = first.iter_lines()  # which, if it were dropped, would end the stream
            assert "retry" in next(lines)
            refused = desk.client("ann").get(path)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
            asks = {"model": "gate", "input": "x", "stream": True}
            assert desk.client("ann").post("/v1/responses", json=asks).status_code == 429
            chat = {"model": "gate", "messages": [{"role": "user", "content": "x"}], "stream": True}
            assert desk.client("ann").post("/v1/chat/completions", json=chat).status_code == 429
            for body in (asks, chat):  # nor without streaming
                url = "/v1/responses" if body is asks else "/v1/chat/completions"
                held = desk.client("ann").post(url, json={**body, "stream": False})
                assert held.status_code == 429
            ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
            assert desk.client("ann").post("/mcp", json=ping).status_code == 429
            given = {"team": "gate", "request": "x"}
            waits = {"Prefer": "wait=60"}
            not_held = desk.client("ann").post("/api/v1/runs", json=given, headers=waits)
            assert (not_held.status_code, "preference-applied" in not_held.headers) == (202, False)
            with desk.client("olga").stream("GET", path) as others:
                assert others.status_code == 200
        wait_until(lambda: not desk.app.state.service.streams)
        with desk.client("ann").stream("POST", "/v1/responses", json=asks) as first:
            lines = first.iter_lines()
            assert "response.created" in next(lines)
            assert desk.client("ann").get(path).status_code == 429
        wait_until(lambda: not desk.app.state.service.streams)
        desk.gate.open()
        assert "event: end" in desk.client("ann").get(path).text
