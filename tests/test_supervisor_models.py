"""Runs with a model, through real HTTP: how the roles meet, and that an answer comes in the end."""

import asyncio

import pytest

from leadhand import InputError, Plan, Supervisor, Task, Team, Worker, events
from leadhand.contracts.events import (
    ConflictFound,
    ConflictJudged,
    Event,
    ModelCalled,
    PlanProposed,
    RunFinished,
    RunStarted,
    SynthesisStarted,
    TaskCompleted,
)
from leadhand.contracts.team import Role, TaskTemplate
from leadhand.events import TextDelta
from leadhand.testing import ScriptedServer
from tests.hanging import run_hanging

REQUEST = "How do the invoices of March compare with those of April?"


@pytest.fixture(name="server")
def _server(model_server: ScriptedServer) -> ScriptedServer:
    return model_server


def team(**more: object) -> Team:
    return Team(
        "support",
        model="openai-chat:scripted",
        workers=(
            Worker("billing", "Invoices and refunds", instructions="You know invoices."),
            Worker("writing", "Writes letters", instructions="You write letters."),
        ),
        **more,  # pyright: ignore[reportArgumentType]
    )


def rule(role: str, **reply: object) -> list[dict[str, object]]:
    return [{"match": {"role": role}, "reply": reply}]


def one_task(worker: str = "billing") -> Plan:
    return Plan(goal=REQUEST, tasks=(Task(id="t1", worker=worker, intent="List the invoices."),))


@pytest.mark.wall_clock
async def test_a_reader_of_events_may_have_what_models_write(server: ScriptedServer) -> None:
    """End users may see the final answer of it."""
    seen: list[Event] = []
    texts: list[TextDelta] = []
    run = await Supervisor(team()).start(REQUEST)
    async for one in run.events(deltas=True):
        if one.type == "text_delta":
            texts.append(one)
        else:
            seen.append(one)
    assert [event async for event in run.events()] == seen
    assert seen[-1].type == "run_finished"
    finished = seen[-1]
    assert isinstance(finished, RunFinished)
    tasks = {task.id for task in finished.answer.tasks}
    assert {(one.role, one.task_id) for one in texts} == {
        ("planner", None), ("synthesizer", None), *(("worker", id) for id in tasks),
    }  # fmt: skip
    shown = [events.public(one) for one in texts]
    final = "".join(one.text for one in texts if one.role == "synthesizer")
    assert final.strip() in finished.answer.answer
    assert final == "".join(str(one["text"]) for one in shown if one)


def test_a_request_is_planned_worked_on_and_answered_by_models(server: ScriptedServer) -> None:
    """Every call is an event, and the answer's figures are what the server counted."""
    events: list[Event] = []
    answer = asyncio.run(Supervisor(team()).run(REQUEST, listener=events.append))
    stats = server.stats()
    calls = [event for event in events if isinstance(event, ModelCalled)]
    assert (answer.status, answer.engine) == ("complete", "model")
    assert stats.by_role["planner"] == stats.by_role["synthesizer"] == 1
    assert answer.metrics.requests == len(calls) == stats.requests
    assert answer.metrics.input_tokens == stats.prompt_tokens
    assert answer.metrics.output_tokens == stats.completion_tokens
    assert answer.metrics.cost_usd is None, "the price of a scripted model is unknown, not zero"
    assert {call.role for call in calls} == {"planner", "worker", "synthesizer"}
    started = events[0]
    assert isinstance(started, RunStarted)
    assert started.models["planner"] == started.models["billing"] == "openai-chat:scripted"


def test_one_task_costs_no_synthesis(server: ScriptedServer) -> None:
    answer = asyncio.run(Supervisor(team()).run(plan=one_task()))
    assert answer.status == "complete"
    assert server.stats().requests == 1


def test_a_model_that_plans_nothing_leaves_the_template(server: ScriptedServer) -> None:
    server.configure(script=rule("planner", misbehave={"401": None}))
    template = (TaskTemplate("list", "billing", "List the invoices that {request} is about."),)
    events: list[Event] = []
    work = Supervisor(team(template=template)).run(REQUEST, listener=events.append)
    answer = asyncio.run(work)
    assert answer.status == "complete"
    assert [event.by for event in events if isinstance(event, PlanProposed)] == ["template"]


def test_without_a_template_a_planner_that_fails_leaves_an_answer_that_says_so(
    server: ScriptedServer,
) -> None:
    server.configure(script=rule("planner", misbehave={"401": None}))
    answer = asyncio.run(Supervisor(team()).run(REQUEST))
    assert answer.status == "failed"
    assert [gap.task_id for gap in answer.gaps] == ["plan"]
    assert "key was refused" in answer.gaps[0].why


