"""Each promise about rounds, early tasks, routes, templates and follow-ups is noticed if broken."""

import dataclasses
import functools
import logging
from collections.abc import Callable

import pytest

from leadhand.contracts.events import (
    ApprovalGiven,
    Event,
    PlanAmended,
    PlanProposed,
    RoundDecided,
    RunFinished,
    RunResumed,
    TaskCancelled,
    TaskDispatched,
    TaskPlanned,
)
from leadhand.contracts.team import PlannerKind
from leadhand.run.early_start import NOT_IN_PLAN
from tests.simulation.__main__ import OF_A_KIND_IN_TESTS
from tests.simulation.drive import simulate
from tests.simulation.promises import broken
from tests.simulation.recording import Recording
from tests.simulation.rounds import MAX_ROUNDS
from tests.simulation.test_simulation import Doctor, forget_a_gap, numbered, put_in_the_log


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL + 1, logger="leadhand")


# What is tampered with


def _rounds(recording: Recording) -> list[RoundDecided]:
    return [one for one in recording.events if isinstance(one, RoundDecided) and not one.within]


def _is_done(recording: Recording) -> bool:
    """A run of three rounds or more in one process, whose planner said that it is done."""
    rounds = _rounds(recording)
    ends = [one.end for one in rounds]
    plain = recording.before is None and recording.answer is not None
    return (
        plain
        and len(rounds) > 2
        and ends[-1] == "done"
        and bool(rounds[1].tasks)
        and not rounds[-1].tasks
    )


def _reached_the_limit(recording: Recording) -> bool:
    ends = [one.end for one in _rounds(recording)]
    return recording.answer is not None and ends[-1:] == ["limit"]


def _was_approved(recording: Recording) -> bool:
    """A run in which a person approved a round."""
    asked = any(one.needs_approval for one in _rounds(recording))
    given = any(isinstance(one, PlanAmended) for one in recording.events)
    return asked and given and recording.before is None


def _is_planned(recording: Recording) -> bool:
    return recording.state.plan is not None and len(recording.state.plan.tasks) > 1


def _goes_beside(recording: Recording) -> bool:
    """A request that a rule gave to several workers."""
    by = [one.by for one in recording.events if isinstance(one, PlanProposed) and not one.within]
    return _is_planned(recording) and by == ["router"]


def _follows(recording: Recording) -> bool:
    """A run with a task that is given something of the run before."""
    return recording.before is None and any(
        "previous" in handoff.inputs for _, way, handoff in recording.given if "/" not in way
    )


def _early(recording: Recording) -> list[TaskPlanned]:
    return [one for one in recording.events if isinstance(one, TaskPlanned) and not one.within]


def _not_in_plan(recording: Recording) -> list[TaskCancelled]:
    cancelled = [one for one in recording.events if isinstance(one, TaskCancelled)]
    return [one for one in cancelled if one.reason == NOT_IN_PLAN and not one.within]


def _starts_early(recording: Recording) -> bool:
    """A run of which the plan has some of its early tasks, and others not."""
    gone = _not_in_plan(recording)
    return recording.before is None and bool(gone) and len(_early(recording)) > len(gone)


@functools.cache
def _seed(kind: PlannerKind, fits: Callable[[Recording], bool]) -> int:
    for seed in range(OF_A_KIND_IN_TESTS):  # or the promise would say little there
        recording = simulate(seed, kind)
        if fits(recording) and not broken(recording):
            return seed
    raise LookupError(fits.__name__)


# How


def _change(recording: Recording, event: Event, **changes: object) -> None:
    events = [
        dataclasses.replace(one, **changes) if one is event else one for one in recording.events
    ]
    numbered(recording, events)


def _drop(recording: Recording, *events: Event) -> None:
    numbered(recording, [one for one in recording.events if one not in events])


def _skip_a_round(recording: Recording) -> None:
    _change(recording, _rounds(recording)[1], round=3)


def _decide_too_often(recording: Recording) -> None:
    _change(recording, _rounds(recording)[1], round=MAX_ROUNDS + 1)


def _decide_too_early(recording: Recording) -> None:
    events, decided = [*recording.events], _rounds(recording)[1]
    events.remove(decided)
    at = next(n for n, one in enumerate(events) if isinstance(one, TaskDispatched))
    early = dataclasses.replace(decided, elapsed_s=events[at].elapsed_s)
    numbered(recording, [*events[: at + 1], early, *events[at + 1 :]])


def _decide_again(recording: Recording) -> None:
    _repeat(recording, _rounds(recording)[-1])


def _repeat(recording: Recording, event: RoundDecided) -> None:
    at = recording.events.index(event) + 1
    again = dataclasses.replace(event, round=event.round + 1, tasks=())
    numbered(recording, [*recording.events[:at], again, *recording.events[at:]])


def _reach_the_limit_early(recording: Recording) -> None:
    _change(recording, _rounds(recording)[-1], end="limit")


def _ask_for_the_same(recording: Recording) -> None:
    asked = recording.state.tasks[next(iter(recording.state.tasks))].task
    _add(recording, worker=asked.worker, intent=asked.intent)


def _add_a_known_id(recording: Recording) -> None:
    _add(recording, id=next(iter(recording.state.tasks)))


def _add_a_dangling_task(recording: Recording) -> None:
    _add(recording, depends_on=("nowhere",))


