"""Simulated runs keep every promise (F02, F04, F14, F29, F37, F38); a broken one is noticed."""

import dataclasses
import logging
import os
import subprocess
from collections.abc import Callable
from functools import cache, partial
from typing import get_args

import pytest

from leadhand.contracts.budget import Budget
from leadhand.contracts.events import (
    ConflictFound,
    ConflictJudged,
    CritiqueGiven,
    Event,
    ModelCalled,
    RunFinished,
    RunQueued,
    RunResumed,
    TaskCompleted,
    TaskDispatched,
    TaskSkipped,
    TierRaised,
    ToolCalled,
    dump,
)
from leadhand.contracts.planner_kinds import PlannerKind
from tests.programs import ROOT, forkserver
from tests.simulation.__main__ import IN_TESTS, failures, told
from tests.simulation.drive import simulate
from tests.simulation.planners import KINDS
from tests.simulation.promises import broken
from tests.simulation.recording import Recording


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1, logger="leadhand")


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_no_seed_breaks_a_promise(kind: PlannerKind | None) -> None:
    every = kind is None or "LEADHAND_TEST_ALL" in os.environ
    found = failures(range(IN_TESTS if every else IN_TESTS // 2), kind)
    assert not found, "\n".join(found)


def test_every_kind_of_event_and_end_of_a_process_happens_in_some_run() -> None:
    """Or the promises would say little there."""
    # No tool is used, no tier has a model, no run waits for its turn, and no synthesizer looks
    # for conflicts or critic for faults.
    others = {ToolCalled, TierRaised, RunQueued, ConflictFound, ConflictJudged, CritiqueGiven}
    missing: set[object] = {*get_args(Event)} - others | {"lost", "waits", "ended"}
    for seed in range(IN_TESTS):
        for kind in (None, "stepwise", "ahead"):
            past = simulate(seed, kind)
            missing -= {type(event) for event in past.events}
            while (past := past.before) is not None:
                waits = past.answer is not None and past.answer.waiting
                missing.discard("lost" if past.store.lost else "waits" if waits else "ended")
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


def test_seeds_replay_exactly_in_another_process() -> None:
    seeds = (6, _seed(_was_lost))
    again = forkserver().run("-m", "tests.simulation", "--seed", *map(str, seeds), folder=ROOT)
    recordings = [simulate(seed) for seed in seeds]
    events = [event for recording in recordings for event in recording.events]
    assert again.out.splitlines() == [dump(event) for event in events]
    assert again.err.splitlines()[-1] == f"seed {seeds[-1]}: every promise was kept"


# What is tampered with


def _is_eventful(recording: Recording) -> bool:
    """A run with something of everything that can be tampered with."""
    tasks = recording.state.tasks.values()
    flat = all(worker.team is None for worker in recording.scenario.team.workers)
    needs = any(task.attempts and task.task.depends_on for task in tasks)
    wide = recording.scenario.concurrency > 1 and recording.before is None
    partial = recording.answer is not None and recording.answer.status == "partial"
    kinds = {type(event) for event in recording.events}
    return flat and needs and wide and partial and {TaskCompleted, TaskSkipped} <= kinds


def _was_lost(recording: Recording) -> bool:
    """A run that was lost with its process in the middle of its work, and then finished."""
    before = recording.before
    if before is None or not before.store.lost:
        return False
    past, work = recording.events[: len(before.events)], recording.events[len(before.events) :]
    goes_on = work and isinstance(work[0], RunResumed) and work[0].goes_on and not work[0].again
    done = any(isinstance(event, TaskCompleted) and not event.within for event in past)
    started = any(isinstance(event, TaskDispatched) and not event.within for event in work)
    finished = recording.answer is not None and recording.process.people == "nobody"
    return bool(goes_on) and done and started and finished


@cache
def _seed(fits: Callable[[Recording], bool]) -> int:
    return next(seed for seed in range(1_000) if fits(simulate(seed)))


def _numbered(recording: Recording, events: list[Event]) -> None:
    recording.events = tuple(
        dataclasses.replace(event, seq=number) for number, event in enumerate(events, start=1)
    )


def _first(recording: Recording, kind: type[Event]) -> int:
    return next(i for i, event in enumerate(recording.events) if isinstance(event, kind))


def _change(recording: Recording, at: int, **changes: object) -> None:
    changed = dataclasses.replace(recording.events[at], **changes)  # pyright: ignore[reportArgumentType]
    recording.events = (*recording.events[:at], changed, *recording.events[at + 1 :])


# How


def _lose_an_event(recording: Recording) -> None:
    recording.events = recording.events[:5] + recording.events[6:]


def _start_before_a_dependency(recording: Recording) -> None:
    events, tasks = [*recording.events], recording.state.tasks
    starts = [event for event in events if isinstance(event, TaskDispatched)]
    late = next(event for event in starts if tasks[event.task_id].task.depends_on)
    events.remove(late)
    events.insert(_first(recording, TaskDispatched), late)
    _numbered(recording, events)


def _end_a_task(recording: Recording, *, times: int) -> None:
    events, at = [*recording.events], _first(recording, TaskCompleted)
    events[at : at + 1] = times * [events[at]]
    _numbered(recording, events)


def _try_too_often(recording: Recording) -> None:
    _change(recording, _first(recording, TaskDispatched), attempt=7)


def _drift(recording: Recording) -> None:
    recording.state.dispatched += 1


def _go_on(recording: Recording) -> None:
    recording.seq_at_end -= 1


def _otherwise(recording: Recording, **changes: object) -> None:
    made = dataclasses.replace(recording.scenario, **changes)  # pyright: ignore[reportArgumentType]
    recording.process = dataclasses.replace(recording.process, made=made)


def _leave_something(recording: Recording) -> None:
    recording.left.append("task:t1")


def _answer_otherwise(recording: Recording, **changes: object) -> None:
    assert recording.answer is not None
    recording.answer = recording.state.answer = recording.answer.model_copy(update=changes)
    _change(recording, _first(recording, RunFinished), answer=recording.answer)


def _forget_what_goes_on(recording: Recording) -> None:
    assert recording.before is not None
    _change(recording, len(recording.before.events), goes_on=())


def _do_again_what_was_done(recording: Recording) -> None:
    done = next(e for e in recording.events if isinstance(e, TaskCompleted) and not e.within)
    starts = [e for e in recording.events if isinstance(e, TaskDispatched)]
    _resume_with(recording, next(one for one in starts if one.task_id == done.task_id))


def _begin_anew(recording: Recording) -> None:
    _resume_with(recording, recording.events[0])


def _resume_with(recording: Recording, event: Event) -> None:
    assert recording.before is not None
    at = len(recording.before.events) + 1
    again = dataclasses.replace(event, elapsed_s=recording.events[at].elapsed_s)
    _numbered(recording, [*recording.events[:at], again, *recording.events[at:]])


def _spend_too_much(recording: Recording) -> None:
    _otherwise(recording, budget=Budget(requests=1))
    last = recording.events[-1]
    stamp = {"at": last.at, "elapsed_s": last.elapsed_s, "run_id": "run"}
    call = ModelCalled(seq=0, role="worker", model="x:y", duration_s=0.0, **stamp)  # pyright: ignore[reportArgumentType]
    recording.events = (*recording.events, call, call)


@pytest.mark.parametrize(
    ("fits", "tamper", "line"),
    [
        (_is_eventful, _lose_an_event, "of the log"),
        (_is_eventful, partial(_change, at=3, elapsed_s=-1.0), "the clock went back"),
        (_is_eventful, _start_before_a_dependency, "was started before"),
        (_is_eventful, partial(_end_a_task, times=2), "had ended as completed before"),
        (_is_eventful, partial(_end_a_task, times=0), "had not ended when the run was finished"),
        (_is_eventful, _try_too_often, "attempt 7 of"),
        (_is_eventful, partial(_otherwise, concurrency=1), "tasks at once, of 1"),
        (_is_eventful, _drift, "`dispatched` of the state"),
        (_is_eventful, _go_on, "something was written down after the run"),
        (_is_eventful, partial(_otherwise, deadline_s=0.001), "was to end after"),
        (_is_eventful, _leave_something, "is left after the run"),
        (_is_eventful, partial(_answer_otherwise, gaps=()), "have no result"),
        (_is_eventful, partial(_answer_otherwise, status="complete"), "it should be"),
        (_is_eventful, partial(_answer_otherwise, tasks=()), "are not those of the log"),
        (_was_lost, _forget_what_goes_on, "go on, [] were done"),
        (_was_lost, _do_again_what_was_done, "had ended as completed before"),
        (_was_lost, _begin_anew, "the run begins for a second time"),
        (_was_lost, partial(_change, at=0, elapsed_s=-1.0), "the processes before is not"),
        (_was_lost, _spend_too_much, "requests were made, of 1"),
    ],
)
def test_a_broken_promise_is_noticed(
    fits: Callable[[Recording], bool], tamper: Callable[[Recording], None], line: str
) -> None:
    recording = simulate(_seed(fits))
    assert broken(recording) == []
    tamper(recording)
    assert any(line in one for one in broken(recording)), broken(recording)


@pytest.mark.parametrize("seed", [666, 1198])
def test_a_recursive_run_whose_inner_runs_end_by_the_deadline_leaves_nothing_open(
    seed: int,
) -> None:
    """A deaf person two levels down; a question that the deadline closes two levels down."""
    assert broken(simulate(seed, kind="recursive")) == []


def test_a_decision_while_a_question_is_open_is_work_and_not_a_wait_for_a_person() -> None:
    """Else the critical path, which counts the decision, is longer than the run."""
    assert broken(simulate(1412, kind="stepwise")) == []
