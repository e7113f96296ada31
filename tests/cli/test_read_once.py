"""`leadhand resume` and `answer` read and fold a run once, however many steps need it."""

import asyncio
from pathlib import Path

import pytest
from pydantic import JsonValue

from leadhand import Supervisor
from leadhand.cli.options import OutputOptions, ReplyOptions, ResumeOptions
from leadhand.cli.resume import answer_run, resume_run
from leadhand.cli.run.storage import RunStorage
from leadhand.contracts.task import Plan
from leadhand.teams.sources import team_of
from tests.cli.desk_team import ENV, PLAN, desk_team
from tests.run.counting import CountingJournal


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStorage:
    """Where a run of the desk waits for the colour."""
    monkeypatch.chdir(tmp_path)
    for name, value in ENV.items():
        monkeypatch.setenv(name, value)
    desk_team(tmp_path)
    storage = RunStorage(str(tmp_path / "runs"))
    storage.store.close()
    storage.store = CountingJournal(tmp_path / "runs")
    supervisor = Supervisor(
        team_of("desk"), journal=storage.journal, approve=["escalation"], deadline_s=None
    )
    origin: dict[str, JsonValue] = {"command": "run", "team": "desk", "approve": ["escalation"]}
    plan = Plan.model_validate(PLAN)
    assert asyncio.run(supervisor.run(plan=plan, origin=origin)).status == "waiting"
    return storage


def reads(storage: RunStorage) -> list[int]:
    """For each time that the run was read: how often its events were gone through."""
    assert isinstance(storage.store, CountingJournal)
    return storage.store.passes()


def options(storage: RunStorage) -> ResumeOptions:
    """What is typed; nothing is shown, as a live view folds the events that it is told of."""
    return ResumeOptions(run="last", home=str(storage.home), output=OutputOptions(quiet=True))


def test_resume_reads_and_folds_a_run_once(
    storage: RunStorage, capsys: pytest.CaptureFixture[str]
) -> None:
    assert resume_run(options(storage), storage) == 3
    assert "it waits for a person" in capsys.readouterr().err
    assert reads(storage) == [1]


def test_answer_reads_and_folds_a_run_once(
    storage: RunStorage, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = ReplyOptions(text="blue", task_id="t1")
    assert answer_run(options(storage), replies, storage) == 0
    assert "north wall: blue" in capsys.readouterr().out
    assert reads(storage) == [1]
