"""`/metrics` and `/usage`: figures of runs in a home=DIR, without what is not the caller's."""

import asyncio
import datetime as dt
import re
from pathlib import Path

import pytest

from leadhand import Answer, Supervisor
from leadhand.serve import app
from leadhand.serve.principals import origin_of
from tests.serve.desk import PEOPLE, Desk, Gate, authenticate, serving_desk, supervisors_of


async def run(supervisor: Supervisor, request: str, who: str) -> Answer:
    return await supervisor.run(request, origin=origin_of(PEOPLE[who]))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """With runs of ann and bob of acme, and of zoe of zeta, and one of the command line."""

    async def main() -> None:
        supervisor = supervisors_of(tmp_path, Gate())[0]
        for request, who in (("a", "ann"), ("b", "bob"), ("fail", "bob"), ("z", "zoe")):
            await run(supervisor, request, who)
        await run(supervisor, "ask which colour?", "ann")
        await supervisor.run("typed", origin={"command": "run"})
        await supervisor.journal.close()

    asyncio.run(main())
    return tmp_path


def rows(desk: Desk, who: str, **query: str) -> dict[str, int]:
    answer = desk.client(who).get("/api/v1/usage", params=query)
    assert answer.status_code == 200, answer.text
    return {row["key"]: row["runs"] for row in answer.json()["rows"]}


def test_usage_is_of_the_runs_that_the_caller_may_see(home: Path) -> None:
    with serving_desk(home) as desk:
        assert rows(desk, "ann") == {"desk": 2}
        assert rows(desk, "olga", by="principal") == {"ann": 2, "bob": 2}
        assert rows(desk, "zoe", by="tenant") == {"zeta": 1}
        assert rows(desk, "root", by="tenant") == {"": 1, "acme": 4, "zeta": 1}
        today = dt.datetime.now(dt.UTC).date().isoformat()
        assert rows(desk, "root", by="day") == {today: 6}
        assert rows(desk, "root", since="2100-01-01T00:00:00Z") == {}
        assert rows(desk, "root", until="2000-01-01T00:00:00+02:00") == {}
        refused = desk.client("root").get("/api/v1/usage", params={"since": "yesterday"})
        assert refused.status_code == 422


def test_metrics_are_for_operators_of_all_tenants(desk: Desk) -> None:
    statuses = {who: desk.client(who).get("/metrics").status_code for who in ("", *PEOPLE)}
    refused = dict.fromkeys(("ann", "bob", "cleo", "olga", "zoe"), 403)
    assert statuses == {"": 401, **refused, "root": 200}


def test_metrics_count_runs_and_tasks_and_name_no_run_principal_or_tenant(home: Path) -> None:
    supervisors = supervisors_of(home, Gate())
    service = app(supervisors, auth=authenticate)

    async def main() -> str:
        async with service.router.lifespan_context(service):
            await run(supervisors[0], "now", "ann")
            return (await service.state.metrics.text()).decode()

    text = asyncio.run(main())
    assert 'leadhand_runs{state="waiting",team="desk"} 1.0' in text
    assert 'leadhand_runs{state="failed",team="desk"} 1.0' in text
    assert 'leadhand_run_seconds_count{status="complete",team="desk"} 1.0' in text
    assert 'leadhand_tasks_total{status="completed",team="desk",worker="clerk"} 1.0' in text
    assert 'leadhand_breaker_open{team="gate",worker="waiter"} 0.0' in text
    assert not re.search("ann|bob|zoe|acme|zeta|run-2", text)
