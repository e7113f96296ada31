"""Runs over HTTP: started once, shown to those who may see them, stopped, continued, deleted."""

import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request

from leadhand import Budget, InputError, Plan, Role, Supervisor, Team
from leadhand.extension.roles import PlanRequest
from leadhand.serve import Principal, app
from leadhand.serve.documents import RunDocument, RunList
from tests.patience import wait_until
from tests.serve.desk import Desk, Gate, authenticate, served, serving_desk, supervisors_of

RUNS = "/api/v1/runs"
WAIT = {"Prefer": "wait=30"}


def started(desk: Desk, request: str = "hello", name: str = "ann", **more: object) -> str:
    """The id of a run that was started."""
    response = desk.client(name).post(RUNS, json={"team": "desk", "request": request, **more})
    assert response.status_code == 202, response.text
    return response.json()["run_id"]


def answered(desk: Desk, request: str = "hello", name: str = "ann", **more: object) -> str:
    """The id of a run that has its answer, or waits for a person."""
    given = {"team": "desk", "request": request, **more}
    response = desk.client(name).post(RUNS, json=given, headers=WAIT)
    assert response.status_code == 200, response.text
    return response.json()["run_id"]


def test_a_run_is_accepted_once_it_is_stored_and_has_its_links(desk: Desk) -> None:
    response = desk.client().post(RUNS, json={"team": "gate", "request": "hello"})
    assert response.status_code == 202
    run_id = response.json()["run_id"]
    assert response.headers["location"] == f"{RUNS}/{run_id}"
    assert response.json()["links"] == {
        "self": f"{RUNS}/{run_id}",
        "events": f"{RUNS}/{run_id}/events",
    }
    shown = desk.client().get(response.headers["location"]).json()
    assert (shown["status"], shown["request"], shown["answer"]) == ("running", "hello", None)


def test_a_client_that_waits_gets_the_answer_and_one_that_waits_too_shortly_does_not(
    desk: Desk,
) -> None:
    done = desk.client().post(RUNS, json={"team": "desk", "request": "hello"}, headers=WAIT)
    assert (done.status_code, done.headers["preference-applied"]) == (200, "wait=30")
    assert done.json()["answer"]["output"] == "hello"
    blank = desk.client().post(RUNS, json={"team": "desk", "request": " "})
    assert "the request is empty" in blank.json()["errors"][0]["message"]
    done = desk.client().post(
        RUNS, json={"team": "desk", "request": "hello"}, headers={"Prefer": "Wait=999"}
    )
    assert (done.status_code, done.headers["preference-applied"]) == (200, "wait=60")
    given = {"team": "gate", "request": "hello"}
    for prefer in ("respond-async, wait=0", f"wait={'9' * 5_000}"):
        running = desk.client().post(RUNS, json=given, headers={"Prefer": prefer})
        assert running.status_code == 202


def test_a_request_that_is_sent_twice_with_a_key_starts_one_run(desk: Desk) -> None:
    given, key = {"team": "gate", "request": "hello"}, {"Idempotency-Key": "a1"}
    first = desk.client("ann").post(RUNS, json=given, headers=key).json()
    assert desk.client("ann").post(RUNS, json=given, headers=key).json() == first
    other = desk.client("ann").post(RUNS, json={**given, "deadline_s": 60}, headers=key)
    assert (other.status_code, other.headers["content-type"]) == (422, "application/problem+json")
    # A key is its principal's own.
    assert desk.client("bob").post(RUNS, json=given, headers=key).json() != first
    assert len(desk.client("olga").get(RUNS).json()["runs"]) == 2
    # The status is that of the run, now.
    assert first["status"] == "running"
    desk.gate.open()
    desk.client("ann").get(first["links"]["events"])
    again = partial(desk.client("ann").post, RUNS, json=given, headers=key)
    wait_until(lambda: again().json() == {**first, "status": "complete"})  # once it is released


