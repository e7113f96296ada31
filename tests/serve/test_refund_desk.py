"""The refund desk of the page "In your backend": two processes over one Postgres, and what a
person, a budget, a kill and a signal do to its runs."""

import os
import re
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from leadhand.testing import ScriptedServer
from tests.journal.postgres_server import PostgresServer
from tests.patience import HANG_S, wait_until
from tests.programs import Program, forkserver
from tests.test_docs import DOCS, blocks

RUNS = "/api/v1/runs"
TASK: dict[str, object] = {"id": "t1", "worker": "billing", "intent": "Refund it", "depends_on": []}
LETTER = {"subject": "Your refund", "text": "It is done."}
LAST: dict[str, object] = {
    "answer": LETTER,
    "summary": "Refunded",
    "confidence": 90,
    "evidence": ["Invoice 17"],
    "plan_impact": "none",
}


def rule(reply: dict[str, object], times: int | None = None, **match: object) -> dict[str, object]:
    return {"match": match, "reply": reply, "times": times}


def calls(name: str, arguments: dict[str, object]) -> dict[str, object]:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


PLANS = rule({"json": {"goal": "Refund", "tasks": [TASK]}}, role="planner")
WANTS = rule(calls("refund", {"invoice": 17, "amount": 140}), role="worker", step=1)
ENDS = rule(calls("final_answer", LAST), role="worker")


class Process:
    """The page's service in a process of its own."""

    def __init__(self, program: Program) -> None:
        self.program = program
        program.says("Uvicorn running on", "err")
        found = re.search(r"running on (http://127\.0\.0\.1:\d+)", program.said("err"))
        assert found is not None
        self._url = found[1]

    def client(self, name: str) -> httpx2.Client:
        headers = {"Authorization": f"Bearer t-{name}"}
        return httpx2.Client(base_url=self._url, headers=headers, timeout=HANG_S, trust_env=False)


@pytest.fixture(scope="module", name="postgres")
def _postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@contextmanager
def process(server: ScriptedServer, folder: Path, journal: str) -> Generator[Process]:
    for block in blocks(DOCS / "backend.md"):
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    env = {**os.environ, **server.env(), "REFUNDS_JOURNAL": journal}
    argv = ("-m", "uvicorn", "service:service", "--port", "0")
    with forkserver().start(*argv, folder=folder, env=env) as program:
        yield Process(program)


def start(client: httpx2.Client, wait: int = 30) -> httpx2.Response:
    asked = {"team": "refunds", "request": "I was charged twice"}
    return client.post(RUNS, json=asked, headers={"Prefer": f"wait={wait}"})


def test_a_refund_waits_for_a_person_and_any_process_continues_it(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    journal = postgres.database()
    with (
        ScriptedServer([PLANS, WANTS, ENDS]) as server,
        process(server, tmp_path, journal) as one,
        process(server, tmp_path, journal) as other,
        one.client("ann") as ann,
        other.client("zoe") as zoe,
        other.client("cleo") as cleo,
    ):
        waiting = [start(ann).json() for _ in range(2)]
        assert [run["status"] for run in waiting] == ["waiting", "waiting"]
        # Both keep 20,000 tokens of their company's 50,000; another company has its own.
        refused = start(ann)
        assert (refused.status_code, refused.json()["status"]) == (402, 402)
        assert start(zoe).json()["status"] == "waiting"
        asked = cleo.get("/api/v1/questions").json()["questions"]
        assert [one["run_id"] for one in asked] == [run["run_id"] for run in waiting]
        assert not (tmp_path / "bank").exists()
        replies = [
            {"run_id": q["run_id"], "question": q["id"], "verdict": "approved", "seen": q["seq"]}
            for q in asked
        ]
        given = {"replies": replies}
        assert cleo.post("/api/v1/questions/replies", json=given).status_code == 202
        for run in waiting:
            url = f"{RUNS}/{run['run_id']}"
            assert "event: end" in ann.get(f"{url}/events").text
            assert ann.get(url).json()["answer"]["output"] == LETTER
            assert zoe.get(url).status_code == 404
        assert len([*(tmp_path / "bank").iterdir()]) == 2
        follow = {"request": "When does it arrive?"}
        url = f"{RUNS}/{waiting[0]['run_id']}/followups"
        assert ann.post(url, json=follow).status_code == 202
        # A signal ends a process that clients follow runs on.
        with ann.stream("GET", "/api/v1/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "retry: 1000"
            one.program.kill(signal.SIGTERM)
            assert [*lines][-1] == ""
        ended = one.program.ended()
        assert "Application shutdown complete" in ended.err
        assert "Traceback" not in ended.err


def test_a_process_that_is_killed_loses_no_run(postgres: PostgresServer, tmp_path: Path) -> None:
    journal = postgres.database()
    hangs = rule({"misbehave": {"latency_ms": 3_600_000}}, times=1, role="worker")
    with (
        ScriptedServer([PLANS, hangs, ENDS]) as server,
        process(server, tmp_path, journal) as one,
        process(server, tmp_path, journal) as other,
    ):
        with one.client("ann") as ann:
            run = start(ann, wait=0).json()
        wait_until(lambda: server.stats().by_role.get("worker") == 1)
        one.program.kill(signal.SIGKILL)
        url = f"{RUNS}/{run['run_id']}"
        with other.client("ann") as ann:
            assert "event: end" in ann.get(f"{url}/events").text
            assert ann.get(url).json()["answer"]["output"] == LETTER