def _add(recording: Recording, **changes: object) -> None:
    decided = _rounds(recording)[1]
    one = decided.tasks[0].model_copy(update={"id": "more", **changes})
    _change(recording, decided, tasks=(*decided.tasks, one))


def _never_ask_again(recording: Recording) -> None:
    _change(recording, _rounds(recording)[-1], end=None)


def _go_on_after_the_end(recording: Recording) -> None:
    last = recording.events[-1]
    assert isinstance(last, RunFinished)
    resumed = RunResumed(
        seq=last.seq + 1, at=last.at, elapsed_s=last.elapsed_s, run_id="run", deadline_s=None
    )
    recording.events = (*recording.events, resumed)


def _approve_nothing(recording: Recording) -> None:
    _drop(recording, *(one for one in recording.events if isinstance(one, ApprovalGiven)))


def _decide_before_the_approval(recording: Recording) -> None:
    _repeat(recording, next(one for one in _rounds(recording) if one.needs_approval))


def _take_longer_than_the_run(recording: Recording) -> None:
    assert recording.answer is not None
    longer = recording.answer.metrics.model_copy(update={"critical_path_s": 1e9})
    recording.answer = recording.answer.model_copy(update={"metrics": longer})
    put_in_the_log(recording)


def _first_plan(recording: Recording) -> PlanProposed:
    return next(one for one in recording.events if isinstance(one, PlanProposed))


def _have_another_plan(recording: Recording) -> None:
    _change(recording, _first_plan(recording), by="router")


def _give_a_task_to_another(recording: Recording) -> None:
    proposed = _first_plan(recording)
    first, *others = proposed.plan.tasks
    tasks = (first.model_copy(update={"worker": "another"}), *others)
    _change(recording, proposed, plan=proposed.plan.model_copy(update={"tasks": tasks}))


def _be_in_doubt(recording: Recording) -> None:
    _change(recording, _first_plan(recording), by="router in doubt")


def _forget_what_was_before(recording: Recording) -> None:
    """The task is told of the run before, and is not given it."""
    recording.given = [
        (seq, way, handoff.model_copy(update={"inputs": {}}))
        for seq, way, handoff in recording.given
    ]


def _tell_nothing_of_before(recording: Recording) -> None:
    recording.given = [
        (seq, way, handoff.model_copy(update={"context": ()}))
        for seq, way, handoff in recording.given
    ]


def _plan_for_a_writer(recording: Recording) -> None:
    first = _early(recording)[0]
    _change(recording, first, task=first.task.model_copy(update={"worker": "nobody"}))


def _plan_twice(recording: Recording) -> None:
    events, first = [*recording.events], _early(recording)[0]
    numbered(recording, [*events, dataclasses.replace(first, elapsed_s=events[-1].elapsed_s)])


def _let_all_go_on(recording: Recording) -> None:
    _drop(recording, *_not_in_plan(recording))


@pytest.mark.parametrize(
    ("kind", "fits", "doctor", "said"),
    [
        ("stepwise", _is_done, _skip_a_round, "round 3 followed round 1"),
        ("stepwise", _is_done, _decide_too_often, "is one too many"),
        ("stepwise", _is_done, _decide_too_early, "before the tasks of the one before had ended"),
        ("stepwise", _is_done, _decide_again, "after the rounds had ended: done"),
        ("stepwise", _is_done, _reach_the_limit_early, "the limit was reached after"),
        ("stepwise", _is_done, _ask_for_the_same, "asks for the same as a task before"),
        ("stepwise", _is_done, _add_a_known_id, "was added, and is no new id"),
        ("stepwise", _is_done, _add_a_dangling_task, "needs a task that is not in the plan"),
        ("stepwise", _is_done, _never_ask_again, "the planner was not asked what is next"),
        ("stepwise", _is_done, _go_on_after_the_end, "it went on, and was over"),
        ("stepwise", _is_done, _take_longer_than_the_run, "the critical path is longer"),
        ("stepwise", _reached_the_limit, forget_a_gap, "and the rounds ended as limit"),
        ("stepwise", _was_approved, _approve_nothing, "nobody approved the tasks of the round"),
        ("stepwise", _was_approved, _approve_nothing, "nobody approved the plan"),
        ("stepwise", _was_approved, _decide_before_the_approval, "waited for its approval"),
        ("ahead", _is_planned, _have_another_plan, "router plans, and the planner is ahead"),
        ("ahead", _is_planned, _give_a_task_to_another, "is right"),
        ("ahead", _starts_early, _plan_for_a_writer, "does more than read"),
        ("ahead", _starts_early, _plan_twice, "it is no new id"),
        ("ahead", _starts_early, _let_all_go_on, "goes on, and the plan has no such task"),
        ("template", _is_planned, _give_a_task_to_another, "is right"),
        ("routed", _goes_beside, _give_a_task_to_another, "is right"),
        ("routed", _goes_beside, _be_in_doubt, "is right"),
        ("template", _follows, _forget_what_was_before, "of the runs before, not {"),
        ("ahead", _follows, _tell_nothing_of_before, "of the runs before, and was told of []"),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else None,
)
def test_a_broken_promise_of_a_kind_is_noticed(
    kind: PlannerKind, fits: Callable[[Recording], bool], doctor: Doctor, said: str
) -> None:
    recording = simulate(_seed(kind, fits), kind)
    doctor(recording)
    assert any(said in line for line in broken(recording)), broken(recording)
