"""The figures of a stepwise run: decisions are part of its longest chain, and of its sum."""

import asyncio
import dataclasses
from collections.abc import Sequence

import pytest

from leadhand import Plan, Reply, Task, Team, Worker
from leadhand.cli.runs.history_text import history_lines
from leadhand.contracts.answer import Metrics
from leadhand.contracts.budget import Rate
from leadhand.contracts.events import Event, RoundDecided
from leadhand.contracts.people import Question
from leadhand.errors import ModelError
from leadhand.journal import MemoryJournal
from leadhand.testing import run_virtual
from leadhand.trace.run_history import RunHistory
from tests.handles import resumed
from tests.models.in_process import InProcess
from tests.run.kinds.kinds import KINDS, RUN, around, ask, deciding, decision, supervisor, team
from tests.run.kinds.test_stepwise import DONE, Step, Steps, find, slowly, start
from tests.run.kinds.test_stepwise import supervisor as by_code
from tests.run.kinds.test_stepwise import team as team_by_code
from tests.run.resuming.story import kept

STEPWISE = next(kind for kind in KINDS if kind.name == "stepwise")


def takes(id: str, seconds: int, *needs: str) -> Task:
    """A task that takes so long."""
    return find(id, *needs, intent=f"Find more of {id}: {'s' * seconds}")


def figures(*steps: Step, delay_s: float = 5.0) -> tuple[Metrics, Sequence[Event]]:
    """The figures of a run in which each decision takes so long, and its log."""
    journal = MemoryJournal()
    by = by_code(Steps([*steps], delay_s=delay_s), team_by_code(slowly), journal=journal)
    return run_virtual(by.run("Compare", run_id=RUN)).metrics, journal.store.events(RUN)


def test_a_chain_of_decisions_and_tasks_takes_as_long_as_the_run() -> None:
    of, _ = figures(start(takes("x", 1), takes("y", 4)), start(takes("z", 2)), DONE)
    assert of.critical_path_s == pytest.approx(5 + 4 + 5 + 2 + 5)
    assert of.makespan_s == pytest.approx(of.critical_path_s)
    assert of.sequential_s == pytest.approx(5 + 1 + 4 + 5 + 2 + 5)


def test_each_call_of_a_model_counts_once() -> None:
    model = InProcess(script=list(STEPWISE.script), latency_ms=1_000)
    answer, _ = ask(STEPWISE, team(STEPWISE, model.model))
    of = answer.metrics
    assert of.critical_path_s == pytest.approx(6.0), "three decisions, a and b, c, the synthesis"
    assert of.makespan_s == pytest.approx(6.0)
    assert of.sequential_s == pytest.approx(STEPWISE.calls)


@pytest.mark.parametrize(("other_s", "longest_s"), [(3, 5 + 1 + 5 + 2 + 5), (20, 5 + 20)])
def test_a_task_that_runs_while_the_planner_decides_is_a_chain_beside(
    other_s: int, longest_s: float
) -> None:
    first = start(takes("x", 1), takes("y", other_s), asks_after="first")
    of, _ = figures(first, start(takes("z", 2)), DONE)
    assert of.critical_path_s == pytest.approx(longest_s)
    assert of.makespan_s == pytest.approx(longest_s)


def test_a_wait_for_a_rate_and_for_a_person_is_not_part_of_a_decision() -> None:
    async def approve(question: Question) -> Reply:
        await asyncio.sleep(100.0)
        return Reply(verdict="approved")

    script = deciding(
        {**decision("a", "b", round=1), "ask_again": "first"}, decision("c", round=2, done=True)
    )
    model = InProcess(script=list(script), latency_ms=1_000)
    of = team(STEPWISE, model.model)
    rated = dataclasses.replace(of, rates={"openai:scripted": Rate(concurrency=1)})
    answer, events = ask(STEPWISE, rated, approve=["plan"], person=approve)
    (second,) = [one for one in events if isinstance(one, RoundDecided) and one.round == 2]
    assert second.took_s == pytest.approx(2.0), "it waits for the call of b"
    assert answer.metrics.critical_path_s == pytest.approx(5.0)
    assert answer.metrics.makespan_s == pytest.approx(6.0), "without what the person took"


