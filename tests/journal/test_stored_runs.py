"""Runs that earlier commits stored are shown, answered and resumed, in SQLite and in Postgres."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from leadhand import Answer, Reply, Supervisor
from leadhand.journal import StoreJournal, open_store
from tests.handles import replied, resumed
from tests.in_process import InProcess
from tests.run.kinds.kinds import endpoint, team, works
from tests.run.kinds.stored import StoredRun, stored_runs

RUNS = stored_runs()
STATUS = {"finished": "complete", "interrupted": "interrupted", "waiting": "waiting"}


@pytest.fixture(name="home", params=["sqlite", "postgres"])
def _home(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the journal is."""
    if request.param == "sqlite":
        return str(tmp_path)
    return str(request.getfixturevalue("url"))


@pytest.fixture(name="journal")
def _journal(home: str) -> Iterator[StoreJournal]:
    """A journal with all of them."""
    with closing(open_store(home)) as store:
        journal = StoreJournal(store)
        asyncio.run(_append(journal))
        yield journal


async def _append(journal: StoreJournal) -> None:
    for run in RUNS:
        with journal.store.hold(run.run_id):
            for event in run.events():
                journal.append(event)
            await journal.commit(run.run_id)


def supervisor(run: StoredRun, journal: StoreJournal) -> Supervisor:
    """Of the team that did the run; its model writes at once."""
    kind = replace(run.kind, tokens_per_s=0.0)
    by_code = works if run.state == "waiting" else None
    of = team(kind, endpoint(kind).model, run=by_code)
    return Supervisor(of, journal=journal, approve=["plan"] if by_code else None)


def test_they_are_of_each_kind_and_state() -> None:
    assert len({(run.kind.name, run.state) for run in RUNS}) == len(RUNS) >= 36


def test_they_are_listed_and_shown(journal: StoreJournal, home: str, in_process: InProcess) -> None:
    listed = {run.run_id: run.status for run in journal.store.runs()}
    assert listed == {run.run_id: STATUS[run.state] for run in RUNS}
    for run in RUNS:
        shown = in_process("show", run.run_id, "--home", home)
        assert (shown.status, shown.err) == (0, "")
        assert run.run_id in shown.out
        assert STATUS[run.state] in shown.out


def test_they_are_answered_and_resumed(journal: StoreJournal) -> None:
    for run in RUNS:
        answer = asyncio.run(_ended(run, supervisor(run, journal)))
        assert (answer.status, answer.gaps) == ("complete", ()), run
        assert len(answer.tasks) == run.kind.tasks, run
        assert {task.status for task in answer.tasks} == {"completed"}, run


async def _ended(run: StoredRun, by: Supervisor) -> Answer:
    """How the run ends: after an approval, if it waits for one."""
    answer = await resumed(by, run.run_id)
    while answer.status == "waiting":
        assert run.state == "waiting"
        answer = await replied(
            by,
            run.run_id,
            *(Reply(task_id=one.task_id, verdict="approved") for one in answer.waiting),
        )
    return answer
