"""The app: who calls, and what becomes of errors. Uses subprocess-free servers in threads."""

import shutil
from pathlib import Path

import httpx2
import pytest
from pydantic import BaseModel

from leadhand import Handoff, InputError, Supervisor, Team, Worker
from leadhand.serve import app
from tests.patience import HANG_S
from tests.serve.desk import Desk, Gate, authenticate, served, supervisors_of


def test_a_caller_sees_who_it_is(desk: Desk) -> None:
    seen = desk.client("ann").get("/api/v1/me").json()
    assert seen.items() >= {"name": "ann", "tenant": "acme", "roles": ["requester"]}.items()
    assert seen["teams"] == ["desk", "gate"]


def test_a_caller_without_a_token_is_asked_for_one(desk: Desk) -> None:
    answer = desk.client("").get("/api/v1/me")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.headers["content-type"] == "application/problem+json"


def test_the_description_has_every_route_and_what_the_teams_put_out(tmp_path: Path) -> None:
    class Line(BaseModel):
        text: str

    class Letter(BaseModel):
        lines: list[Line]

    def write(handoff: Handoff) -> Letter:
        return Letter(lines=[])

    worker = Worker("clerk", "Writes", run=write)
    letters = Supervisor(Team("letters", workers=[worker], output=Letter), home=tmp_path)
    service = app([letters], auth=authenticate)
    with served(service) as url:
        path = "/api/v1/openapi.json"
        headers = {"Authorization": "Bearer ann"}
        found = httpx2.get(url + path, headers=headers, timeout=HANG_S, trust_env=False).json()
        assert httpx2.get(url + path, timeout=HANG_S, trust_env=False).status_code == 401
    assert found["openapi"].startswith("3.1")
    assert {"/api/v1/me", "/healthz", "/metrics"} <= {*found["paths"]}
    schema = found["components"]["schemas"]["output.letters"]
    assert schema["properties"]["lines"]["items"]["$ref"].startswith("#/components/schemas/output")
    answer = found["components"]["schemas"]["AnswerDocument"]["properties"]["output"]
    assert {"$ref": "#/components/schemas/output.letters"} in answer["anyOf"]
    body = found["paths"]["/api/v1/runs"]["post"]["requestBody"]["content"]
    assert {"team", "request"} <= {*body["application/json"]["schema"]["properties"]}


def test_a_service_is_healthy_for_all_and_ready_for_its_callers(desk: Desk, tmp_path: Path) -> None:
    assert desk.client("").get("/healthz").json() == {"status": "ok"}
    assert desk.client("").head("/healthz").status_code == 200
    assert desk.client("").get("/readyz").status_code == 401
    assert desk.client().get("/readyz").json() == {"status": "ready"}
    shutil.rmtree(tmp_path / "home")
    gone = desk.client().get("/readyz")
    assert (gone.status_code, "home is gone" in gone.json()["detail"]) == (503, True)


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nowhere", 404), ("PUT", "/api/v1/me", 405)]
)
def test_every_error_is_a_problem(method: str, path: str, status: int, desk: Desk) -> None:
    answer = desk.client().request(method, path)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code == status


def test_runs_in_memory_are_refused_unless_asked_for() -> None:
    supervisor = Supervisor(supervisors_of("unused", Gate())[0].team)
    with pytest.raises(InputError, match="allow_memory"):
        app([supervisor], auth=authenticate)
    assert app([supervisor], auth=authenticate, allow_memory=True)


def test_supervisors_of_different_journals_are_refused() -> None:
    both = [supervisors_of(home, Gate())[place] for place, home in enumerate(("one", "two"))]
    with pytest.raises(InputError, match="different journals"):
        app(both, auth=authenticate)