def test_a_key_is_about_what_the_client_sends_with_its_files_and_not_about_who_it_is_now(
    tmp_path: Path,
) -> None:
    requests = itertools.count()

    def auth(request: Request) -> Principal | None:
        known = authenticate(request)
        return known and replace(known, origin={"request": next(requests)})

    with serving_desk(tmp_path, auth=auth) as desk:
        given: dict[str, Any] = {"headers": {"Idempotency-Key": "a1"}}
        given |= {"data": {"run": '{"team": "desk", "request": "hello"}'}}
        first, again, other = (
            desk.client().post(RUNS, files=[("files", ("a.txt", content))], **given)
            for content in (b"one", b"one", b"two")
        )
        assert first.status_code == again.status_code == 202
        assert first.json()["run_id"] == again.json()["run_id"]
        assert other.status_code == 422


def test_a_client_that_waits_for_a_run_that_no_plan_is_made_for_gets_its_id(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def plan(request: PlanRequest, team: Team) -> Plan:
        raise InputError("hand in a contract")

    team = supervisors_of(tmp_path / "unused", Gate())[0].team
    team = replace(team, template=(), planner=Role(run=plan))
    with served(app([Supervisor(team, home=tmp_path)], auth=authenticate, home=tmp_path)) as url:
        desk, given = Desk(url, Gate(), FastAPI()), {"team": "desk", "request": "hello"}
        refused = desk.client().post(RUNS, json=given, headers=WAIT)
        assert (refused.status_code, refused.json()["detail"]) == (400, "hand in a contract")
        assert refused.headers["location"] == f"{RUNS}/{refused.json()['run_id']}"
        assert desk.client().get(refused.headers["location"]).json()["status"] == "failed"
        asked = {"model": "desk", "messages": [{"role": "user", "content": "hello"}]}
        for stream in (False, True):
            chat = desk.client().post("/v1/chat/completions", json={**asked, "stream": stream})
            assert chat.status_code == (200 if stream else 400)
            assert '"message": "hand in a contract"' in chat.text.replace('":"', '": "')
        for path in ("", "/events"):
            later = desk.client().get(f"{refused.headers['location']}{path}")
            assert "hand in a contract" in later.text
        run_id = started(desk)
        wait_until(lambda: f"the work on run {run_id} failed: hand in a contract" in caplog.text)
        desk.close()


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"team": "none"}, 404),
        ({"deadline_s": 1e9}, 422),
        ({"deadline_s": 0}, 422),
        ({"budget": {"usd": 1e308}}, 422),
        ({"budget": {"tokens": 10**30}}, 422),
        ({"origin": {"tenant": "zeta"}}, 422),
        ({"context": 1}, 422),
        ({"inputs": ["/etc/passwd"]}, 422),
        ({"model": "openai:gpt-5"}, 422),
        ({"after": "run-1"}, 404),
        ({"plan": {"goal": "g", "tasks": [{"id": "t", "worker": "clerk", "intent": "x"}]}}, 403),
    ],
    ids=[
        "team",
        "long",
        "no time",
        "usd",
        "tokens",
        "origin",
        "context",
        "inputs",
        "model",
        "after",
        "plan",
    ],
)
def test_what_a_client_may_not_set_is_refused(
    given: dict[str, object], status: int, desk: Desk
) -> None:
    body = {"team": "desk", "request": "hello", **given}
    response = desk.client("ann").post(RUNS, json=body)
    assert response.status_code == status, response.text
    assert response.json()["status"] == status
    assert desk.client("olga").get(RUNS).json()["runs"] == []


def test_a_plan_that_can_t_be_carried_out_is_refused_and_leaves_no_run(desk: Desk) -> None:
    tasks = [{"id": "t", "worker": "nobody", "intent": "x"}]
    body = {"team": "desk", "request": "hello", "plan": {"goal": "g", "tasks": tasks}}
    response = desk.client("olga").post(RUNS, json=body)
    assert response.status_code == 400, response.text
    assert response.json()["problems"][0]["code"] == "unknown_worker"
    assert desk.client("root").get(RUNS).json()["runs"] == []


