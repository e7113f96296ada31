"""The service of the page "In your backend", under the web server that most people use."""

import json
import os
import re
import signal
from collections.abc import Generator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from leadhand.testing import ScriptedServer
from tests.patience import HANG_S, wait_until
from tests.programs import Program, forkserver
from tests.test_docs import DOCS, blocks

HEADERS = {"customer": "8100017", "idempotency-key": "a1", "content-type": "application/json"}
TASK: dict[str, object] = {"id": "t1", "worker": "billing", "intent": "Refund it", "depends_on": []}
PLAN: dict[str, object] = {
    "match": {"role": "planner"},
    "reply": {"json": {"goal": "Refund", "tasks": [TASK]}},
}
REFUND: dict[str, object] = {
    "tool_calls": [{"name": "refund", "arguments": {"invoice": 17, "amount": 40}}]
}
HANGS: dict[str, object] = {"misbehave": {"latency_ms": 3_600_000}}


class Service:
    """The page's service in a process of its own."""

    def __init__(self, program: Program) -> None:
        self.program = program
        program.says("Uvicorn running on", "err")
        found = re.search(r"running on http://127\.0\.0\.1:(\d+)", program.said("err"))
        assert found is not None
        self._port = int(found[1])

    @contextmanager
    def asks(self, method: str, path: str) -> Generator[HTTPConnection]:
        """A request that is sent, on a connection that is closed at the end."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=HANG_S)
        body = json.dumps({"text": "I was charged twice"}) if method == "POST" else None
        with closing(connection):
            connection.request(method, path, body, HEADERS)
            yield connection

    def gets(self, method: str, path: str) -> bytes:
        """The body of the response to a request."""
        with self.asks(method, path) as asked:
            return asked.getresponse().read()


@contextmanager
def service(server: ScriptedServer, folder: Path) -> Generator[Service]:
    """The service in `folder`, with the model server as its model."""
    for block in blocks(DOCS / "backend.md"):
        if block.file is not None:
            quick = block.text.replace("grace_s=10", "grace_s=0")
            (folder / block.file).write_text(quick, encoding="utf-8")
    env = {**os.environ, **server.env(), "SUPPORT_JOURNAL": "runs"}
    argv = ("-m", "uvicorn", "service:app", "--port", "0")
    with forkserver().start(*argv, folder=folder, env=env) as program:
        yield Service(program)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_service_while_a_client_follows_a_run(
    number: signal.Signals, tmp_path: Path
) -> None:
    rules: list[dict[str, object]] = [PLAN, {"match": {"role": "worker"}, "reply": REFUND}]
    with ScriptedServer(rules) as server, service(server, tmp_path) as backend:
        ticket = json.loads(backend.gets("POST", "/tickets"))
        assert ticket["status"] == "waiting"
        with backend.asks("GET", f"/tickets/{ticket['id']}/events") as asked:
            followed = asked.getresponse()
            assert followed.readline() == b"id: 1\n"
            backend.program.kill(number)
            assert b"event: run_waiting\n" in followed.read()
        ended = backend.program.ended()
    assert "Application shutdown complete" in ended.err
    assert "Traceback" not in ended.err


def test_a_run_under_way_is_interrupted_by_a_signal_and_its_client_told_to_come_again(
    tmp_path: Path,
) -> None:
    rules: list[dict[str, object]] = [PLAN, {"match": {"role": "worker"}, "reply": HANGS}]
    with ScriptedServer(rules) as server, service(server, tmp_path) as backend:
        with backend.asks("POST", "/tickets") as asked:
            wait_until(lambda: server.stats().by_role.get("worker") == 1)
            backend.program.kill(signal.SIGTERM)
            response = asked.getresponse()
            assert (response.status, json.load(response)["detail"]) == (503, "try again")
        ended = backend.program.ended()
    assert "Application shutdown complete" in ended.err


def test_a_client_that_disconnects_cancels_its_run(tmp_path: Path) -> None:
    rules: list[dict[str, object]] = [PLAN, {"match": {"role": "worker"}, "reply": HANGS}]
    with ScriptedServer(rules) as server, service(server, tmp_path) as backend:
        with backend.asks("POST", "/tickets"):
            wait_until(lambda: server.stats().by_role.get("worker") == 1)
        events = backend.gets("GET", "/tickets/8100017-a1/events")  # until the run is finished
        assert b"event: run_finished\n" in events
        assert json.loads(backend.gets("GET", "/tickets/8100017-a1"))["status"] == "cancelled"
        backend.program.kill(signal.SIGTERM)
        assert "Traceback" not in backend.program.ended().err
