"""Where no model can be had, workers that have code of their own do what they can, and say so."""

import asyncio
import dataclasses
from pathlib import Path

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel

from leadhand import Answer, Budget, Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, PlanProposed, TaskFailed
from leadhand.contracts.team import RetryRules, TaskTemplate
from leadhand.testing import ScriptedServer, run_virtual
from tests.hanging import run_hanging

REQUEST = "What do the notes say?"


def count(handoff: Handoff) -> str:
    return f"{len(handoff.artifacts)} notes counted by {handoff.to_agent}"


def notes(**fields: object) -> Team:
    """A team of models that can do without."""
    return Team(
        "notes",
        model="openai-chat:scripted",
        workers=(
            Worker("reader", "Reads notes", instructions="Read.", offline=count),
            Worker("writer", "Writes", instructions="Write.", offline=count),
        ),
        template=(
            TaskTemplate("read", "reader", "Read what bears on {request}."),
            TaskTemplate("write", "writer", "Write it up.", depends_on=("read",)),
        ),
        retry=RetryRules(backoff_s=(0.01,)),
        **fields,  # pyright: ignore[reportArgumentType]
    )


def run(team: Team, *, plan: Plan | None = None, **options: object) -> tuple[Answer, list[Event]]:
    events: list[Event] = []
    supervisor = Supervisor(team, **options)  # pyright: ignore[reportArgumentType]
    answer = asyncio.run(supervisor.run(REQUEST, plan=plan, listener=events.append))
    return answer, events


def done_by_code(answer: Answer) -> None:
    """All was done, by code, and the answer says first that it lacks a model."""
    assert answer.status == "partial"
    assert {task.status for task in answer.tasks} == {"completed"}
    assert [gap.task_id for gap in answer.gaps] == ["model"]
    assert "without a model code did read, write" in answer.gaps[0].why
    assert answer.answer.index("What is missing") < answer.answer.index("counted by writer")


def test_an_endpoint_that_refuses_everything_leaves_what_code_can_do(
    model_server: ScriptedServer,
) -> None:
    model_server.reset(faults={"401": 1.0})
    answer, events = run(notes())
    done_by_code(answer)
    assert "key was refused" in answer.gaps[0].why
    assert [event.by for event in events if isinstance(event, PlanProposed)] == ["template"]
    assert model_server.stats().requests == 1, "nobody else asked in vain"


def test_so_does_a_budget_that_does_not_reach_for_a_plan(model_server: ScriptedServer) -> None:
    answer, _ = run(notes(), budget=Budget(tokens=300))
    done_by_code(answer)
    assert answer.ended_by == "budget"
    assert model_server.stats().requests == 0


def test_a_model_too_slow_to_plan_leaves_time_for_code(model_server: ScriptedServer) -> None:
    model_server.reset(latency_ms=60_000)
    work = Supervisor(notes(), deadline_s=1.5).run(REQUEST)
    answer, took_s = run_hanging(work, lambda: model_server.stats().requests == 1)
    assert took_s <= 1.5
    done_by_code(answer)
    assert answer.ended_by == "deadline"
    assert answer.gaps[0].why.startswith("no plan came in ")


PLAN = Plan(
    goal=REQUEST,
    tasks=(
        Task(id="read", worker="reader", intent="Read the notes on growth."),
        Task(id="write", worker="writer", intent="Write up what they say.", depends_on=("read",)),
    ),
)


def test_an_endpoint_that_dies_under_way_is_given_one_more_chance() -> None:
    """In virtual time: a call waits, and is made again, before its task is."""

    def dead(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise ModelHTTPError(500, "dead")

    events: list[Event] = []
    supervisor = Supervisor(dataclasses.replace(notes(), model=FunctionModel(dead)))
    answer = run_virtual(supervisor.run(REQUEST, plan=PLAN, listener=events.append))
    assert {task.status for task in answer.tasks} == {"completed"}
    assert {task.attempts for task in answer.tasks} == {2}
    assert [event.transient for event in events if isinstance(event, TaskFailed)] == [True, True]
    assert "HTTP 500" in answer.gaps[0].why


def test_a_budget_used_up_under_way_is_not(model_server: ScriptedServer) -> None:
    answer, _ = run(notes(), plan=PLAN, budget=Budget(tokens=300))
    done_by_code(answer)
    assert {task.attempts for task in answer.tasks} == {1}


def test_a_task_that_names_no_files_is_shown_all_that_was_handed_in(tmp_path: Path) -> None:
    """A model that planned did not know them; its plan may be carried out without one."""
    (tmp_path / "a.md").write_text("one")
    (tmp_path / "b.md").write_text("two")
    team = dataclasses.replace(notes(), model=None)
    files = [tmp_path / "a.md", tmp_path / "b.md"]
    answer = asyncio.run(Supervisor(team).run(REQUEST, plan=PLAN, inputs=files))
    assert answer.status == "complete"
    assert "2 notes counted by reader" in answer.answer


@pytest.mark.parametrize("run_by", ["function", "model"])
def test_where_somebody_has_no_code_models_go_on_being_asked(
    model_server: ScriptedServer, run_by: str
) -> None:
    rule = {"match": {"role": "planner"}, "reply": {"misbehave": {"401": None}}}
    model_server.configure(script=[rule])
    workers = (
        Worker("reader", "Reads notes", instructions="Read.", offline=count),
        Worker("writer", "Writes", run=count)
        if run_by == "function"
        else Worker("writer", "Writes", instructions="Write."),
    )
    answer, _ = run(dataclasses.replace(notes(), workers=workers))
    assert (answer.metrics.requests > 1) == (run_by == "model")
