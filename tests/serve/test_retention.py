"""Runs that a service keeps only for some time."""

import datetime as dt
import json
from pathlib import Path

from leadhand import Handoff, Supervisor, Team, Worker
from leadhand.serve.lifespan import prune
from leadhand.serve.service import Service, ServiceSettings

OWNED = {"tenant": "acme", "principal": "ann"}
DAY_S = 86_400.0


def answer(handoff: Handoff) -> str:
    return handoff.intent


async def test_finished_runs_are_deleted_once_they_are_old_and_others_stay(tmp_path: Path) -> None:
    """Not those of the command line in the same home, and not what waits for a person."""
    team = Team("desk", workers=(Worker("clerk", "answers", run=answer),))
    supervisor = Supervisor(team, home=tmp_path)
    await supervisor.run("a", run_id="done", origin=OWNED)
    await supervisor.run("b", run_id="own")
    asking = Supervisor(team, journal=supervisor.journal, approve=["plan"])
    assert (await asking.run("c", run_id="asks", origin=OWNED)).status == "waiting"
    service = Service(
        supervisors={"desk": supervisor},
        journal=supervisor.journal,
        settings=ServiceSettings(retain_s=DAY_S),
    )
    now = dt.datetime.now(dt.UTC)
    assert await prune(service, now) == []
    assert await prune(service, now + dt.timedelta(days=2)) == ["done"]
    assert {run.run_id for run in await supervisor.runs()} == {"own", "asks"}
    ((_, line),) = (await supervisor.journal.notes("deleted/")).items()
    assert json.loads(line)["by"] == "retention"
    await supervisor.close()
