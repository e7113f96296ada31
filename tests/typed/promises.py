"""The promised names with their types. `test_types` has both checkers read it; nothing runs it.

A line that ends in ignore comments must be an error for both: mypy reads `type: ignore`, pyright
`pyright: ignore`.
"""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import assert_type

from pydantic import BaseModel, JsonValue
from pydantic_ai import Agent
from typing_extensions import TypedDict

import leadhand
from leadhand import (
    Answer,
    Budget,
    Completed,
    Event,
    Handoff,
    Journal,
    Ladder,
    Limits,
    Outcome,
    Plan,
    Reply,
    Result,
    Retry,
    Role,
    Route,
    Run,
    RunExists,
    RunInterrupted,
    RunSummary,
    RunView,
    Supervisor,
    Task,
    TaskTemplate,
    Team,
    ToolContext,
    Worker,
    events,
)
from leadhand.contracts.budget import Rate
from leadhand.contracts.people import CallReply
from leadhand.events import TaskCompleted
from leadhand.extension import load
from leadhand.testing import ScriptedServer


class Letter(BaseModel):
    subject: str


@dataclass
class Customer:
    id: int


class Row(TypedDict):
    month: str


# Teams


def count(handoff: Handoff) -> int:
    assert_type(handoff.inputs_as(int), dict[str, int])
    return len(handoff.intent.split())


async def names(handoff: Handoff) -> Outcome:
    found: list[str] = handoff.intent.split()
    return Completed(result=Result(output=found, evidence=found, missing=[]))


def find_invoice(ctx: ToolContext[Customer], month: str) -> str:
    assert_type(ctx.context, Customer)
    assert_type(ctx.approved, bool)
    return f"{ctx.context.id} {month} {ctx.idempotency_key}"


def work(handoff: Handoff[Customer]) -> int:
    assert_type(handoff.run_context, Customer)
    return handoff.run_context.id


workers: list[Worker] = [
    Worker("count", "Counts words", run=count, retry=Retry(on=[OSError], attempts=2)),
    Worker("names", "Finds names", run=names, output=list[str], limits=Limits(timeout_s=2)),
    Worker("work", "Knows its customer", run=work),
    Worker("billing", "Invoices", instructions="...", tools=[find_invoice], tier="strong"),
]
team = Team(
    "desk",
    workers=workers,
    output=Letter,
    model="openai:gpt-5-mini",
    models={"fast": ["openai:gpt-5-nano", "openai:gpt-5-mini"]},
    planner=Role(tier="strong"),
    routes=[Route("count", words=["count"])],
    ladder=Ladder(failed=["retry", "fallback"]),
    template=[TaskTemplate("a", "count", "{request}", depends_on=[])],
    rates={"openai:gpt-5-mini": Rate(rpm=60)},
    shared_tools=["find_invoice"],
)
Worker("count", "Counts", tools=find_invoice)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
Worker("count", "Counts", tier="large")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
Worker("count", "Counts", timeout_s=2)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
Team("desk", workers=[team])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
print(leadhand.Sypervisor)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]

tasks: list[Task] = [Task(id="a", worker="count", intent="Count", depends_on=["b"], tools=["x"])]
plan = Plan(goal="Count", tasks=tasks)
assert_type(plan.tasks[0].depends_on, Sequence[str])
Task(id="a", worker="count")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


# Who does a worker's work: a model, a function, a pydantic-ai agent, another agent or a team


def whoever(run: Callable[[Handoff], int] | None, inner: Team | None, doer: Agent) -> None:
    Worker("any", "Counts", run=run, tools=["calculate"])
    Worker("any", "Counts", team=inner)
    Worker("any", "Counts", run=doer, deps=lambda handoff: handoff.key, isolate="none")
    Worker("any", "Counts", agent="crew:app", tools=["calculate"], offline=count)
    Worker("any", "Counts", tools=[find_invoice, "calculate"], offline=count, isolate="process")


Worker("two", "Counts", run=count, team=team)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
Worker("two", "Counts", run=count, agent="crew:app")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
Worker("two", "Counts", agent="crew:app", team=team)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
Worker("two", "Counts", team=team, offline=count)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
Worker("own", "Counts", run=count, tools=[find_invoice])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType, reportCallIssue]
Worker("own", "Counts", agent="crew:app", tools=[find_invoice])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType, reportCallIssue]
Worker("own", "Counts", team=team, tools=[find_invoice])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType, reportCallIssue]
Worker("deps", "Counts", deps=count)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
Worker("deps", "Counts", agent="crew:app", deps=count)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
Worker("deps", "Counts", team=team, deps=count)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
Worker("apart", "Counts", agent="crew:app", isolate="process")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]


# Runs


def seen(event: Event) -> None:
    match event:
        case TaskCompleted():
            assert_type(event.result, Result)
        case events.RunFinished():
            assert_type(event.answer, Answer)
        case _:
            pass


async def seen_later(event: Event) -> None: ...


