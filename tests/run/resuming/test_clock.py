"""The wall clock may jump as it likes: it says when, and never how long or in which order (F31)."""

import datetime as dt
import random

from leadhand import Supervisor
from leadhand.contracts.events import Event
from leadhand.ports import Journal
from leadhand.testing import run_virtual
from leadhand.testing.virtual_time import VirtualClock
from leadhand.trace.run_history import RunHistory
from tests.handles import resumed
from tests.run.resuming.story import RUN, Stops, Workshop, kept, plan, remedies, team, told


class JumpingClock(VirtualClock):
    """A clock that is set forward and back by up to ten years whenever somebody looks at it."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def now(self) -> dt.datetime:
        """Some time or other."""
        return super().now() + dt.timedelta(days=self._random.uniform(-3_650, 3_650))


def supervisor(journal: Journal, *, seed: int) -> Supervisor:
    """The supervisor of the story, by such a clock."""
    return Supervisor(
        team(Workshop()),
        journal=journal,
        remedies=remedies(),
        concurrency=4,
        clock=JumpingClock(seed),
    )


def assert_in_order(log: list[Event]) -> None:
    """Positions and durations go forward only."""
    assert [event.seq for event in log] == [*range(1, len(log) + 1)]
    assert [event.elapsed_s for event in log] == sorted(event.elapsed_s for event in log)
    assert {event.at.year for event in log} > {1995, 2005}, "the clock did not jump"


def test_a_run_and_its_resumption_do_not_mind_a_wall_clock_that_jumps() -> None:
    journal = Stops()
    whole = run_virtual(supervisor(journal, seed=1).run(plan=plan(), amend=True, run_id=RUN))
    events = [*journal.store.events(RUN)]
    assert_in_order(events)
    calm = Supervisor(team(Workshop()), remedies=remedies(), concurrency=4, clock=VirtualClock())
    assert told(run_virtual(calm.run(plan=plan(), amend=True, run_id=RUN))) == told(whole)
    for seed, stop in enumerate(journal.commits[::12], start=2):
        left = kept(events[:stop])
        answer = run_virtual(resumed(supervisor(left, seed=seed), RUN))
        log = [*left.store.events(RUN)]
        assert told(answer) == told(whole), f"after event {stop}"
        assert_in_order(log)
        times = [(task.started_s, task.finished_s) for task in answer.tasks]
        assert all(0 <= (begun or 0) <= (ended or 0) for begun, ended in times)
        metrics = answer.metrics
        assert 0 <= metrics.critical_path_s <= metrics.makespan_s
        assert metrics.makespan_s == log[-1].elapsed_s
        RunHistory.of(log)
