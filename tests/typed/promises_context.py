"""Promised types of a run's context, checked by `test_types.py` and never run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_type

from pydantic import JsonValue
from pydantic_ai import Agent, RunContext, Tool
from pydantic_ai.toolsets import FunctionToolset

from leadhand import Answer, Handoff, Run, Supervisor, Team, ToolContext, Worker


class Database:
    def invoices(self, customer: str, month: str) -> list[str]:
        return [customer, month]


@dataclass
class Customer:
    id: str
    database: Database


def find_invoice(ctx: ToolContext[Customer], month: str) -> str:
    assert_type(ctx.context, Customer)
    return str(ctx.context.database.invoices(ctx.context.id, month))


def refund(ctx: RunContext[ToolContext[Customer]], order: str, idempotency_key: str) -> str:
    assert_type(ctx.deps.context, Customer)
    return ctx.deps.context.id


def count(handoff: Handoff[Customer]) -> int:
    assert_type(handoff.run_context, Customer)
    return len(handoff.run_context.id)


def bare(handoff: Handoff) -> str:
    assert_type(handoff.run_context, object)
    return handoff.intent


def helper(handoff: Handoff) -> str:
    return handoff.intent


def uses_helper(handoff: Handoff[Customer]) -> str:
    return helper(handoff)


def deps(handoff: Handoff[Customer]) -> Database:
    return handoff.run_context.database


def load(origin: Mapping[str, JsonValue]) -> Customer:
    return Customer(str(origin["customer"]), Database())


async def load_later(origin: Mapping[str, JsonValue]) -> Customer:
    return load(origin)


agent = Agent(deps_type=Database)
own = Agent(deps_type=ToolContext[Customer])
toolset = FunctionToolset[ToolContext[Customer]]([refund])
team = Team(
    "support",
    workers=[
        Worker(
            "billing", "Invoices", instructions="...", tools=[find_invoice, Tool(refund), toolset]
        ),
        Worker("count", "Counts", run=count),
        Worker("bare", "Counts", run=bare),
        Worker("uses", "Counts", run=uses_helper),
        Worker("agent", "Answers", run=agent, deps=deps),
        Worker("agent2", "Answers", run=agent, deps=lambda handoff: handoff.run_context),
        Worker("agent3", "Answers", run=agent, deps=lambda handoff: (handoff.task_id, handoff.key)),
        Worker("own", "Answers", run=own),
    ],
)
supervisor = Supervisor(team, context_type=Customer, restore=load)
assert_type(supervisor, Supervisor[Customer])
later = Supervisor(team, context_type=Customer, restore=load_later)
assert_type(later, Supervisor[Customer])
plain = Supervisor(team)
assert_type(plain, Supervisor[object])
explicit = Supervisor[Customer](team, context_type=Customer)
inline = Supervisor(team, context_type=Customer, restore=lambda origin: load(origin))
assert_type(inline, Supervisor[Customer])


def takes(supervisor: Supervisor) -> None: ...


async def main() -> Answer:
    customer = Customer("c9", Database())
    answer = await supervisor.run("...", context=customer, origin={"customer": "c9"})
    run = supervisor.handle(answer.run_id)
    assert_type(run, Run[Customer])
    await run.resume(context=customer)
    await run.resume(context="c9")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    started = await supervisor.start("...", context=customer)
    async for event in started.events():
        print(event)
    await plain.run("...")
    await supervisor.run("...", context="c9")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    takes(plain)
    return answer