def test_a_wrong_model_name_is_told_before_anything_is_spent(server: ScriptedServer) -> None:
    wrong = Team(
        "support",
        model="openai-chat:scripted",
        workers=(Worker("billing", "Invoices", model="nobody:knows"),),
    )
    with pytest.raises(InputError, match="nobody:knows"):
        asyncio.run(Supervisor(wrong).run(REQUEST))
    assert server.stats().requests == 0


def test_a_synthesis_that_is_late_leaves_the_results_at_the_deadline(
    server: ScriptedServer,
) -> None:
    server.configure(script=rule("synthesizer", misbehave={"latency_ms": 60_000}))
    work = Supervisor(team(), deadline_s=2.0).run(plan=two_tasks())
    answer, took_s = run_hanging(work, lambda: "synthesizer" in server.stats().by_role)
    assert answer.status == "partial"
    assert took_s < 2.5
    assert [gap.task_id for gap in answer.gaps] == ["synthesis"]
    assert "was not done by the deadline of 2 s; these are the bare results" in answer.answer
    assert "## t2 (writing)" in answer.answer


def test_work_ends_early_enough_for_the_synthesis(server: ScriptedServer) -> None:
    """A fifth of the time is kept for it: one slow task is a gap, and the answer is a model's."""
    slow = [{"match": {"contains": "refunds"}, "reply": {"misbehave": {"latency_ms": 60_000}}}]
    server.configure(script=slow)
    events: list[Event] = []
    synthesizes = asyncio.Event()

    def listen(event: Event) -> None:
        events.append(event)
        if isinstance(event, SynthesisStarted):
            synthesizes.set()

    def hangs() -> bool:
        done = sum(isinstance(event, TaskCompleted) for event in events)
        return done == 2 and server.stats().requests == 3

    work = Supervisor(team(), deadline_s=2.0).run(plan=two_tasks(last="refunds"), listener=listen)
    answer, took_s = run_hanging(work, hangs, until_set=synthesizes)
    assert answer.status == "partial"
    assert [gap.task_id for gap in answer.gaps] == ["t3"]
    assert server.stats().by_role["synthesizer"] == 1
    assert "bare results" not in answer.answer
    assert took_s == pytest.approx(1.6)


def two_tasks(last: str = "") -> Plan:
    tasks = [
        Task(id="t1", worker="billing", intent="List the invoices of March."),
        Task(id="t2", worker="writing", intent="Draft a letter about invoices."),
    ]
    if last:
        tasks.append(Task(id="t3", worker="billing", intent=f"List the {last} of March."))
    return Plan(goal=REQUEST, tasks=tuple(tasks))


@pytest.mark.wall_clock
@pytest.mark.parametrize("role", ["planner", "synthesizer"])
async def test_a_cancelled_run_does_not_wait_for_a_model(server: ScriptedServer, role: str) -> None:
    server.configure(script=rule(role, misbehave={"latency_ms": 60_000}))
    supervisor = Supervisor(team())
    asked = asyncio.Event()

    def listen(event: Event) -> None:
        waiting = "run_started" if role == "planner" else "synthesis_started"
        if event.type == waiting:
            asked.set()

    run = asyncio.ensure_future(supervisor.run(REQUEST, listener=listen))
    await asked.wait()
    supervisor.cancel()
    answer = await run
    assert answer.status == "cancelled"


def test_contradictions_are_events_and_stand_in_the_answer(server: ScriptedServer) -> None:
    said = {
        "answer": "March is 100 [t1] or 120 [t2].",
        "confidence": 40,
        "contradictions": [
            {"task_ids": ["t1", "t2"], "about": "March", "resolution": None, "why": "two sources"}
        ],
    }
    server.configure(script=rule("synthesizer", json=said))
    events: list[Event] = []
    work = Supervisor(team()).run(plan=two_tasks(), listener=events.append)
    answer = asyncio.run(work)
    assert [conflict.task_ids for conflict in answer.conflicts] == [("t1", "t2")]
    found = [event.conflict for event in events if isinstance(event, ConflictFound)]
    judged = [event.conflict for event in events if isinstance(event, ConflictJudged)]
    assert [conflict.why for conflict in found] == ["two sources"]
    assert judged == list(answer.conflicts)


def test_roles_may_have_models_and_settings_of_their_own(server: ScriptedServer) -> None:
    own = team(
        planner=Role(model="openai-chat:wise", settings={"temperature": 0.1}),
        synthesizer=Role(model="openai-chat:fluent"),
    )
    asyncio.run(Supervisor(own).run(REQUEST))
    models = {body["role"]: body["body"] for body in server.stats().bodies}
    assert models["planner"]["model"] == "wise"  # pyright: ignore
    assert models["planner"]["temperature"] == 0.1  # pyright: ignore
    assert models["synthesizer"]["model"] == "fluent"  # pyright: ignore
    assert models["worker"]["model"] == "scripted"  # pyright: ignore
