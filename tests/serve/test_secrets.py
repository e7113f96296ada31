"""Keys in requests, results and errors reach no client, whichever way it reads (F36)."""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from leadhand import Supervisor, TaskTemplate, Team, Worker
from leadhand.journal import MemoryJournal
from leadhand.serve import app
from tests.patience import HANG_S
from tests.serve.desk import authenticate, echo, served
from tests.serve.openai_desk import serving_openai
from tests.serve.test_mcp import called, connected

SECRET = f"ghp_{'a1B2' * 9}"
REQUEST = f"push with {SECRET}"


@contextmanager
def serving_memory() -> Generator[httpx2.Client]:
    worker = Worker("clerk", "Echoes", run=echo)
    team = Team("desk", workers=[worker], template=[TaskTemplate("t1", "clerk", "{request}")])
    supervisor = Supervisor(team, journal=MemoryJournal(), approve=["escalation"])
    service = app([supervisor], auth=authenticate, allow_memory=True)
    headers = {"Authorization": "Bearer root"}
    with served(service) as url:
        yield httpx2.Client(base_url=url, headers=headers, timeout=HANG_S, trust_env=False)


@pytest.fixture(params=["stored", "memory"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[httpx2.Client]:
    """An operator's, who sees all that there is."""
    if request.param == "memory":
        with serving_memory() as client, client:
            yield client
    else:
        with serving_openai(tmp_path) as desk:
            yield desk.client("root")


def test_a_key_in_a_request_is_in_no_response_and_no_event(client: httpx2.Client) -> None:
    texts: list[str] = []

    def read(method: str, url: str, **given: object) -> str:
        headers = {"Prefer": "wait=30"} if "json" in given else {}
        with client.stream(method, url, headers=headers, **given) as response:  # pyright: ignore[reportArgumentType]
            assert response.status_code < 500
            texts.append(response.read().decode())
        return texts[-1]

    ids: list[str] = []
    for request in (REQUEST, f"fail {REQUEST}", f"ask {REQUEST}"):
        given = {"team": "desk", "request": request}
        ids.append(json.loads(read("POST", "/api/v1/runs", json=given))["run_id"])
    for run_id in ids:
        url = f"/api/v1/runs/{run_id}"
        for path in ("", "/tasks/t1", "/report", "/report?file=report.md"):
            read("GET", f"{url}{path}")
        read("GET", f"/v1/responses/resp_{run_id}")
        read("GET", f"{url}/blobs/{SECRET}")
    for run_id in ids[:2]:
        read("GET", f"/api/v1/runs/{run_id}/events")
    for url in ("/api/v1/runs", "/api/v1/questions", "/api/v1/teams/desk", "/metrics"):
        read("GET", url)
    for stream in (False, True):
        asked = [{"role": "user", "content": REQUEST}]
        chat = {"model": "desk", "messages": asked, "stream": stream}
        read("POST", "/v1/chat/completions", json=chat)
        read("POST", "/v1/responses", json={"model": "desk", "input": REQUEST, "stream": stream})
    read("POST", "/api/v1/runs", json={"team": SECRET, "request": "x"})
    read("POST", "/v1/responses", json={"model": SECRET, "input": "x"})
    found = [text for text in texts if SECRET in text]
    assert not found
    assert sum("push with [redacted]" in text for text in texts) > 12


@pytest.mark.wall_clock
async def test_a_key_in_a_request_is_in_no_result_of_mcp(tmp_path: Path) -> None:
    with serving_openai(tmp_path) as desk:
        async with connected(desk, "root") as client:
            started = await called(client, "start", team="desk", request=REQUEST)
            found = await called(client, "result", run_id=started["run_id"])
            assert found["answer"] == "push with [redacted]"
