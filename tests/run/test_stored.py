"""A stored run is read and folded once by whatever resumes it or replies to it."""

import asyncio
from pathlib import Path

import pytest

from leadhand import Supervisor
from leadhand.contracts.people import Reply, RunMessage
from leadhand.errors import InputError
from leadhand.journal import StoreJournal
from leadhand.run.stored import StoredRun
from leadhand.testing.journal_stories import Story, keep
from tests.handles import resumed
from tests.run.counting import CountingJournal
from tests.run.people.desk import PAINT, RUN, Desk

BLUE = Reply(task_id="t1", verdict="answered", text="blue")


@pytest.fixture
def journal(tmp_path: Path) -> CountingJournal:
    """A journal with a run that waits for a person."""

    async def wait(journal: CountingJournal) -> None:
        waiting = await supervisor(journal).run(plan=PAINT, run_id=RUN)
        assert waiting.status == "waiting"

    journal = CountingJournal(tmp_path)
    asyncio.run(wait(journal))
    assert journal.given == []
    return journal


def supervisor(journal: CountingJournal) -> Supervisor:
    """The desk's."""
    return Supervisor(Desk().team(), journal=StoreJournal(journal), approve=["escalation"])


def test_what_the_caller_has_read_is_not_read_again_and_becomes_the_live_state(
    journal: CountingJournal,
) -> None:
    stored = StoredRun.of(RUN, journal.events(RUN))
    journal.post(RunMessage(run_id=RUN, reply=BLUE))
    answer = asyncio.run(resumed(supervisor(journal), RUN, stored=stored))
    assert (answer.status, stored.state.answer) == ("complete", answer)
    assert journal.passes() == [1]


def test_what_the_caller_has_read_is_read_again_if_the_run_has_changed_since(
    journal: CountingJournal,
) -> None:
    stored = StoredRun.of(RUN, journal.events(RUN))
    asyncio.run(supervisor(journal).handle(RUN).reply(BLUE, resume=False))
    asyncio.run(resumed(supervisor(journal), RUN))
    answer = asyncio.run(resumed(supervisor(journal), RUN, stored=stored))
    assert (answer.status, stored.state.answer) == ("complete", answer)
    assert len(journal.given) == 4


def test_there_is_no_stored_run_without_events(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run 'r'"):
        StoredRun.of("r", CountingJournal(tmp_path).events("r"))


def test_events_that_are_not_committed_yet_are_read_too(tmp_path: Path) -> None:
    journal, story = CountingJournal(tmp_path), Story("r")
    events = [story.started(), *story.planned("a")]
    keep(journal, events[:1])
    for event in events[1:]:
        journal.append(event)
    assert [*StoredRun.of("r", journal.events("r")).events] == events
