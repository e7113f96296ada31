"""The status of an answer: complete means all was done, and nothing of it is doubtful."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import pytest

from leadhand import Answer, Escalated, Handoff, Outcome, Plan, Result, Supervisor, Team, Worker
from leadhand.contracts.answer import Synthesis
from leadhand.contracts.outcome import TaskResult
from leadhand.testing import ScriptedServer
from tests.apart import half_sure
from tests.handles import resumed
from tests.plans.samples import plan, task
from tests.synthesis.deliberation import rule, script

DOUBT = "accepted at low confidence: two readings of the clause"


def unsure(handoff: Handoff) -> Outcome:
    partial = Result(output="Probably 40.", confidence=30)
    return Escalated(reason="low_confidence", message="two readings of the clause", partial=partial)


def sure(handoff: Handoff) -> str:
    return "It is 40."


UNSURE, SURE = Worker("unsure", "Reads clauses", run=unsure), Worker("sure", "Reads", run=sure)


def assert_doubted(answer: Answer, task_id: str, doubt: str = DOUBT) -> None:
    """The answer is partial; its gaps and its text have the doubt, before what was found."""
    assert answer.status == "partial"
    assert [(gap.task_id, gap.why) for gap in answer.gaps] == [(task_id, doubt)]
    assert answer.answer.startswith(f"## What is missing\n\n- `{task_id}`: {doubt}")
    assert "## What was found" in answer.answer


def test_a_single_doubtful_result_makes_the_answer_partial() -> None:
    answer = Supervisor(Team("one", workers=(UNSURE,))).run_sync("What does it cost?")
    assert_doubted(answer, "unsure")
    assert answer.answer.endswith("Probably 40.")
    assert answer.output == "Probably 40."


@pytest.mark.parametrize("strategy", ["merge", "select", "last", "reduce"])
def test_whoever_writes_the_answer_by_code_the_doubt_is_in_it(strategy: str) -> None:
    the_plan = Plan(
        goal="find out",
        synthesis=strategy,
        tasks=(task("a", worker="sure"), task("b", "a", worker="unsure")),
    )
    answer = Supervisor(Team("two", workers=(UNSURE, SURE))).run_sync(plan=the_plan)
    assert_doubted(answer, "b")


@pytest.mark.parametrize("workers", [("unsure",), ("sure", "unsure")])
def test_where_a_model_writes_it_the_doubt_is_in_it(
    model_server: ScriptedServer, workers: Sequence[str]
) -> None:
    script(model_server, rule("synthesizer", json={"answer": "It is 40.", "confidence": 99}))
    team = Team("two", workers=(UNSURE, SURE), model="openai-chat:scripted")
    tasks = [task(f"t{number}", worker=name) for number, name in enumerate(workers)]
    answer = Supervisor(team).run_sync(plan=plan(*tasks))
    assert_doubted(answer, f"t{len(workers) - 1}")


def test_where_the_teams_own_synthesizer_writes_it_the_doubt_is_in_it() -> None:
    class Own:
        name = "own"
        calls_model = False

        async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
            return Synthesis(answer="All is well.", confidence=100)

        def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
            return Synthesis(answer="All is well.")

    team = Team("one", workers=(UNSURE,))
    answer = Supervisor(team, synthesizer=lambda caller, fence: Own()).run_sync("What?")
    assert_doubted(answer, "unsure")


def test_a_doubtful_result_of_a_nested_team_is_in_the_answer_around_it() -> None:
    inner = Worker("legal", "Legal questions", team=Team("inner", workers=(UNSURE,)))
    answer = Supervisor(Team("outer", workers=(inner,))).run_sync("What does it cost?")
    assert_doubted(answer, "legal/unsure")


def test_a_doubtful_nested_answer_that_is_accepted_has_both_doubts() -> None:
    inner = Team("inner", workers=(UNSURE,))
    legal = Worker("legal", "Legal questions", team=inner, min_confidence=60)
    answer = Supervisor(Team("outer", workers=(legal,))).run_sync("What does it cost?")
    assert answer.status == "partial"
    assert [gap.task_id for gap in answer.gaps] == ["legal", "legal/unsure"]
    assert answer.gaps[0].why.startswith("accepted at low confidence: the team is only 30 % sure")


@pytest.mark.parametrize("isolate", ["none", "process"])
def test_a_function_that_is_less_sure_than_the_worker_has_to_be_is_doubted(
    isolate: Literal["none", "process"],
) -> None:
    worker = Worker("guess", "Guesses", run=half_sure, isolate=isolate, min_confidence=60)
    answer = Supervisor(Team("one", workers=(worker,))).run_sync("How many?")
    assert (answer.status, answer.output) == ("partial", 41)
    said = "accepted at low confidence: the worker is only 50 % sure; 60 % is required"
    assert [gap.why for gap in answer.gaps] == [said]
    assert said in answer.answer


@pytest.mark.parametrize("least", [None, 50])
def test_a_function_that_is_as_sure_as_it_has_to_be_completes(least: int | None) -> None:
    worker = Worker("guess", "Guesses", run=half_sure, min_confidence=least)
    answer = Supervisor(Team("one", workers=(worker,))).run_sync("How many?")
    assert (answer.status, answer.output, answer.gaps) == ("complete", 41, ())


@pytest.mark.parametrize(("second", "status"), [(unsure, "partial"), (sure, "complete")])
def test_a_second_opinion_takes_the_doubt_away_only_if_it_has_none(
    second: Callable[[Handoff], object], status: str
) -> None:
    first = Worker("first", "Reads clauses", run=unsure, fallback="second")
    team = Team("two", workers=(first, Worker("second", "Reads clauses", run=second)))
    answer = Supervisor(team).run_sync(plan=plan(task("a", worker="first")))
    assert answer.tasks[0].attempts == 2, "it was asked"
    assert answer.status == status
    assert len(answer.gaps) == (status == "partial")


def test_a_resumed_run_keeps_the_doubt(tmp_path: Path) -> None:
    done = tmp_path / "done"

    def fails_once(handoff: Handoff) -> str:
        if not done.exists():
            done.touch()
            raise ValueError("not now")
        return "now"

    team = Team("two", workers=(UNSURE, Worker("late", "Is late", run=fails_once)))
    the_plan = plan(task("a", worker="unsure"), task("b", worker="late"))
    supervisor = Supervisor(team, home=tmp_path / "home")
    answer = supervisor.run_sync(plan=the_plan)
    assert [gap.task_id for gap in answer.gaps] == ["a", "b"]
    answer = asyncio.run(resumed(supervisor, answer.run_id, from_task="b"))
    assert_doubted(answer, "a")


def test_what_depends_on_a_doubtful_result_is_told_of_the_doubt() -> None:
    seen: list[str] = []

    def reads(handoff: Handoff) -> str:
        seen.extend(handoff.context[0].missing)
        return "used"

    team = Team("two", workers=(UNSURE, Worker("reader", "Reads on", run=reads)))
    the_plan = plan(task("a", worker="unsure"), task("b", "a", worker="reader"))
    Supervisor(team).run_sync(plan=the_plan)
    assert seen == [DOUBT]
