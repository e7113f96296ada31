"""What stands before the routes: foreign hosts and origins, large bodies, headers of responses."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from leadhand.serve import ServiceSettings
from tests.patience import HANG_S
from tests.serve.desk import Desk, serving_desk

ME = "/api/v1/me"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One for all tests: they start no runs."""
    with serving_desk(tmp_path_factory.mktemp("home")) as desk:
        yield desk


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example:80", 403),
        ("127.0.0.2", 403),
        ("127.0.0.1:8765.evil.example", 403),
        ("", 403),
        ("[::1", 403),
        ("localhost", 200),
        ("LOCALHOST:9", 200),
        ("127.0.0.1:8765", 200),
        ("[::1]:8765", 200),
    ],
)
def test_a_host_that_is_not_the_listeners_is_refused(host: str, status: int, desk: Desk) -> None:
    """F33"""
    answer = desk.client().get(ME, headers={"Host": host})
    assert answer.status_code == status
    if status == 403:
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://[", "file://"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_a_foreign_origin_is_refused_and_no_origin_is_ever_allowed_by_a_header(
    method: str, origin: str, desk: Desk
) -> None:
    """F33"""
    answer = desk.client().request(method, ME, headers={"Origin": origin})
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_services_own_page_may_ask(desk: Desk) -> None:
    answer = desk.client().get(ME, headers={"Origin": desk.url})
    assert answer.status_code == 200


def test_an_allowed_host_may_be_named_and_ask(tmp_path: Path) -> None:
    with serving_desk(tmp_path, allow_hosts=["desk.example"]) as desk:
        for headers in (
            {"Host": "desk.example"},
            {"Host": "desk.example:443", "Origin": "https://desk.example"},
            {"Origin": "https://desk.example"},  # a proxy that names the upstream
        ):
            assert desk.client().get(ME, headers=headers).status_code == 200
        assert desk.client().get(ME, headers={"Host": "a.desk.example"}).status_code == 403


def test_every_response_has_the_headers_that_protect_a_page(desk: Desk) -> None:
    """F32"""
    for answer in (desk.client().get(ME), desk.client("").get(ME), desk.client().get("/nowhere")):
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def exchange(desk: Desk, request: bytes) -> bytes:
    """The response to raw bytes, to the end of the connection."""
    port = int(desk.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=HANG_S) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


POST = (
    b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    b"Authorization: Bearer ann\r\nContent-Type: application/json\r\n"
)


def test_a_body_that_is_too_long_is_refused_whether_it_says_so_or_not(tmp_path: Path) -> None:
    settings = ServiceSettings(max_body_bytes=1_000, grace_s=0)
    with serving_desk(tmp_path, settings=settings) as desk:
        said = exchange(desk, POST + b"Content-Length: 1001\r\n\r\n")
        assert b" 413 " in said.partition(b"\r\n")[0]
        chunk = b"%x\r\n" % 600 + b" " * 600 + b"\r\n"
        unsaid = exchange(desk, POST + b"Transfer-Encoding: chunked\r\n\r\n" + 2 * chunk)
        assert b" 413 " in unsaid.partition(b"\r\n")[0]
        assert json.loads(unsaid.rpartition(b"\r\n")[2])["status"] == 413


def test_only_the_route_of_files_takes_large_bodies_and_only_from_known_callers(
    tmp_path: Path,
) -> None:
    settings = ServiceSettings(max_body_bytes=1_000, grace_s=0)
    form = {"Content-Type": "multipart/form-data; boundary=b"}
    with serving_desk(tmp_path, settings=settings) as desk:
        for path, name, status in (
            ("/api/v1/plans", "", 413),
            ("/api/v1/plans", "olga", 413),
            ("/api/v1/runs", "", 401),
            ("/api/v1/runs", "ann", 400),
        ):
            answer = desk.client(name).post(path, content=b" " * 2_000, headers=form)
            assert answer.status_code == status, (path, name)


def test_a_body_that_never_comes_is_not_waited_for(tmp_path: Path) -> None:
    with serving_desk(tmp_path, settings=ServiceSettings(body_s=0.05, grace_s=0)) as desk:
        answer = exchange(desk, POST + b"Content-Length: 100\r\n\r\n{")
        assert b" 408 " in answer.partition(b"\r\n")[0]


def test_a_body_that_comes_byte_by_byte_is_not_waited_for(tmp_path: Path) -> None:
    with serving_desk(tmp_path, settings=ServiceSettings(body_s=0.5, grace_s=0)) as desk:
        with socket.create_connection(("127.0.0.1", int(desk.url.rpartition(":")[2]))) as sent:
            sent.sendall(POST + b"Content-Length: 1000000\r\n\r\n{")
            sent.settimeout(0.05)
            answer = b""
            while not answer:
                with suppress(TimeoutError):
                    sent.sendall(b" ")
                    answer = sent.recv(1_000)
        assert b" 408 " in answer.partition(b"\r\n")[0]


@pytest.mark.parametrize("path", ["/api/v1/runs", "/api/v1/plans", "/v1/responses", "/mcp"])
def test_the_body_of_an_unknown_caller_is_not_read(path: str, desk: Desk) -> None:
    """It never comes, and the answer does."""
    head = POST.replace(b"/api/v1/runs", path.encode()).replace(b"Bearer ann", b"Bearer nobody")
    answer = exchange(desk, head + b"Content-Length: 3000000\r\n\r\n")
    assert b" 401 " in answer.partition(b"\r\n")[0]


def test_a_client_that_leaves_within_its_body_is_no_failure_of_the_service(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving_desk(tmp_path / "home") as desk:
        host, port = desk.url.removeprefix("http://").split(":")
        head = (
            f"POST /api/v1/runs HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer ann\r\n"
            "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n"
        )
        with socket.create_connection((host, int(port)), timeout=HANG_S) as client:
            client.sendall(head.encode())
            assert b" 100 " in client.recv(100)  # it reads the body now
    assert [one.message for one in caplog.records if one.levelname == "ERROR"] == []