def test_a_decision_that_a_restart_interrupts_counts_once() -> None:
    steps = (start(takes("x", 4)), start(takes("y", 2)), DONE)
    whole, events = figures(*steps)
    for at, event in enumerate(events):
        if isinstance(event, RoundDecided) and event.round > 1:
            by = by_code(
                Steps([*steps], delay_s=5.0), team_by_code(slowly), journal=kept(events[:at])
            )
            again = run_virtual(resumed(by, RUN)).metrics
            assert again.critical_path_s == pytest.approx(whole.critical_path_s)
            assert again.sequential_s == pytest.approx(whole.sequential_s)


def test_a_decision_that_fails_counts_and_so_does_the_next_attempt_at_it() -> None:
    failed, events = figures(start(takes("x", 4)), ModelError("no model", transient=True))
    assert failed.critical_path_s == pytest.approx(5 + 4 + 5)
    by = by_code(Steps([DONE, DONE], delay_s=5.0), team_by_code(slowly), journal=kept(events))
    again = run_virtual(resumed(by, RUN)).metrics
    assert again.critical_path_s == pytest.approx(5 + 4 + 5 + 5)
    assert again.makespan_s == pytest.approx(again.critical_path_s)


def test_at_the_limit_of_rounds_there_is_no_decision_to_count() -> None:
    by = by_code(
        Steps([start(takes("x", 1)), start(takes("y", 1))], delay_s=5.0),
        team_by_code(slowly, max_rounds=2),
    )
    assert run_virtual(by.run("Compare")).metrics.critical_path_s == pytest.approx(5 + 1 + 5 + 1)


def test_the_chain_of_a_nested_run_is_that_of_the_task_around_it() -> None:
    model = InProcess(script=list(STEPWISE.script), latency_ms=1_000)
    answer, events = ask(STEPWISE, around(team(STEPWISE, model.model)))
    assert answer.metrics.critical_path_s == pytest.approx(6.0)
    assert answer.metrics.sequential_s == pytest.approx(STEPWISE.calls)
    decided = next(
        n for n, one in enumerate(events) if isinstance(one, RoundDecided) and one.round == 2
    )
    by = supervisor(around(team(STEPWISE, model.model)), journal=kept(events[:decided]))
    again = run_virtual(resumed(by, RUN)).metrics
    assert again.critical_path_s == pytest.approx(6.0)


def test_planning_of_a_nested_run_that_is_resumed_does_not_include_the_time_before_it() -> None:
    model = InProcess(latency_ms=1_000)
    inner = Worker("inner", "Knows metals", team=team(KINDS[0], model.model, workers="a"))
    outer = Team("outer", workers=[Worker("first", "Is slow", run=slowly), inner])
    tasks = [takes("x", 50).model_copy(update={"worker": "first"}), find("y", "x", worker="inner")]
    journal = MemoryJournal()
    by = supervisor(outer, journal=journal)
    whole = run_virtual(by.run(plan=Plan(goal="Compare", tasks=tasks), run_id=RUN))
    assert whole.metrics.critical_path_s == pytest.approx(50 + 1 + 1)
    events = journal.store.events(RUN)
    planned = next(n for n, one in enumerate(events) if one.within and one.type == "plan_accepted")
    again = supervisor(outer, journal=kept(events[:planned]))
    assert run_virtual(resumed(again, RUN)).metrics.critical_path_s == pytest.approx(50 + 1 + 1)


def test_show_names_the_decisions_on_the_critical_path() -> None:
    _, events = figures(start(takes("x", 4)), start(takes("y", 2), done=True))
    history = RunHistory.of(events)
    told = "\n".join(text.plain for _, text in history_lines(history, held=False))
    assert "planning 5.0 s → x 4.0 s → round 2 5.0 s → y 2.0 s" in told
    assert history.critical_path == ("x", "y")
