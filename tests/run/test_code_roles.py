"""Planners and synthesizers that a team has as code, with and without a model."""

import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from leadhand import Plan, Role, Supervisor, Team, Worker
from leadhand.contracts.events import PlanProposed
from leadhand.errors import InputError, TeamError
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand.journal import MemoryJournal
from leadhand.testing import ScriptedModel
from tests.cli.program import leadhand
from tests.handles import resumed
from tests.run.code_team import STEPS, plan, plan_later, words, write_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_folder(tmp_path / "words")
    return tmp_path


@pytest.mark.parametrize("planner", [plan, plan_later])
def test_code_plans_and_writes_the_answer(planner: object) -> None:
    answer = Supervisor(words(planner)).run_sync("one three")
    assert (answer.answer, answer.output, answer.status) == ("8 letters in all", [3, 5], "complete")
    assert answer.engine == "deterministic"
    assert [task.id for task in answer.tasks] == ["t0", "t1"]


def test_with_a_model_only_the_workers_ask_it() -> None:
    model = ScriptedModel(script=[{"reply": {"json": {"answer": "7", "confidence": 90}}}])
    team = words(workers=[Worker("counter", "Counts")], model=model.model)
    answer = Supervisor(team).run_sync("one three")
    assert (answer.answer, answer.engine) == ("14 letters in all", "model")
    assert model.stats().requests == 2


def test_a_nested_team_has_its_own_code() -> None:
    outer = Team("outer", workers=[Worker("inner", "Counts words", team=words())])
    answer = Supervisor(outer).run_sync("one three")
    assert "8 letters in all" in answer.answer
    assert answer.output == [3, 5]


def test_an_object_decides_round_by_round() -> None:
    answer = Supervisor(words(STEPS)).run_sync("count")
    assert (answer.output, answer.status) == ([7, 7], "complete")


async def test_a_supervisors_own_roles_replace_the_teams() -> None:
    class Other:
        name = "other"
        calls_model = False

        async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
            return Synthesis(answer="another answer")

        def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
            return Synthesis(answer="")

    supervisor = Supervisor(words(STEPS), planner=_Planner(), synthesizer=Other())
    answer = await supervisor.run("one")
    assert (answer.answer, len(answer.tasks)) == ("another answer", 1)


class _Planner:
    name = "own"
    plan = staticmethod(plan_later)


def test_an_object_with_a_plan_is_a_planner() -> None:
    journal = MemoryJournal()
    Supervisor(words(_Planner()), journal=journal).run_sync("one", run_id="r")
    (proposed,) = [one for one in journal.store.events("r") if isinstance(one, PlanProposed)]
    assert proposed.by == "own"


async def test_a_run_with_inputs_that_its_planner_refuses_has_failed_and_is_not_tried_again() -> (
    None
):
    supervisor = Supervisor(words(), journal=MemoryJournal())
    run = await supervisor.start("nothing", run_id="r")
    with pytest.raises(InputError, match="no word was handed in"):
        await run.answer()
    (known,) = await supervisor.runs()
    assert known.status == "failed"
    view = await supervisor.handle("r").view()
    assert view.answer is not None
    assert [gap.why for gap in view.answer.gaps] == ["no word was handed in: write one"]
    assert await supervisor.resume_interrupted() == []


async def test_rounds_that_code_decides_are_resumed_with_the_same_team() -> None:
    journal = MemoryJournal()
    answer = await Supervisor(words(STEPS), journal=journal).run("fails later", run_id="r")
    assert answer.status == "partial"
    assert "the planner steps failed: ValueError: no idea" in answer.answer
    resumed_answer = await resumed(Supervisor(words(STEPS), journal=journal), "r")
    assert resumed_answer.status == "partial"
    with pytest.raises(InputError, match="decided by 'steps'"):
        await resumed(Supervisor(words(), journal=journal), "r")


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (
            "fails",
            r"the planner tests.run.code_team:plan failed: ValueError: no idea \(at .*:\d+\)",
        ),
        ("wrong type", "plan returned dict, and has to return a Plan"),
        ("unsound", "the planner tests.run.code_team:plan gave no valid plan: .*'nobody'"),
    ],
)
def test_a_planning_function_that_fails_is_named(request_: str, why: str) -> None:
    # With offline code in all workers, there would be a plan without the function.
    team = words(workers=[Worker("counter", "Counts", offline=len)])
    answer = Supervisor(team).run_sync(request_)
    assert (answer.status, answer.tasks) == ("failed", ())
    assert re.search(why, answer.gaps[0].why)
    assert "\n" not in answer.gaps[0].why


