"""Simulated runs that go through several processes keep every promise too (F29, F37).

The seeds are among those of `test_simulation`; here a broken promise is noticed.
"""

import dataclasses
import functools
import logging
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from leadhand.contracts.budget import Budget
from leadhand.contracts.events import (
    Event,
    ModelCalled,
    RunResumed,
    TaskCompleted,
    TaskDispatched,
    TaskFailed,
    dump,
)
from leadhand.contracts.people import Question
from leadhand.engine.recorder import EventStamp
from tests.simulation.drive import simulate
from tests.simulation.promises import broken
from tests.simulation.recording import Recording
from tests.simulation.test_simulation import ROOT

Doctor = Callable[[Recording], None]


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1, logger="leadhand")


def test_seeds_replay_exactly_in_another_process_and_say_how_each_process_ended() -> None:
    """One of a whole run, one of the scheduler alone, and one of several processes."""
    seeds = (6, 7, _resumed_seed())
    again = subprocess.run(
        [sys.executable, "-m", "tests.simulation", "--seed", *map(str, seeds)],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    recordings = [simulate(seed) for seed in seeds]
    events = [event for recording in recordings for event in recording.events]
    assert again.stdout.splitlines() == [dump(event) for event in events]
    before = recordings[-1].before
    assert before is not None
    lost = f"process {before.process.number} was lost after event {len(before.events)}"
    said = again.stderr.splitlines()
    assert said[-2:] == [lost, f"seed {seeds[-1]}: every promise was kept"]
    assert said[:2] == [f"seed {seed}: every promise was kept" for seed in seeds[:2]]


def test_processes_are_lost_end_and_wait_for_people() -> None:
    """What the seeds of `make test` go through, or their promises would say little."""
    ends: set[str] = set()
    for seed in range(0, 400, 2):
        past = simulate(seed).before
        while past is not None:
            waits = past.answer is not None and past.answer.waiting
            ends.add("lost" if past.journal.lost else "waits" if waits else "ended")
            past = past.before
        if len(ends) == 3:
            return
    raise AssertionError(ends)


def _numbered(recording: Recording, events: list[Event]) -> None:
    recording.events = tuple(
        dataclasses.replace(event, seq=number) for number, event in enumerate(events, start=1)
    )


def _resumed_at(recording: Recording) -> int:
    assert recording.before is not None
    return len(recording.before.events)


def _forget_what_goes_on(recording: Recording) -> None:
    at = _resumed_at(recording)
    changed = dataclasses.replace(recording.events[at], goes_on=())
    recording.events = (*recording.events[:at], changed, *recording.events[at + 1 :])


def _count_an_attempt_twice(recording: Recording) -> None:
    resumed_at = _resumed_at(recording)
    recording.events = tuple(
        dataclasses.replace(event, attempt=event.attempt + 1)
        if isinstance(event, TaskDispatched) and number > resumed_at and not event.within
        else event
        for number, event in enumerate(recording.events)
    )


def _do_again_what_was_done(recording: Recording) -> None:
    past = recording.events[: _resumed_at(recording)]
    done = next(one for one in past if isinstance(one, TaskCompleted) and not one.within)
    started = next(
        event
        for event in recording.events
        if isinstance(event, TaskDispatched) and event.task_id == done.task_id
    )
    assert not started.within
    _insert_after_it_was_resumed(recording, started)


def _begin_anew(recording: Recording) -> None:
    _insert_after_it_was_resumed(recording, recording.events[0])


def _insert_after_it_was_resumed(recording: Recording, event: Event) -> None:
    at = _resumed_at(recording) + 1
    again = dataclasses.replace(event, elapsed_s=recording.events[at].elapsed_s)
    _numbered(recording, [*recording.events[:at], again, *recording.events[at:]])


def _lose_the_past(recording: Recording) -> None:
    first = dataclasses.replace(recording.events[0], elapsed_s=-1.0)
    recording.events = (first, *recording.events[1:])


def _spend_too_much(recording: Recording) -> None:
    made = dataclasses.replace(recording.scenario, budget=Budget(requests=1))
    recording.process = dataclasses.replace(recording.process, made=made)
    call = ModelCalled(**_stamp(recording.events[-1]), role="worker", model="x:y", duration_s=0.0)
    recording.events = (*recording.events, call, dataclasses.replace(call, seq=call.seq + 1))


def _start_without_a_decision(recording: Recording) -> None:
    events = recording.events
    at = next(
        number
        for number, event in enumerate(events)
        if number > _resumed_at(recording)
        and isinstance(event, TaskDispatched)
        and not event.within
    )
    started = events[at]
    assert isinstance(started, TaskDispatched)
    failed = TaskFailed(
        **_stamp(started),
        task_id=started.task_id,
        attempt=started.attempt,
        kind="error",
        message="no",
        final=False,
        decision="none",
    )
    again = dataclasses.replace(started, attempt=started.attempt + 1)
    _numbered(recording, [*events[: at + 1], failed, again, *events[at + 1 :]])


def _stamp(event: Event) -> EventStamp:
    return {
        "seq": event.seq + 1,
        "at": event.at,
        "elapsed_s": event.elapsed_s,
        "run_id": event.run_id,
    }


def _wait_for_nobody(recording: Recording) -> None:
    assert recording.answer is not None
    waiting = (Question(task_id="t0", text="What now?"),)
    recording.answer = recording.answer.model_copy(update={"waiting": waiting})


@pytest.mark.parametrize(
    ("doctor", "said"),
    [
        (_forget_what_goes_on, "go on where"),
        (_count_an_attempt_twice, "followed attempt"),
        (_do_again_what_was_done, "had ended as completed before"),
        (_begin_anew, "the run begins for a second time"),
        (_lose_the_past, "of the processes before is not what it was"),
        (_spend_too_much, "requests were made, of 1"),
        (_start_without_a_decision, "nobody had said what follows"),
        (_wait_for_nobody, "somebody is waited for, and there is nobody"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else None,
)
def test_a_broken_promise_of_a_resumed_run_is_noticed(doctor: Doctor, said: str) -> None:
    recording = simulate(_resumed_seed())
    assert broken(recording) == []
    doctor(recording)
    assert any(said in line for line in broken(recording)), broken(recording)


@functools.cache
def _resumed_seed() -> int:
    """A run that was lost with its process in the middle of its work: 130, or what it is now."""
    return next(seed for seed in (130, *range(0, 1_000, 2)) if _has_it_all(simulate(seed)))


def _has_it_all(recording: Recording) -> bool:
    before = recording.before
    if before is None or not before.journal.lost:
        return False
    if recording.process.people != "nobody" or recording.answer is None:
        return False
    past, work = recording.events[: len(before.events)], recording.events[len(before.events) :]
    resumed = work[0] if work else None
    goes_on = isinstance(resumed, RunResumed) and resumed.goes_on and not resumed.again
    done = any(isinstance(event, TaskCompleted) and not event.within for event in past)
    started = any(isinstance(event, TaskDispatched) and not event.within for event in work)
    return bool(goes_on) and done and started
