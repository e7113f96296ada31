"""A run that was stopped at any of its commits ends as if it had not been (F29)."""

import asyncio
import os

import pytest

from leadhand import InputError
from leadhand.contracts.events import Event, RunResumed, TaskCompleted, TaskEscalated, TaskFailed
from leadhand.state.fold import fold
from leadhand.state.run_state import crashes
from leadhand.testing import run_virtual
from tests.handles import resumed
from tests.run.resuming.story import RUN, Stops, Workshop, kept, plan, supervisor, team, told

Attempt = tuple[str, int]


def decided(events: list[Event]) -> set[Attempt]:
    """The attempts, by the whole way of their task, whose outcome is in the log."""
    return {
        (event.task_id, event.attempt)
        for event in events
        if isinstance(event, TaskCompleted | TaskFailed | TaskEscalated) and event.attempt
    }


def test_a_run_goes_on_from_each_of_its_commits_to_the_same_answer() -> None:
    journal = Stops()
    first = supervisor(Workshop(), journal)
    whole = run_virtual(first.run(plan=plan(), amend=True, run_id=RUN))
    events = [*journal.store.events(RUN)]
    assert len(plan().tasks) == 100
    assert len(journal.commits) > 40
    for stop in journal.commits[:: 1 if "LEADHAND_TEST_ALL" in os.environ else 3]:
        past, shop = events[:stop], Workshop()
        left = kept(past)
        answer = run_virtual(resumed(supervisor(shop, left), RUN))
        assert told(answer) == told(whole), f"after event {stop}"
        worked_on = {(given.key.removeprefix(f"{RUN}/"), given.attempt) for given in shop.given}
        assert not worked_on & decided(past), f"done twice after event {stop}"
        log = left.store.events(RUN)
        assert [event.seq for event in log] == [*range(1, len(log) + 1)]
        assert fold(log).answer == answer


def test_a_run_that_is_stopped_again_and_again_comes_to_the_same_answer() -> None:
    journal = Stops()
    whole = run_virtual(supervisor(Workshop(), journal).run(plan=plan(), amend=True, run_id=RUN))
    log, times = [*journal.store.events(RUN)][: journal.commits[0]], 0
    while not (state := fold(log)).answer:
        again = Stops()
        for event in log:
            again.append(event)
        asyncio.run(again.commit())
        run_virtual(resumed(supervisor(Workshop(), again), RUN))
        events, before = [*again.store.events(RUN)], len(decided(log))
        # Each process gets an attempt done, and none is lost for the third time in a row: that one
        # would be taken to have killed them.
        places = (
            place
            for place in again.commits
            if len(decided(events[:place])) > before
            and max(crashes(fold(events[:place]), team(Workshop())).values(), default=0) < 3
        )
        log = events[: next(places, len(events))]
        times = sum(isinstance(event, RunResumed) and not event.within for event in log)
    assert times > 20
    assert state.answer is not None
    assert told(state.answer) == told(whole)


def test_a_run_that_is_over_gives_its_answer_and_nothing_is_done() -> None:
    journal, shop = Stops(), Workshop()
    whole = run_virtual(supervisor(shop, journal).run(plan=plan(), amend=True, run_id=RUN))
    done = len(shop.given)
    assert run_virtual(resumed(supervisor(shop, journal), RUN)) == whole
    assert len(shop.given) == done


def test_a_task_is_done_again_with_all_that_depends_on_it_and_nothing_else() -> None:
    journal, shop = Stops(), Workshop()
    whole = run_virtual(supervisor(shop, journal).run(plan=plan(), amend=True, run_id=RUN))
    again = Workshop()
    answer = run_virtual(resumed(supervisor(again, journal), RUN, from_task="c3-2"))
    assert {given.task_id for given in again.given} == {"c3-2", "c3-3", "c3-4", "added"}
    assert answer.answer == whole.answer
    assert {given.attempt for given in again.given} == {1}


@pytest.mark.parametrize("task_id", ["nowhere", "large-1", "unneeded"])
def test_a_task_that_is_not_there_any_more_can_not_be_done_again(task_id: str) -> None:
    journal = Stops()
    run_virtual(supervisor(Workshop(), journal).run(plan=plan(), amend=True, run_id=RUN))
    with pytest.raises(InputError, match=f"has no task '{task_id}': there are start, c0-0"):
        run_virtual(resumed(supervisor(Workshop(), journal), RUN, from_task=task_id))
