"""The type of a team's answer: asked for, checked, and a gap where the output does not fit."""

import asyncio
import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from leadhand import (
    Answer,
    Handoff,
    InputError,
    Plan,
    Role,
    Supervisor,
    Task,
    Team,
    TeamError,
    Worker,
)
from leadhand.contracts.answer import MAX_REPORTED_BYTES, Synthesis
from leadhand.contracts.outcome import TaskResult
from leadhand.teams.loader import load
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json
from tests.handles import resumed
from tests.plans.samples import plan, task
from tests.synthesis.deliberation import rule, script
from tests.team_folders import problems, write_team

MODEL = "openai-chat:scripted"


class Letter(BaseModel):
    """What the teams of these tests answer with."""

    subject: str
    sent: dt.date = dt.date(2026, 5, 1)
    sender: str = Field(default="us", alias="from")


class Both(TypedDict):
    """The outputs of two tasks by id."""

    a: Letter
    b: str


def letter(handoff: Handoff) -> Letter:
    return Letter(subject=handoff.intent)


def note(handoff: Handoff) -> str:
    return "a note"


LETTERS = Worker("letters", "Writes letters", run=letter, output=Letter)
NOTES = Worker("notes", "Writes notes", run=note)
SCRIPTED: Json = {"answer": "It is written [a].", "output": {"subject": "Hello", "from": "them"}}


def answer_of(*tasks: Task, synthesis: str = "merge", **team: object) -> Answer:
    """The answer of a team of both workers to a plan of these tasks."""
    fields = {"workers": (LETTERS, NOTES), "output": Letter, **team}
    the_plan = plan(*tasks).model_copy(update={"synthesis": synthesis})
    return Supervisor(Team("desk", **fields)).run_sync(plan=the_plan)  # pyright: ignore[reportArgumentType]


@pytest.mark.wall_clock
async def test_an_answer_knows_the_type_of_its_team_whoever_reads_it(tmp_path: Path) -> None:
    team = Team("desk", workers=[LETTERS], output=Letter)
    answer: Answer[Letter] = await Supervisor(team, home=tmp_path).run("Hello")
    assert isinstance(answer.output_as(), Letter)
    run = Supervisor(team, home=tmp_path).handle(answer.run_id)
    read = await run.answer()
    assert (read, read.output_as()) == (answer, answer.output_as(Letter))
    assert (await run.view()).answer == answer


@pytest.mark.parametrize("output", [None, {"type": "object", "required": ["subject"]}])
def test_without_a_declared_type_the_output_is_the_data_as_it_is(output: object) -> None:
    answer = answer_of(task("a", worker="letters"), output=output)
    assert answer.output is not None
    assert answer.output_as() is answer.output


def test_the_output_of_a_single_task_is_the_answers_and_an_instance_of_the_type() -> None:
    answer = answer_of(task("a", worker="letters"))
    assert (answer.status, answer.output) == (
        "complete",
        {"subject": "work on part a", "sent": "2026-05-01", "sender": "us"},
    )
    assert answer.output_as(Letter) == Letter(subject="work on part a")
    assert Answer.model_validate_json(answer.model_dump_json()).output_as(Letter) is not None
    with pytest.raises(InputError, match=r"is no int: output: Input should be a valid integer$"):
        answer.output_as(int)


def test_merged_outputs_may_be_the_type_by_task_id() -> None:
    tasks = (task("a", worker="letters"), task("b", worker="notes"))
    answer = answer_of(*tasks, output=Both)
    found = answer.output_as(Both)
    assert found is not None
    assert (found["a"].subject, found["b"], answer.status) == (
        "work on part a",
        "a note",
        "complete",
    )


@pytest.mark.parametrize("declared", [Letter, Letter.model_json_schema()])
def test_what_does_not_fit_is_no_output_but_a_gap_and_the_text_stays(declared: object) -> None:
    answer = answer_of(task("a", worker="notes"), output=declared)
    assert (answer.status, answer.output, answer.output_as(Letter)) == ("partial", None, None)
    (gap,) = answer.gaps
    assert gap.task_id == "output"
    assert gap.why.startswith("the answer has no output of the type Letter: output: ")
    assert answer.answer.endswith("a note")


def test_a_run_without_any_result_has_only_its_own_gaps() -> None:
    def fails(handoff: Handoff) -> Letter:
        raise ValueError("no paper")

    answer = answer_of(task("a", worker="bad"), workers=[Worker("bad", "Fails", run=fails)])
    assert (answer.status, [gap.task_id for gap in answer.gaps]) == ("failed", ["a"])


