"""A run whose process is killed ends as if it had not been, however often that happens (F29)."""

import os
import random
import signal
import time
from contextlib import closing
from pathlib import Path

import pytest

from leadhand.contracts.answer import Answer
from leadhand.journal import open_store
from leadhand.state.fold import fold
from tests.patience import wait_until
from tests.programs import Program, forkserver
from tests.run.resuming.killed import CONCURRENCY, lines
from tests.run.resuming.processes import Processes
from tests.run.resuming.story import RUN, told
from tests.run.resuming.test_every_commit import Attempt, decided

MOMENTS, SEED = 10 if os.environ.get("LEADHAND_TEST_ALL") else 6, 1


@pytest.fixture(scope="module", name="undisturbed")
def _undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[float, object]:
    """How long the story takes, and what comes of it."""
    folder = tmp_path_factory.mktemp("undisturbed")
    since = time.monotonic()
    ended = Processes(forkserver()).run(
        "tests.run.resuming.killed:tell", *places(folder), folder=folder
    )
    return time.monotonic() - since, told(Answer.model_validate_json(ended.out))


def places(folder: Path) -> tuple[str, str]:
    """Where the run is kept, and where its work is written down."""
    return str(folder / "home"), str(folder / "ledger")


def committed(folder: Path) -> set[Attempt]:
    """The attempts whose outcome is safe."""
    with closing(open_store(folder / "home")) as journal:
        return decided([*journal.events(RUN)])


def killed_within(child: Program, seconds: float) -> None:
    """Kill it at a moment that nothing in it knows of."""
    time.sleep(seconds)
    child.kill(signal.SIGKILL)
    child.ended()


def begun(folder: Path) -> None:
    """Return once the run is in the journal, so that there is something to go on with."""
    with closing(open_store(folder / "home")) as journal:
        wait_until(lambda: journal.last_seq(RUN) > 0)


@pytest.mark.parametrize("number", range(MOMENTS))
def test_a_run_goes_on_after_its_process_was_killed_at_any_moment(
    processes: Processes,
    later: Processes,
    undisturbed: tuple[float, object],
    tmp_path: Path,
    number: int,
) -> None:
    """F29: every fifth one is killed once more while it is being resumed.

    Killed a third time, what was in flight each time would be given up.
    """
    takes_s, whole = undisturbed
    moments = random.Random(f"{SEED} {number}")
    at_s = takes_s * (number + moments.random()) / MOMENTS
    print(f"killed {at_s:.3f} s after it was begun, of {takes_s:.3f} s")
    ledger = tmp_path / "ledger"
    first = processes.start("tests.run.resuming.killed:tell", *places(tmp_path), folder=tmp_path)
    begun(tmp_path)
    killed_within(first, at_s)
    for kill in range(2 if number % 5 == 0 else 1):
        safe, done = committed(tmp_path), lines(ledger)
        child = later.start("tests.run.resuming.killed:go_on", *places(tmp_path), folder=tmp_path)
        if number % 5 == 0 and kill < 1:
            killed_within(child, takes_s * moments.random() / 2)
        else:
            assert told(Answer.model_validate_json(child.ended().out)) == whole
        again = lines(ledger)[len(done) :]
        assert not {*again} & safe, "what was committed is done again"
        assert len({*again} & {*done}) <= 2 * CONCURRENCY, "more than was in flight is done again"
        assert len({*again}) == len(again)
    with closing(open_store(tmp_path / "home")) as journal:
        log = journal.events(RUN)
    assert [event.seq for event in log] == [*range(1, len(log) + 1)]
    state = fold(log)
    assert state.answer is not None
    assert told(state.answer) == whole
    assert {attempt for attempt in decided([*log]) if "annex" not in attempt[0]} <= {*lines(ledger)}