def test_only_an_operator_can_do_without_what_people_are_asked(desk: Desk) -> None:
    """The desk asks about escalations."""
    for name, given, status in (
        ("ann", [], "waiting"),
        ("ann", ["plan"], "waiting"),
        ("olga", [], "failed"),
    ):
        run_id = answered(desk, "ask which colour?", name, approve=given)
        shown = desk.client("olga").get(f"{RUNS}/{run_id}").json()
        assert shown["status"] == status, (name, given)


def test_an_operator_may_give_a_plan(desk: Desk) -> None:
    tasks = [
        {"id": "a", "worker": "clerk", "intent": "say one"},
        {"id": "b", "worker": "clerk", "intent": "say two", "depends_on": ["a"]},
    ]
    run_id = answered(desk, "one", "olga", plan={"goal": "g", "tasks": tasks})
    shown = desk.client("olga").get(f"{RUNS}/{run_id}").json()
    assert [(one["id"], one["depends_on"]) for one in shown["tasks"]] == [("a", []), ("b", ["a"])]


def test_only_an_operator_of_every_tenant_names_files_of_the_service(desk: Desk) -> None:
    def send(name: str, artifact: str) -> int:
        task = {"id": "a", "worker": "clerk", "intent": "say one", "artifacts": [artifact]}
        body = {"team": "desk", "request": "one", "plan": {"goal": "g", "tasks": [task]}}
        response = desk.client(name).post(RUNS, json=body)
        if response.status_code == 400:
            assert response.json()["problems"][0]["code"] == "unknown_artifact"
        return response.status_code

    for one in (__file__, "/no/file", "../x", "~", "pyproject.toml", "none.toml", "a/none"):
        assert send("olga", one) == 400, one
    assert desk.client("root").get(RUNS).json()["runs"] == []
    assert (send("olga", "invoice 17"), send("root", __file__)) == (202, 202)


def test_a_run_of_another_principal_is_none(desk: Desk) -> None:
    """F33."""
    run_id = answered(desk)
    calls: list[tuple[str, str, object]] = [
        ("GET", "", None),
        ("GET", "/events", None),
        ("POST", "/cancel", {}),
        ("POST", "/resume", {}),
        ("POST", "/followups", {"request": "and now?"}),
        ("POST", "/replies", {"replies": [{"question": "1"}], "seen": 1}),
        ("DELETE", "", None),
    ]
    for name in ("bob", "zoe"):
        for method, path, body in calls:
            response = desk.client(name).request(method, f"{RUNS}/{run_id}{path}", json=body)
            assert response.status_code == 404, (name, method, path)
            unknown = desk.client(name).request(method, f"{RUNS}/run-none{path}", json=body)
            told = [one.json()["detail"].replace(id, "") for one, id in
                    ((response, run_id), (unknown, "run-none"))]  # fmt: skip
            assert told[0] == told[1]
        after = {"team": "desk", "request": "and now?", "after": run_id}
        assert desk.client(name).post(RUNS, json=after).status_code == 404
        assert desk.client(name).get(RUNS).json()["runs"] == []
        assert desk.client(name).get(RUNS, params={"cursor": run_id}).status_code == 404
    for name in ("ann", "olga", "root"):
        assert desk.client(name).get(f"{RUNS}/{run_id}").status_code == 200


def test_requesters_see_how_a_run_ended_and_operators_why(desk: Desk) -> None:
    run_id = answered(desk, "fail")
    own = desk.client("ann").get(f"{RUNS}/{run_id}")
    RunDocument.model_validate_json(own.text, extra="forbid")
    (task,) = own.json()["tasks"]
    assert (task["status"], task["attempts"][0]["kind"]) == ("failed", "error")
    assert (task["error"], task["intent"], own.json()["gaps"]) == (None, None, [])
    assert [one["task_id"] for one in own.json()["answer"]["gaps"]] == ["t1"]
    assert "the request says so" not in own.text
    assert own.json()["elapsed_s"] > 0
    every = desk.client("olga").get(f"{RUNS}/{run_id}")
    RunDocument.model_validate_json(every.text, extra="forbid")
    (task,) = every.json()["tasks"]
    assert task["intent"] == "fail"
    assert "the request says so" in task["error"]
    assert "the request says so" in every.json()["gaps"][0]["why"]