def test_a_resumed_run_gives_the_same_output_and_the_same_gap(tmp_path: Path) -> None:
    async def twice(worker: str) -> tuple[Answer, Answer]:
        supervisor = Supervisor(
            Team("desk", workers=[LETTERS, NOTES], output=Letter), home=tmp_path
        )
        first = await supervisor.run(plan=plan(task("a", worker=worker)))
        return first, await resumed(supervisor, first.run_id)

    first, again = asyncio.run(twice("letters"))
    assert again.output_as(Letter) == first.output_as(Letter) == Letter(subject="work on part a")
    first, again = asyncio.run(twice("notes"))
    assert (again.output, again.gaps, again.status) == (None, first.gaps, "partial")


def test_the_model_is_asked_for_the_type_and_its_answer_is_converted(
    model_server: ScriptedServer,
) -> None:
    script(model_server, rule("synthesizer", json=SCRIPTED))
    answer = answer_of(task("a", worker="letters"), task("b", worker="notes"), model=MODEL)
    assert answer.output_as(Letter) == Letter.model_validate({"subject": "Hello", "from": "them"})
    assert (answer.status, answer.answer) == ("complete", "It is written [a].")
    (asked,) = model_server.requests(role="synthesizer")
    assert '"subject"' in str(asked["tools"]).replace("'", '"')


def test_the_model_may_repair_an_output_that_does_not_fit(model_server: ScriptedServer) -> None:
    wrong: Json = {"answer": "Here.", "output": {"sent": "May"}}
    script(
        model_server,
        {**rule("synthesizer", json=wrong), "times": 1},
        rule("synthesizer", json=SCRIPTED),
    )
    answer = answer_of(task("a", worker="letters"), task("b", worker="notes"), model=MODEL)
    assert answer.status == "complete"
    _, repaired = model_server.requests(role="synthesizer")
    assert "output.subject: Field required" in str(repaired)
    assert "output.sent: Input should be a valid date" in str(repaired)


def test_a_model_that_never_gives_the_type_leaves_its_text_and_a_gap(
    model_server: ScriptedServer,
) -> None:
    script(model_server, rule("synthesizer", json={"answer": "Just text.", "output": 5}))
    answer = answer_of(task("a", worker="letters"), task("b", worker="notes"), model=MODEL)
    assert (answer.status, answer.output) == ("partial", None)
    assert [gap.task_id for gap in answer.gaps] == ["output"]
    assert answer.answer.endswith("Just text.")
    assert len(model_server.requests(role="synthesizer")) == 3


@pytest.mark.parametrize(("worker", "asked"), [("letters", 0), ("notes", 1)])
@pytest.mark.parametrize("synthesis", ["merge", "select", "last"])
def test_one_task_needs_no_synthesis_only_if_its_worker_declares_the_type(
    model_server: ScriptedServer, worker: str, asked: int, synthesis: str
) -> None:
    script(model_server, rule("synthesizer", json=SCRIPTED))
    answer = answer_of(task("a", worker=worker), model=MODEL, synthesis=synthesis)
    assert answer.status == "complete"
    assert len(model_server.requests()) == asked


def test_select_writes_the_answer_if_a_candidate_may_not_be_of_the_type(
    model_server: ScriptedServer,
) -> None:
    script(model_server, rule("synthesizer", json=SCRIPTED))
    tasks = (task("a", worker="letters"), task("b", worker="notes"))
    assert answer_of(*tasks, model=MODEL, synthesis="select").output_as(Letter) is not None
    assert len(model_server.requests(role="synthesizer")) == 1
    tasks = (task("a", worker="letters"), task("b", worker="letters"))
    assert answer_of(*tasks, model=MODEL, synthesis="select").output_as(Letter) is not None
    assert len(model_server.requests(role="judge")) == 1


@pytest.mark.parametrize("model", [None, MODEL])
def test_the_last_tasks_result_is_the_answer_with_a_model_too(
    model_server: ScriptedServer, model: str | None
) -> None:
    tasks = (task("a", worker="notes"), task("b", "a", worker="letters"))
    for declared in (None, Letter):
        answer = answer_of(*tasks, synthesis="last", output=declared, model=model)
        assert answer.output_as(Letter) == Letter(subject="work on part b")
    assert model_server.stats().requests == 0
    ends = (task("a", worker="notes"), task("b", worker="letters"))
    answer = answer_of(*ends, synthesis="last", output=None, model=model)
    assert model_server.stats().by_role == ({"synthesizer": 1} if model else {})
    assert answer.status == "complete"


def test_a_model_plans_one_last_task_if_its_result_is_the_answer(
    model_server: ScriptedServer,
) -> None:
    team = Team("desk", workers=[LETTERS, NOTES], model=MODEL, synthesis="last")
    the_plan = asyncio.run(Supervisor(team).plan("Write to her"))
    assert the_plan.synthesis == "last"
    assert "exactly one task is the last" in str(model_server.requests(role="planner"))


