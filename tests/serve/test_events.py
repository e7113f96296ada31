"""Events over HTTP: of a run and of all, from where a client left, to those who may see them."""

import json
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from leadhand import Supervisor, TaskTemplate, Team, Worker
from leadhand.serve import ServiceSettings, app
from leadhand.testing import ScriptedServer
from tests.serve.desk import Desk, Gate, authenticate, served, serving_desk
from tests.serve.test_runs import RUNS, answered, started

Message = dict[str, str]


def messages(lines: Iterator[str]) -> Iterator[Message]:
    """The messages of a stream, and `:` for its comments."""
    message: Message = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line:
            message[name or ":"] = value
        elif message:
            yield message
            message = {}


@contextmanager
def following(client: httpx2.Client, url: str, **headers: str) -> Generator[Iterator[Message]]:
    with client.stream("GET", url, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        yield messages(response.iter_lines())


def until(found: Iterator[Message], kind: str) -> list[Message]:
    """The messages up to the first of a kind."""
    seen: list[Message] = []
    for message in found:
        seen.append(message)
        if message.get("event") == kind:
            return seen
    raise AssertionError(f"no {kind} in {seen}")


def test_a_client_follows_a_run_to_its_end_and_misses_nothing_when_it_comes_again(
    desk: Desk,
) -> None:
    run_id, client = started(desk, team="gate"), desk.client()
    url = f"{RUNS}/{run_id}/events"
    with following(client, url) as found:
        assert next(found) == {"retry": "1000"}
        first = until(found, "task_dispatched")
    desk.gate.open()
    with following(client, url, **{"Last-Event-ID": first[-1]["id"]}) as found:
        rest = [one for one in found if "retry" not in one]
    ids = [int(one["id"]) for one in [*first, *rest] if "id" in one]
    assert ids == list(range(1, len(ids) + 1))
    assert [one["event"] for one in rest[-2:]] == ["run_finished", "end"]
    assert "id" not in rest[-1]
    again = client.get(url, headers={"Last-Event-ID": str(ids[-1])})
    assert (again.status_code, again.content) == (204, b"")
    with following(client, f"{url}?after_seq={ids[-2]}") as found:
        assert [one["event"] for one in found if "event" in one] == ["run_finished", "end"]


def test_secrets_are_in_no_event_whoever_reads_and_however_soon(desk: Desk) -> None:
    """Events that are sent as they happen were not written to the journal yet, which redacts."""
    secret = f"ghp_{'a1B2' * 9}"
    run_id = started(desk, f"push with {secret}", team="gate")
    readers = desk.client("ann"), desk.client("olga")
    with ExitStack() as stack:
        url = f"{RUNS}/{run_id}/events"
        found = [stack.enter_context(following(one, url)) for one in readers]
        begun = [until(one, "task_dispatched") for one in found]
        desk.gate.open()
        seen = [[*first, *rest] for first, rest in zip(begun, found, strict=True)]
    assert [one[-1]["event"] for one in seen] == ["end", "end"]
    assert secret not in str(seen)
    assert "push with [redacted]" in str(seen[0])
    assert "push with [redacted]" in str(seen[1])


def test_others_than_operators_get_the_public_events(desk: Desk) -> None:
    """F33."""
    run_id = answered(desk, "fail with prompts")
    url = f"{RUNS}/{run_id}/events"
    own = desk.client("ann").get(url).text
    assert "event: task_failed" in own
    assert "with prompts" not in own
    assert "Traceback" not in own
    every = desk.client("olga").get(url).text
    assert "with prompts" in every
    assert "Traceback" in every


def test_a_stream_of_a_run_that_waits_stays_open_with_heartbeats(tmp_path: Path) -> None:
    settings = ServiceSettings(grace_s=0, heartbeat_s=0.05)
    with serving_desk(tmp_path, settings=settings) as desk:
        _reply_to_a_silent_run(desk)


def _reply_to_a_silent_run(desk: Desk) -> None:
    run_id = answered(desk, "ask which?")
    with following(desk.client(), f"{RUNS}/{run_id}/events") as found:
        until(found, "run_waiting")
        assert next(found) == {":": "heartbeat"}
        (asked,) = desk.client("cleo").get("/api/v1/questions").json()["questions"]
        given = {"replies": [{"question": asked["id"], "text": "a"}], "seen": asked["seq"]}
        desk.client("cleo").post(f"{RUNS}/{run_id}/replies", json=given)
        kinds = [one["event"] for one in until(found, "end") if "event" in one]
    assert kinds[0] == "approval_given" or "run_resumed" in kinds
    assert kinds[-2:] == ["run_finished", "end"]


def test_one_stream_has_all_that_a_principal_may_see(desk: Desk) -> None:
    """F33."""
    everyone = ("ann", "bob", "cleo", "olga", "zoe")
    streams = [following(desk.client(name), "/api/v1/events") for name in everyone]
    found = dict(zip(everyone, [stream.__enter__() for stream in streams], strict=True))
    for one in found.values():
        assert next(one) == {"retry": "1000"}
        assert next(one)["event"] == "ready"
    run_id = answered(desk, "ask which?")
    seen = until(found["ann"], "run_waiting")
    assert {json.loads(one["data"])["run_id"] for one in seen} == {run_id}
    assert "run_started" in [one["event"] for one in seen]
    assert not any("id" in one for one in seen)
    assert "which?" not in json.dumps([one for one in seen if one["event"] != "run_changed"])
    assert "which?" in json.dumps(until(found["olga"], "run_waiting"))
    (asked,) = desk.client("cleo").get("/api/v1/questions").json()["questions"]
    changed = until(found["cleo"], "run_changed")
    assert len(changed) == 1
    assert {*json.loads(changed[0]["data"])} == {"run_id", "team", "status", "questions"}
    # Another one's run comes first to those who may not see this one.
    later = answered(desk, "hello", "bob")
    assert json.loads(next(found["bob"])["data"])["run_id"] == later
    zoe = answered(desk, "hello", "zoe")
    assert json.loads(next(found["zoe"])["data"])["run_id"] == zoe
    assert asked["run_id"] == run_id
    for stream in streams:
        stream.__exit__(None, None, None)


@pytest.mark.parametrize("after", ["-1", "x"])
def test_a_position_that_is_none_is_refused(after: str, desk: Desk) -> None:
    run_id = answered(desk)
    url = f"{RUNS}/{run_id}/events"
    response = desk.client().get(url, headers={"Last-Event-ID": after})
    assert response.status_code == 422


def test_text_comes_without_an_id_while_a_model_writes_and_to_operators_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Your invoice was charged twice, and the second charge is refunded. " * 4
    rules: list[dict[str, object]] = [{"match": {"role": "plain"}, "reply": {"text": said}}]
    with ScriptedServer(rules) as server:
        server.configure(tokens_per_s=400)
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        worker = Worker("clerk", "Answers", instructions="Answer.", plain=True)
        team = Team(
            "desk",
            model="openai-chat:scripted",
            workers=[worker],
            planner="template",
            template=[TaskTemplate("t1", "clerk", "{request}")],
            template_synthesis="last",
        )
        supervisor = Supervisor(team, home=tmp_path)
        with served(app([supervisor], auth=authenticate, home=tmp_path)) as url:
            desk = Desk(url, Gate(), FastAPI())
            run_id = answered(desk, approve=["plan"])
            path = f"{RUNS}/{run_id}/events"
            with following(desk.client("olga"), path) as every:
                until(every, "run_waiting")  # models are asked to stream while there is a reader
                (asked,) = desk.client("cleo").get("/api/v1/questions").json()["questions"]
                reply = {"question": asked["id"], "verdict": "approved"}
                given = {"replies": [reply], "seen": asked["seq"]}
                desk.client("cleo").post(f"{RUNS}/{run_id}/replies", json=given)
                found = [one for one in every if one.get("event") == "text_delta"]
            with following(desk.client("ann"), path) as own:
                assert "text_delta" not in [one.get("event") for one in own]
            desk.close()
    assert found
    assert not any("id" in one for one in found)
    texts = [json.loads(one["data"]) for one in found]
    assert {(one["role"], one["task_id"]) for one in texts} == {("worker", "t1")}
    assert said.startswith("".join(one["text"] for one in texts)[:60])
