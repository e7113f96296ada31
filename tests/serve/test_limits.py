"""What a service refuses because too much is under way, or too much was spent."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fastapi import FastAPI, Request

from leadhand import Budget, RunQueue, Supervisor
from leadhand.serve import Authenticate, Principal, ServiceSettings, app
from leadhand.testing import ScriptedModel
from tests.patience import wait_until
from tests.serve.desk import Desk, Gate, authenticate, served, supervisors_of

RUNS = "/api/v1/runs"
GIVEN = {"team": "gate", "request": "hello"}
SHARED = Budget(tokens=1_000, scope="tenant", per="month")


def with_a_budget(request: Request) -> Principal | None:
    known = authenticate(request)
    return known and replace(known, budget=SHARED)


@contextmanager
def limited(
    home: Path,
    *,
    queue: RunQueue | None = None,
    auth: Authenticate = authenticate,
    model: ScriptedModel | None = None,
) -> Generator[Desk]:
    gate = Gate()
    known = supervisors_of(home, gate)
    teams = [replace(one.team, model=model and model.model, planner="template") for one in known]
    made = [Supervisor(team, journal=known[0].journal, queue=queue) for team in teams]
    service = app(made, auth=auth, home=home, settings=ServiceSettings(grace_s=0))
    with served(service) as url:
        desk = Desk(url, gate, FastAPI())
        try:
            yield desk
        finally:
            desk.close()


def figures(desk: Desk) -> dict[str, float]:
    lines = desk.client("root").get("/metrics").text.splitlines()
    found = (line.split() for line in lines if line.startswith("leadhand_queue_"))
    return {name: float(value) for name, value in found}


def test_a_full_queue_is_a_429_that_says_when_to_come_again_and_metrics_show_it(
    tmp_path: Path,
) -> None:
    with limited(tmp_path, queue=RunQueue(1, waiting=1)) as desk:
        ann = desk.client("ann")
        assert set(figures(desk).values()) == {0.0}
        first = ann.post(RUNS, json=GIVEN)
        desk.gate.arrived.wait()
        second = ann.post(RUNS, json=GIVEN)
        assert (first.status_code, second.status_code) == (202, 202)
        refused = ann.post(RUNS, json=GIVEN)
        assert (refused.status_code, refused.json()["status"]) == (429, 429)
        assert 1 <= int(refused.headers["retry-after"]) <= 600
        shown = figures(desk)
        assert shown["leadhand_queue_running"] == shown["leadhand_queue_waiting"] == 1
        assert shown["leadhand_queue_oldest_wait_seconds"] > 0
        desk.gate.open()
        wait_until(lambda: set(figures(desk).values()) == {0.0})
        assert ann.post(RUNS, json=GIVEN).status_code == 202


def test_a_shared_budget_of_a_tenant_that_is_spent_is_a_402_for_its_principals_alone(
    tmp_path: Path,
) -> None:
    with limited(tmp_path, auth=with_a_budget, model=ScriptedModel()) as desk:
        given = {**GIVEN, "budget": {"tokens": 600}}
        assert desk.client("ann").post(RUNS, json=given).status_code == 202
        refused = desk.client("bob").post(RUNS, json=given)
        assert (refused.status_code, refused.json()["status"]) == (402, 402)
        assert desk.client("zoe").post(RUNS, json=given).status_code == 202
