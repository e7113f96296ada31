"""Simulated runs keep every promise (F02, F04, F14, F38), and a broken one would be noticed."""

import dataclasses
import functools
import logging
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from leadhand.contracts.events import (
    ConflictFound,
    ConflictJudged,
    CritiqueGiven,
    Event,
    RunFinished,
    TaskCompleted,
    TaskDispatched,
    TaskFailed,
    TaskSkipped,
    ToolCalled,
)
from leadhand.contracts.team import PlannerKind
from tests.simulation.__main__ import IN_TESTS, OF_A_KIND_IN_TESTS, failures, told
from tests.simulation.drive import simulate
from tests.simulation.kinds import KINDS
from tests.simulation.promises import broken
from tests.simulation.recording import Recording

ROOT = Path(__file__).parents[2]
BLOCKS = 4
EVENTFUL = (3, 6, 8, 11, 12, 18, 19, 96, 126)
"""Seeds with kinds of events that are rare."""


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1, logger="leadhand")


@pytest.mark.parametrize("block", range(BLOCKS))
def test_no_seed_breaks_a_promise(block: int) -> None:
    size = IN_TESTS // BLOCKS
    found = failures(range(block * size, (block + 1) * size))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", KINDS)
def test_no_seed_of_a_kind_of_planner_breaks_a_promise(kind: PlannerKind) -> None:
    found = failures(range(OF_A_KIND_IN_TESTS), kind)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("seed", [7232, 8764, 3832, 4000, 1717, 20076])
def test_no_seed_that_once_did_breaks_a_promise(seed: int) -> None:
    """Cancelled while a role stops; an amendment refused; failures beside a second opinion."""
    assert broken(simulate(seed)) == []


@pytest.mark.parametrize(
    ("kind", "seed"), [(None, 4008), ("ahead", 1810), ("ahead", 1554), ("stepwise", 2847)]
)
def test_no_seed_of_a_kind_that_once_did_breaks_a_promise(
    kind: PlannerKind | None, seed: int
) -> None:
    """Given up before the run is resumed; dropped by the plan; lost with three processes."""
    assert broken(simulate(seed, kind)) == []


def test_every_kind_of_event_happens_in_some_run() -> None:
    # No tool is used, and nobody looks for conflicts or criticizes.
    others = {ToolCalled, ConflictFound, ConflictJudged, CritiqueGiven}
    missing = {*get_args(Event)} - others
    missing -= {type(event) for event in simulate(7, "stepwise").events}
    missing -= {type(event) for event in simulate(5, "ahead").events}
    for seed in (*EVENTFUL, *range(IN_TESTS)):
        missing -= {type(event) for event in simulate(seed).events}
        if not missing:
            break
    assert not missing


def test_a_failing_seed_is_told_with_the_command_that_replays_it() -> None:
    first, line = told(123, ["t1 was started twice"]).splitlines()
    command = first.partition("run it again with: ")[2]
    printed = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", "--assume-old=setup", *command.split()[1:]],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout
    assert command.startswith("make simulate")
    assert printed.splitlines()[-1].endswith("-m tests.simulation --seed 123")
    assert line.strip() == "t1 was started twice"


Doctor = Callable[[Recording], None]


def numbered(recording: Recording, events: list[Event]) -> None:
    recording.events = tuple(
        dataclasses.replace(event, seq=number) for number, event in enumerate(events, start=1)
    )


def _first(recording: Recording, *kinds: type[Event]) -> int:
    return next(i for i, event in enumerate(recording.events) if isinstance(event, kinds))


def _lose_an_event(recording: Recording) -> None:
    recording.events = recording.events[:5] + recording.events[6:]


def _turn_the_clock_back(recording: Recording) -> None:
    last = dataclasses.replace(recording.events[-1], elapsed_s=0.0)
    recording.events = (*recording.events[:-1], last)


def _start_before_a_dependency(recording: Recording) -> None:
    events = list(recording.events)
    tasks = recording.state.tasks
    late = next(
        event
        for event in events
        if isinstance(event, TaskDispatched) and tasks[event.task_id].task.depends_on
    )
    events.remove(late)
    events.insert(_first(recording, TaskDispatched), late)
    numbered(recording, events)


def _end_a_task_twice(recording: Recording) -> None:
    at = _first(recording, TaskCompleted)
    numbered(recording, [*recording.events[: at + 1], *recording.events[at:]])


def _never_end_a_task(recording: Recording) -> None:
    at = _first(recording, TaskCompleted)
    numbered(recording, [*recording.events[:at], *recording.events[at + 1 :]])