def test_markup_in_an_answer_is_shown_and_not_carried_out(desk: Desk) -> None:
    """F16."""
    text = "<script>alert(1)</script> [x](javascript:alert(1)) ![y](http://a.example/b.png)"
    shown = desk.client().get(f"{RUNS}/{answered(desk, text)}").json()["answer_html"]
    assert "<script" not in shown
    assert "<img" not in shown
    assert 'href="javascript' not in shown
    assert "&lt;script&gt;" in shown


def test_a_list_has_filters_pages_and_a_search(desk: Desk) -> None:
    apples = answered(desk, "apples and pears")
    failed = answered(desk, "fail with plums")
    waiting = answered(desk, "ask which pear?")
    client = desk.client()

    def ids(**params: str | int) -> list[str]:
        found = client.get(RUNS, params=params)
        assert found.status_code == 200, found.text
        RunList.model_validate_json(found.text, extra="forbid")
        return [run["run_id"] for run in found.json()["runs"]]

    assert ids() == [waiting, failed, apples]
    assert ids(status="failed") == [failed]
    assert ids(team="gate") == []
    assert ids(since="2000-01-01T00:00:00Z", until="2001-01-01T00:00:00Z") == []
    first = client.get(RUNS, params={"limit": 2}).json()
    assert first["next"] == failed
    assert ids(limit=2, cursor=first["next"]) == [apples]
    assert ids(q="PEAR") == [waiting, apples]
    assert ids(q="pear which") == [waiting]
    page = client.get(RUNS, params={"q": "apples", "limit": 2}).json()
    assert (page["runs"], page["next"]) == ([], failed)  # two runs were searched
    assert ids(q="apples", limit=2, cursor=page["next"]) == [apples]
    # What is private is not searched for others than operators.
    assert ids(q="says so") == []
    found = desk.client("olga").get(RUNS, params={"q": "says so"}).json()
    assert [run["run_id"] for run in found["runs"]] == [failed]
    assert client.get(RUNS, params={"status": "gone"}).status_code == 422


def test_a_run_is_cancelled_resumed_followed_and_deleted(desk: Desk) -> None:
    run_id, client = started(desk, team="gate"), desk.client()
    url = f"{RUNS}/{run_id}"
    assert desk.gate.arrived.wait(30)
    refused = client.delete(url)
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        f"run {run_id!r} is under way: cancel it first, or wait for its end",
    )
    assert client.post(f"{url}/cancel", json={"reason": "a typo"}).status_code == 202
    client.get(f"{url}/events")
    assert client.get(url).json()["status"] == "cancelled"
    assert client.post(f"{url}/cancel").status_code == 409
    desk.gate.open()
    assert client.post(f"{url}/resume", json={"deadline_s": 60}).status_code == 202
    client.get(f"{url}/events")
    assert client.get(url).json()["status"] == "complete"
    assert client.post(f"{url}/resume").status_code == 409
    assert client.post(f"{url}/resume", json={"from_task": "none"}).status_code == 400
    assert client.post(f"{url}/resume", json={"from_task": "t1"}).status_code == 202
    client.get(f"{url}/events")
    assert len(client.get(url).json()["tasks"][0]["attempts"]) > 1
    after = client.post(f"{url}/followups", json={"request": "and now?"}, headers=WAIT)
    assert after.json()["after"] == run_id
    listed = client.get(RUNS, params={"after": run_id}).json()["runs"]
    assert [one["run_id"] for one in listed] == [after.json()["run_id"]]
    assert client.delete(url).status_code == 204
    assert client.get(url).status_code == 404
    assert client.delete(url).status_code == 404


