"""What people said is not asked again, whenever the process ended."""

import asyncio

from leadhand import Supervisor
from leadhand.contracts.events import ApprovalGiven
from leadhand.contracts.people import Reply
from leadhand.journal import MemoryJournal
from leadhand.testing import run_virtual
from tests.engine.remedies import ScriptedRemedies
from tests.handles import resumed
from tests.plans.samples import plan, task
from tests.run.people.desk import PAINT, RUN, Desk, answered, approved, says
from tests.run.resuming.story import RUN as STORY
from tests.run.resuming.story import Stops, kept


class _Refuses(ScriptedRemedies):
    """Has nothing to say, and counts how often it is asked."""


def test_a_run_with_people_goes_on_from_each_of_its_commits_and_asks_nothing_twice() -> None:
    """F29"""
    journal = Stops()
    better = plan(task("t1", worker="painter"), task("t2", "t1", worker="clerk"))
    ask, _ = says(approved(better), "blue")
    whole = run_virtual(
        Supervisor(Desk().team(), person=ask, journal=journal).run(plan=PAINT, run_id=STORY)
    )
    events = [*journal.store.events(STORY)]
    assert len(journal.commits) > 6
    for stop in journal.commits:
        past = events[:stop]
        given = [event for event in past if isinstance(event, ApprovalGiven)]
        left: list[Reply | str | None] = [approved(better), "blue"]
        ask, asked = says(*left[len(given) :])
        again = Supervisor(Desk().team(), person=ask, journal=kept(past))
        answer = run_virtual(resumed(again, STORY))
        assert (answer.status, answer.output) == (whole.status, whole.output), past[-1].type
        assert len(asked) == 2 - len(given), past[-1].type


def test_a_resumed_run_does_not_ask_again_who_had_nothing_to_say_before_the_person() -> None:
    journal, remedies = MemoryJournal(), _Refuses()
    supervisor = Supervisor(
        Desk().team(), approve=["escalation"], journal=journal, remedies=remedies
    )
    run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    before = [*remedies.asked]
    asyncio.run(supervisor.handle(RUN).reply(answered("blue"), resume=False))
    assert run_virtual(resumed(supervisor, RUN)).status == "complete"
    assert remedies.asked == before