def _try_too_often(recording: Recording) -> None:
    at = _first(recording, TaskFailed)
    failed = recording.events[at]
    assert isinstance(failed, TaskFailed)
    events: list[Event] = []
    for attempt in range(1, 9):
        stamp = {"task_id": failed.task_id, "attempt": attempt, "elapsed_s": failed.elapsed_s}
        events += [
            dataclasses.replace(recording.events[_first(recording, TaskDispatched)], **stamp),
            dataclasses.replace(failed, final=False, **stamp),
        ]
    numbered(recording, [*recording.events[:at], *events, *recording.events[at:]])


def _blame_somebody_else(recording: Recording) -> None:
    at = _first(recording, TaskSkipped)
    done = recording.events[_first(recording, TaskCompleted)]
    assert isinstance(done, TaskCompleted)
    wrong = dataclasses.replace(recording.events[at], blame=done.task_id)
    recording.events = (*recording.events[:at], wrong, *recording.events[at + 1 :])


def _have_too_few_places(recording: Recording) -> None:
    _otherwise(recording, concurrency=1)


def _drift(recording: Recording) -> None:
    recording.state.dispatched += 1


def _go_on(recording: Recording) -> None:
    recording.seq_at_end -= 1


def _take_too_long(recording: Recording) -> None:
    _otherwise(recording, deadline_s=0.001)


def _otherwise(recording: Recording, **changes: float | None) -> None:
    made = dataclasses.replace(recording.scenario, **changes)
    recording.process = dataclasses.replace(recording.process, made=made)


def _leave_something(recording: Recording) -> None:
    recording.left.append("task:t1")


def forget_a_gap(recording: Recording) -> None:
    assert recording.answer is not None
    recording.answer = recording.answer.model_copy(update={"gaps": ()})
    put_in_the_log(recording)


def _praise_itself(recording: Recording) -> None:
    assert recording.answer is not None
    recording.answer = recording.answer.model_copy(update={"status": "complete"})
    put_in_the_log(recording)


def _forget_a_task(recording: Recording) -> None:
    assert recording.answer is not None
    fewer = recording.answer.tasks[1:]
    recording.answer = recording.answer.model_copy(update={"tasks": fewer})
    put_in_the_log(recording)


def put_in_the_log(recording: Recording) -> None:
    last = recording.events[-1]
    assert isinstance(last, RunFinished)
    assert recording.answer is not None
    recording.state.answer = recording.answer
    recording.events = (*recording.events[:-1], dataclasses.replace(last, answer=recording.answer))


@pytest.mark.parametrize(
    ("doctor", "said"),
    [
        (_lose_an_event, "of the log"),
        (_turn_the_clock_back, "the clock went back"),
        (_start_before_a_dependency, "was started before"),
        (_end_a_task_twice, "had ended as completed before"),
        (_never_end_a_task, "had not ended when the run was finished"),
        (_try_too_often, "attempt 7 of"),
        (_blame_somebody_else, "is blamed"),
        (_have_too_few_places, "tasks at once, of 1"),
        (_drift, "`dispatched` of the state"),
        (_go_on, "something was written down after the run"),
        (_take_too_long, "was to end after"),
        (_leave_something, "is left after the run"),
        (forget_a_gap, "have no result"),
        (_praise_itself, "complete where it should be"),
        (_forget_a_task, "the answer's tasks are not those of the log"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else None,
)
def test_a_broken_promise_is_noticed(doctor: Doctor, said: str) -> None:
    recording = _eventful()
    assert broken(recording) == []
    doctor(recording)
    assert any(said in line for line in broken(recording)), broken(recording)


def _eventful() -> Recording:
    return simulate(_eventful_seed())


@functools.cache
def _eventful_seed() -> int:
    """A run with something of everything that can be tampered with."""
    for seed in range(0, 400, 2):
        recording = simulate(seed)
        kinds = {type(event) for event in recording.events}
        flat = all(worker.team is None for worker in recording.scenario.team.workers)
        wanted = {TaskCompleted, TaskFailed, TaskSkipped, RunFinished}
        tasks = recording.state.tasks.values()
        needs = any(task.attempts and task.task.depends_on for task in tasks)
        parallel = recording.scenario.concurrency > 1
        if not (flat and needs and parallel and wanted <= kinds):
            continue
        if recording.answer is not None and recording.answer.status == "partial":
            return seed
    raise LookupError("no seed has it all")
