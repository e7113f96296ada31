"""Every route, as principals whose run it is not: ann's run is as if it were not there.

The routes come from the description of the service: one that this module does not know fails.
"""

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

import httpx2
import pytest

from tests.serve.desk import Desk
from tests.serve.test_service_page import METHODS

MARK = "ann-asks-this"
"""Ann's request; the desk's answer repeats it."""
MISSING = "run-20200101-000000-ffffff"
OPEN = {"GET /healthz", "POST /api/v1/session"}
"""For all callers."""
ENDLESS = {"GET /api/v1/events"}
"""Tried by a test of its own."""
STRANGERS = ("bob", "cleo", "zoe")
"""A requester and an approver of the same tenant, and an operator of another one."""
OF_A_RUN = {"run_id": "{run}", "response_id": "resp_{run}"}
"""Parameters of paths that name a run, and how."""
OTHERS = {
    **dict.fromkeys(("path", "task", "task_path", "blob", "blob_id"), "t1"),
    **dict.fromkeys(("name", "team", "model"), "desk"),
    "worker": "clerk",
}
PLAN = {"goal": "g", "tasks": [{"id": "t1", "worker": "clerk", "intent": "i"}]}
REPLY: dict[str, object] = {"question": "t1", "verdict": "answered", "text": "blue"}
BODIES: Mapping[str, object] = {
    "POST /api/v1/runs": {"team": "desk", "request": "mine", "after": "{run}"},
    "POST /api/v1/runs/{run_id}/replies": {"replies": [REPLY], "seen": 1},
    "POST /api/v1/runs/{run_id}/cancel": {"reason": "mine"},
    "POST /api/v1/runs/{run_id}/resume": {},
    "POST /api/v1/runs/{run_id}/followups": {"request": "and then?"},
    "POST /api/v1/questions/replies": {"replies": [{"run_id": "{run}", "seen": 1, **REPLY}]},
    "POST /api/v1/plans": {"team": "desk", "request": "mine"},
    "POST /api/v1/plans/check": {"team": "desk", "plan": PLAN},
    "POST /api/v1/teams/{name}/sample": {},
    "POST /v1/chat/completions": {
        "model": "desk",
        "messages": [{"role": "user", "content": "mine"}],
    },
    "POST /v1/responses": {
        "model": "desk",
        "input": "mine",
        "previous_response_id": "resp_{run}",
    },
}
"""What each route takes that has a body."""


class Operation(NamedTuple):
    method: str
    path: str
    takes_body: bool

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def is_of_a_run(self) -> bool:
        return any(f"{{{name}}}" in self.path for name in OF_A_RUN)


def operations(desk: Desk) -> list[Operation]:
    return [
        Operation(method.upper(), path, "requestBody" in described)
        for path, every in desk.app.openapi()["paths"].items()
        for method, described in every.items()
        if method in METHODS
    ]


def send(client: httpx2.Client, operation: Operation, run: str) -> httpx2.Response:
    """With `run` wherever a run can be named."""

    def named(match: re.Match[str]) -> str:
        return {**OF_A_RUN, **OTHERS}[match[1]].replace("{run}", run)

    path = re.sub(r"\{(\w+)\}", named, operation.path)
    if not operation.takes_body:
        return client.request(operation.method, path)
    body = json.dumps(BODIES[operation.name]).replace("{run}", run)
    return client.request(operation.method, path, json=json.loads(body))


@pytest.fixture
def run(desk: Desk) -> str:
    """A run of ann, which has an answer."""
    body = {"team": "desk", "request": MARK}
    answer = desk.client("ann").post("/api/v1/runs", json=body, headers={"Prefer": "wait=60"})
    assert answer.json()["status"] == "complete", answer.text
    return answer.json()["run_id"]


def test_a_request_without_a_token_gets_nothing(desk: Desk, run: str) -> None:
    statuses = {
        operation.name: send(desk.client(""), operation, run).status_code
        for operation in operations(desk)
        if operation.name not in OPEN
    }
    assert len(statuses) > 20
    assert {*statuses.values()} == {401}, statuses


@pytest.mark.parametrize("who", STRANGERS)
def test_a_run_of_another_is_as_if_it_were_not_there(who: str, desk: Desk, run: str) -> None:
    of_a_run = [one for one in operations(desk) if one.is_of_a_run]
    assert len(of_a_run) > 8
    for operation in of_a_run:
        found = send(desk.client(who), operation, run)
        missing = send(desk.client(who), operation, MISSING)
        # 403: the route is for another role, whatever the run.
        assert found.status_code == missing.status_code in (403, 404), (operation, found.text)
        assert found.text.replace(run, "") == missing.text.replace(MISSING, ""), operation
    seen = desk.client("ann").get(f"/api/v1/runs/{run}").json()
    assert (seen["status"], seen["request"]) == ("complete", MARK), "no one has touched it"


@pytest.mark.parametrize("who", STRANGERS)
def test_no_route_says_anything_of_another_ones_run(who: str, desk: Desk, run: str) -> None:
    for operation in operations(desk):
        if operation.name not in ENDLESS and not operation.is_of_a_run:
            said = send(desk.client(who), operation, run)
            assert said.status_code < 500, (operation, said.text)
            shown = said.text.replace(f"run {run!r}", "").replace(f"resp_{run}", "")
            assert MARK not in shown, operation
            assert run not in shown, (operation, shown)


@pytest.mark.parametrize("who", ["ann", "olga", "root"])
def test_its_owner_and_the_operators_of_its_tenant_see_it(who: str, desk: Desk, run: str) -> None:
    client = desk.client(who)
    assert client.get(f"/api/v1/runs/{run}").json()["request"] == MARK
    assert run in client.get("/api/v1/runs").text


@pytest.mark.parametrize("path", ["/api/v1/runs", "/v1/responses"])
def test_no_run_follows_that_of_another(path: str, desk: Desk, run: str) -> None:
    operation = Operation("POST", path, takes_body=True)
    for who in STRANGERS:
        found = send(desk.client(who), operation, run)
        missing = send(desk.client(who), operation, MISSING)
        assert found.status_code == missing.status_code, found.text
        assert found.status_code in (400, 404)
        assert found.text.replace(run, "") == missing.text.replace(MISSING, "")


def test_what_a_client_may_not_choose_is_refused(desk: Desk) -> None:
    """Its origin, context, model, files of the service, and a deadline without end."""
    refused: list[dict[str, object]] = [
        {"origin": {"tenant": "zeta", "principal": "zoe"}},
        {"context": {}},
        {"model": "openai:x"},
        {"inputs": ["/etc/passwd"]},
        {"plan": PLAN},
        {"deadline_s": 1e12},
        {"budget": {"usd": -1}},
    ]
    for extra in refused:
        body = {"team": "desk", "request": "mine", **extra}
        answer = desk.client("ann").post("/api/v1/runs", json=body)
        assert answer.status_code in (400, 403, 422), (extra, answer.text)
