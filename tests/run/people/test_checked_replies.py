"""A reply through a supervisor that can't resume the run is refused before anything is recorded."""

import asyncio

import pytest
from pydantic import ValidationError

from leadhand import InputError, Supervisor, Team, Worker
from leadhand.contracts.people import Reply
from leadhand.journal import MemoryJournal
from leadhand.testing import run_virtual
from tests.handles import replied
from tests.run.people.desk import PAINT, RUN, Desk, answered


def test_a_reply_through_a_supervisor_without_restore_changes_nothing() -> None:
    journal, desk = MemoryJournal(), Desk()

    def supervisor(**given: object) -> Supervisor:
        return Supervisor(desk.team(), approve=["escalation"], journal=journal, **given)  # pyright: ignore[reportArgumentType]

    run_virtual(supervisor().run(plan=PAINT, run_id=RUN, context="a customer"))
    before = [*journal.store.events(RUN)]
    with pytest.raises(InputError, match="needs a context, and contexts are not stored"):
        asyncio.run(replied(supervisor(), RUN, answered("white")))
    other = Supervisor(Team("other", workers=[Worker("a", "b", run=str)]), journal=journal)
    with pytest.raises(InputError, match="is of team 'desk', not of 'other'"):
        asyncio.run(replied(other, RUN, Reply(task_id="t1", text="white")))
    assert ([*journal.store.events(RUN)], asyncio.run(journal.messages(RUN))) == (before, [])
    restoring = supervisor(restore=str)
    answer = run_virtual(replied(restoring, RUN, answered("red")))
    assert (answer.status, answer.output) == ("complete", "red")


@pytest.mark.parametrize(
    "reply",
    [
        {"verdict": "approved", "arguments": {"euros": 1}},
        {"calls": {"c1": {"approved": True, "arguments": {"euros": 1}}}},
        {"approved": True},
    ],
)
def test_a_reply_with_what_nobody_would_read_is_refused(reply: dict[str, object]) -> None:
    """Whoever edits the arguments of a call must not have the old ones carried out."""
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Reply.model_validate(reply)