class Own:
    """A synthesizer that knows a strategy of its own."""

    name = "own"
    calls_model = False

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return self.by_code(plan, results)

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return Synthesis(answer=plan.synthesis, output={"subject": "own"})


def test_a_misspelt_synthesis_is_refused_unless_a_synthesizer_may_know_it() -> None:
    team = Team("desk", workers=[LETTERS], synthesis="lastt", output=Letter)
    with pytest.raises(TeamError, match="no synthesis 'lastt': did you mean 'last'"):
        Supervisor(team)
    outer = Team("outer", workers=[Worker("desk", "Writes", team=team)])
    with pytest.raises(TeamError, match="in team 'desk': there is no synthesis 'lastt'"):
        Supervisor(outer, synthesizer=Own())
    answer = Supervisor(team, synthesizer=Own()).run_sync("Write")
    assert (answer.answer, answer.output_as(Letter)) == ("lastt", Letter(subject="own"))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"output": "Letter"}, "the output of the team can't be used: 'Letter' is not a data type"),
        ({"output": Letter, "synthesizer": Role(plain=True)}, "the synthesizer is plain"),
    ],
)
def test_an_output_that_nothing_can_give_is_a_problem_of_the_team(
    fields: dict[str, object], said: str
) -> None:
    with pytest.raises(TeamError, match=said):
        Supervisor(Team("desk", workers=[LETTERS], **fields))  # pyright: ignore[reportArgumentType]


def test_a_nested_team_declares_the_type_of_its_worker(model_server: ScriptedServer) -> None:
    inner = Team("desk", workers=[LETTERS], output=Letter)
    outer = Team("outer", workers=[Worker("desk", "Writes", team=inner)], output=Letter)
    answer = Supervisor(outer).run_sync("Hello")
    assert answer.output_as(Letter) == Letter(subject="Hello")
    the_plan = plan(task("a", worker="desk"))
    with_model = Team("outer", workers=outer.workers, output=Letter, model=MODEL)
    assert Supervisor(with_model).run_sync(plan=the_plan).output_as(Letter) is not None
    assert model_server.stats().requests == 0


def test_each_tasks_output_is_in_the_answer_unless_it_is_large() -> None:
    def large(handoff: Handoff) -> str:
        return "x" * MAX_REPORTED_BYTES

    workers = [LETTERS, NOTES, Worker("large", "Writes much", run=large)]
    names = ("letters", "notes", "large")
    answer = answer_of(*(task(name, worker=name) for name in names), workers=workers, output=None)
    found = {one.id: (one.output, one.output_bytes) for one in answer.tasks}
    assert found["notes"] == ("a note", None)
    assert found["letters"] == (
        Letter(subject="work on part letters").model_dump(mode="json"),
        None,
    )
    assert found["large"] == (None, MAX_REPORTED_BYTES + 2)


@pytest.mark.parametrize(
    "written",
    [
        "output: tests.run.test_typed_output:Letter",
        "output:\n  type: object\n  required: [subject]\n  properties: {subject: {type: string}}",
    ],
)
def test_a_folder_names_a_class_or_has_a_json_schema(tmp_path: Path, written: str) -> None:
    team = load(write_team(tmp_path, f"name: mine\n{written}\n"))
    assert team.output is Letter or isinstance(team.output, dict)
    answer = Supervisor(team).run_sync("Write")
    assert [gap.task_id for gap in answer.gaps] == ["output"]


def test_a_wrong_output_of_a_folder_is_a_problem_with_its_line(tmp_path: Path) -> None:
    folder = write_team(tmp_path, "name: mine\noutput: tests.run.test_typed_output:Lettr\n")
    (problem,) = problems(folder)
    assert problem.startswith("team.yaml:2: module 'tests.run.test_typed_output' has no 'Lettr'")
    assert "did you mean 'Letter'" in problem


def test_a_function_takes_the_outputs_of_its_dependencies_as_a_type() -> None:
    def subjects(handoff: Handoff) -> list[str]:
        return [one.subject for one in handoff.inputs_as(Letter).values()]

    workers = [LETTERS, NOTES, Worker("subjects", "Lists subjects", run=subjects)]
    tasks = [task("a", worker="letters"), task("b", "a", worker="subjects")]
    answer = answer_of(*tasks, workers=workers, output=list[str], synthesis="last")
    assert answer.output_as(list[str]) == ["work on part a"]
    tasks[0] = task("a", worker="notes")
    (_, failed) = answer_of(*tasks, workers=workers, output=None).tasks
    assert (failed.status, failed.attempts) == ("failed", 1)