def test_a_request_without_words_or_with_half_a_character_is_refused(desk: Desk) -> None:
    empty = {"team": "desk", "request": " \n"}
    assert desk.client().post(RUNS, json=empty).status_code == 422
    url = f"{RUNS}/{answered(desk)}/followups"
    assert desk.client().post(url, json={"request": " \n"}).status_code == 422
    broken = b'{"team": "desk", "request": "half \\ud800"}'
    response = desk.client().post(
        RUNS, content=broken, headers={"content-type": "application/json"}
    )
    assert response.status_code == 422, response.text


def test_files_come_as_multipart_and_too_many_or_wrong_ones_are_refused(desk: Desk) -> None:
    run = {"run": '{"team": "desk", "request": "hello"}'}
    post = desk.client().post
    nameless = post(RUNS, data=run, files=[("other", ("a.txt", b"a"))])
    assert nameless.status_code == 422
    same = post(RUNS, data=run, files=[("files", ("a.txt", b"a")), ("files", ("a.txt", b"b"))])
    assert same.status_code == 422
    missing = post(RUNS, files=[("files", ("a.txt", b"a"))])
    assert missing.status_code == 422
    many = post(RUNS, data=run, files=[("files", (f"{n}.txt", b"a")) for n in range(300)])
    assert many.status_code in (400, 413)
    climbs = post(RUNS, data=run, files=[("files", ("../a.txt", b"a"))])
    assert climbs.status_code == 422
    assert climbs.json()["detail"].startswith("'files' must have plain names of at most 200 bytes")
    without_at = post(RUNS, data={**run, "files": "a.txt"}, files=[("files", ("b.txt", b"b"))])
    assert without_at.status_code == 400
    assert "Give the run as 'run', and each file as 'files' with" in without_at.json()["detail"]
    plain = post(RUNS, content=b"hello", headers={"content-type": "text/plain"})
    assert plain.status_code == 415
    assert desk.client("olga").get(RUNS).json()["runs"] == []


def test_a_form_that_is_cut_off_starts_no_run(desk: Desk) -> None:
    """Its last file would be missing."""
    head = 'Content-Disposition: form-data; name="{}"\r\n\r\n{}\r\n--B'
    run = head.format("run", '{"team": "desk", "request": "hello"}')
    file = head.format('files"; filename="a.txt', "half of it")
    whole = f"--B\r\n{run}\r\n{file}--\r\n".encode()
    kind = {"content-type": "multipart/form-data; boundary=B"}
    for end in (-3, -7, -10, -60):
        refused = desk.client().post(RUNS, content=whole[:end], headers=kind)
        assert (refused.status_code, end) == (400, end)
        assert refused.json()["detail"].startswith("The form is cut off")
    assert desk.client("olga").get(RUNS).json()["runs"] == []
    assert desk.client().post(RUNS, content=whole, headers=kind).status_code == 202


def test_a_run_may_spend_no_more_than_its_team(tmp_path: Path) -> None:
    team = supervisors_of(tmp_path / "unused", Gate())[0].team
    supervisor = Supervisor(team, home=tmp_path, budget=Budget(usd=2, tokens=1_000))
    with served(app([supervisor], auth=authenticate, home=tmp_path)) as url:
        desk = Desk(url, Gate(), FastAPI())
        given = {"team": "desk", "request": "hello", "budget": {"usd": 3}}
        refused = desk.client().post(RUNS, json=given)
        assert (refused.status_code, refused.json()["detail"]) == (
            422,
            "budget: usd is 3, and may be 2 at most",
        )
        run_id = answered(desk, budget={"usd": 1})
        shown = desk.client("olga").get(f"{RUNS}/{run_id}").json()
        assert shown["budget"] == {"usd": 1, "tokens": 1_000}
        desk.close()