def test_an_answering_function_that_fails_leaves_the_bare_results() -> None:
    answer = Supervisor(words()).run_sync("answer fails")
    assert answer.status == "partial"
    why = answer.gaps[0].why
    assert why.startswith("the synthesis failed: tests.run.code_team:answer failed: KeyError")
    assert "t0" in answer.answer


def test_an_answering_function_that_does_not_return_does_not_hold_the_run() -> None:
    hold = threading.Event()

    def never(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        hold.wait()
        return Synthesis(answer="")

    try:
        answer = Supervisor(words(synthesizer=never), deadline_s=0.5).run_sync("one")
    finally:
        hold.set()
    assert answer.status == "partial"
    assert "by the deadline of 0.5 s" in answer.gaps[0].why


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"planner": Role(run=plan, kind="ahead")}, "is code and has the kind `ahead`"),
        (
            {"planner": Role(run=len)},
            "can't be called with two arguments, the request and the team",
        ),
        ({"planner": Role(run=7)}, "of type int; write a function, or an object with `plan` or"),
        ({"synthesizer": Role(run=Synthesis)}, "it is a class; write a function"),
        ({"judge": Role(run=plan)}, "the judge can't be code"),
        ({"critic": Role()}, "no critic can send back"),
    ],
)
def test_what_cannot_be_combined_or_called_is_refused(more: dict[str, object], why: str) -> None:
    with pytest.raises(TeamError, match=why):
        Supervisor(replace(words(), **more))  # pyright: ignore[reportArgumentType]


def test_a_folder_names_its_code(folder: Path) -> None:
    done = leadhand("run", "one three", "--team", "words", folder=folder)
    assert (done.status, done.out.splitlines()[0]) == (0, "8 letters in all")
    done = leadhand("run", "x", "--team", "words", "--input", "words", folder=folder)
    assert done.out.splitlines()[0] == f"{len(str(folder / 'words'))} letters in all"
    planned = leadhand("plan", "one three", "--team", "words", folder=folder)
    assert planned.out.startswith("one three\n2 tasks for 1 worker\n")
    shown = leadhand("teams", "show", "words", folder=folder)
    assert "by code_team:plan, with or without a model" in shown.out
    assert "synthesizer  run: code_team:answer" in shown.out


def test_an_input_error_of_the_planning_function_ends_the_run_in_one_line(folder: Path) -> None:
    for command in ("run", "plan"):
        done = leadhand(command, "nothing", "--team", "words", folder=folder)
        assert (done.status, done.out) == (2, "")
        assert done.err.splitlines()[-1] == "leadhand: no word was handed in: write one"


def test_a_plan_that_fails_is_said_in_one_line(folder: Path) -> None:
    done = leadhand("plan", "fails", "--team", "words", folder=folder)
    last = done.err.splitlines()[-1]
    assert last.startswith("leadhand: the planner code_team:plan failed: ValueError: no")
    done = leadhand("plan", "unsound", "--team", "words", folder=folder)
    assert "code_team:plan gave no valid plan" in done.err.splitlines()[-1]


def test_cases_are_measured_with_code_that_plans(folder: Path) -> None:
    case = '{"request": "one three", "answer": {"output": [3, 5], "status": "complete"}}'
    (folder / "cases.jsonl").write_text(case, encoding="utf-8")
    done = leadhand("eval", "words", "--cases", "cases.jsonl", folder=folder)
    assert done.status == 0, done.err


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("planner: {run: 'code_team:gone'}", "has no 'gone'"),
        ("planner: {run: 'code_team:count'}", "team.yaml:1: .* can't be the planner"),
        ("planner: {kind: ahead, run: 'code_team:plan'}", "has the kind `ahead`"),
    ],
)
def test_the_check_of_a_folder_says_what_is_wrong_with_its_code(
    folder: Path, line: str, why: str
) -> None:
    (folder / "words" / "team.yaml").write_text(line, encoding="utf-8")
    done = leadhand("teams", "check", "words", folder=folder)
    assert done.status == 2
    assert re.search(why, done.out)