async def runs(journal: Journal, summary: RunSummary) -> None:
    supervisor = Supervisor(team, deadline_s=600, budget=Budget(usd=1.0, tokens=200_000))
    answer = await supervisor.run("Which month?", listener=seen)
    assert_type(answer, Answer[Letter])
    assert_type(answer.output_as(), Letter | None)
    assert_type(answer.output_as(Letter), Letter | None)
    assert_type(answer.output_as(Row), Row | None)
    assert_type(answer.output_as(list[str]), list[str] | None)
    answer.output_as("Letter")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    print(answer.output_as(Letter).subject)  # type: ignore[union-attr]  # pyright: ignore[reportOptionalMemberAccess]
    assert_type(answer.tasks[0].output_bytes, int | None)
    await supervisor.run("Which month?", listener=seen_later)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert_type(await supervisor.plan("..."), Plan)
    run = await supervisor.start("Which month?", run_id="mine", if_exists="join")
    assert_type(run.id, str)
    stream: AsyncIterator[Event] = run.events(after_seq=0)
    async for event in stream:
        seen(event)
    assert_type(await run.answer(), Answer[Letter])
    assert_type(await run.resume(from_task="a"), None)
    assert_type(supervisor.run_sync(plan=plan, deadline_s=5), Answer[Letter])
    await supervisor.start("...", colour="red")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    assert_type(summary.run_id, str)
    Supervisor(team, journal=journal)


async def one_run(supervisor: Supervisor[Customer], reply: Reply) -> None:
    origin = {"customer": 4711}
    own = Customer(4711)
    budget = Budget(usd=0.1)
    assert_type(
        await supervisor.run(
            "...",
            context=own,
            origin=origin,
            deadline_s=5,
            budget=budget,
            inputs=["notes.txt"],
            run_id="mine",
            if_exists="join",
        ),
        Answer,
    )
    await supervisor.run("...", run_id="mine", if_exists="maybe")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    run = supervisor.handle("mine")
    view = await run.view()
    assert_type(view, RunView)
    assert_type(view.answer, Answer | None)
    assert_type(await supervisor.runs(status="waiting", team="t", origin=origin), list[RunSummary])
    await supervisor.runs(status="done")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    async for event in run.events(after_seq=3):
        assert_type(event, Event)
    await run.resume(deadline_s=5, budget=budget, context=own)
    await run.reply(reply, reply, deadline_s=5, budget=budget, context=own)
    assert_type(await run.answer(), Answer)
    await supervisor.ready()
    assert_type(await supervisor.resume_interrupted(), list[str])
    supervisor.cancel()
    await run.cancel("not needed")
    try:
        await supervisor.shutdown(grace_s=10, mode="cancel")
    except (RunExists, RunInterrupted) as error:
        assert_type(error.run_id, str)
    Supervisor(team, max_concurrency=200)


async def contexts() -> None:
    supervisor = Supervisor(team, context_type=Customer, restore=lambda origin: Customer(4711))
    assert_type(supervisor, Supervisor[Customer, Letter])
    await supervisor.run("...", context=Customer(4711), origin={"customer": 4711})
    await supervisor.run("...", context="4711")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def outputs(folder: Path, schema: dict[str, object]) -> None:
    assert_type(Team("t", output=list[str]), Team[list[str]])
    assert_type(Team("t", output=Row), Team[Row])
    assert_type(Team("t", output=schema), Team)
    Team("t", output=Letter | None)
    Team("t", output="Letter")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    any_team: Team = Team("t", output=Letter)
    Worker("any", "Any", team=any_team)
    any_answer: Answer = await Supervisor(Team("t", output=Letter)).run("...")
    assert_type(any_answer.output, JsonValue)
    loaded = Supervisor(load(folder))
    assert_type(loaded, Supervisor[object, JsonValue])
    assert_type(loaded.handle("mine"), Run[object, JsonValue])
    assert_type((await loaded.run("...")).output_as(), JsonValue | None)


async def backend(supervisor: Supervisor[Customer], ticket: dict[str, str]) -> None:
    customer = Customer(4711)
    started = await supervisor.run(
        "...",
        context=customer,
        origin=ticket,
        deadline_s=5,
        budget=Budget(usd=0.1),
        inputs=["notes.md"],
        run_id="key",
        if_exists="join",
    )
    assert_type(started, Answer)
    await supervisor.run("...", if_exists="ignore")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    run = supervisor.handle("key")
    view = await run.view()
    assert_type(view, RunView)
    assert_type(view.answer, Answer | None)
    found = await supervisor.runs(
        status="waiting", team="desk", origin=ticket, limit=10, cursor=view.run_id
    )
    assert_type(found, list[RunSummary])
    await supervisor.runs(status="done")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    async for event in run.events(after_seq=3):
        assert_type(event.seq, int)
    for question in view.questions:
        for call in question.calls:
            assert_type((call.tool, call.worker), tuple[str, str])
            json.dumps(call.arguments)
        replies = {call.id: CallReply(approved=False, reason="no") for call in question.calls}
        reply = Reply(task_id=question.task_id, calls=replies)
        await run.reply(reply, resume=False)
        await run.reply(reply, context=customer)
        await run.reply(Reply(verdict="approved"), Reply(calls={"id": True}))
    try:
        await run.resume(context=customer)
    except (RunExists, RunInterrupted) as error:
        assert_type(error.run_id, str)
    await supervisor.ready()
    await run.cancel("the customer left")
    await supervisor.shutdown(grace_s=10, mode="interrupt")
    await supervisor.shutdown(mode="kill")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert_type(await supervisor.resume_interrupted(), list[str])
    await supervisor.close()


# Tests of users


def asked(server: ScriptedServer) -> None:
    first, *_ = server.requests(role="worker")
    assert_type(list(first), list[str])
    rules = [{"match": {"role": "worker"}, "reply": {"text": "Hello"}}]
    ScriptedServer(rules)
