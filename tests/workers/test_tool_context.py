"""Tools of every kind receive the run's context and the call's key, which no model sees."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import FunctionToolset

from leadhand import Answer, InputError, Reply, Supervisor, Team, ToolContext
from leadhand.contracts.people import Question
from leadhand.contracts.tools import unwrapped
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Object, items, mapping
from tests.models.asking import OPENAI
from tests.workers.model_runs import bodies, call, calls, final, one_task, said, steps, worker

SECRET = "sk-this-is-nobodys-business"


@dataclass
class Customer:
    """What pydantic can't make a schema of, and no model sees."""

    id: str
    secret: str = SECRET


Context = ToolContext[Customer]


def with_context(seen: list[Context]) -> list[object]:
    """A tool of every kind that takes a context, and appends it."""

    def plain(ctx: ToolContext[Customer], month: str) -> str:
        """Finds an invoice."""
        seen.append(ctx)
        return month

    async def plain_async(ctx: "ToolContext[Customer]", month: str) -> str:
        """Finds an invoice."""
        seen.append(ctx)
        return month

    def of_pydantic_ai(ctx: RunContext[ToolContext[Customer]], month: str) -> str:
        """Finds an invoice."""
        seen.append(ctx.deps)
        return month

    class Method:
        """A tool that is a method."""

        def find(self, ctx: ToolContext[Customer], month: str) -> str:
            """Finds an invoice."""
            seen.append(ctx)
            return month

    toolset = FunctionToolset[ToolContext[Customer]]()
    toolset.add_function(of_pydantic_ai, name="in_toolset")
    return [plain, plain_async, Method().find, Tool(of_pydantic_ai), of_pydantic_ai, toolset]


def offered(server: ScriptedServer) -> dict[str, Object]:
    """The parameters of the tools that the model was offered, by tool."""
    tools = [mapping(mapping(one).get("function")) for one in items(bodies(server)[0].get("tools"))]
    return {str(one["name"]): mapping(one.get("parameters")) for one in tools}


def answered(tool: object, *, ask: Any = None) -> Answer:
    """The answer of a worker with one tool."""
    team = Team("desk", workers=(worker(tools=(tool,)),), model=OPENAI)
    supervisor = Supervisor(
        team, context_type=Customer, synthesizer=Merge(), person=ask, approve=["escalation"]
    )
    return asyncio.run(supervisor.run(plan=one_task(), run_id="r", context=Customer("c9")))


@pytest.mark.parametrize("index", range(6))
def test_a_tool_receives_the_context_of_its_run(model_server: ScriptedServer, index: int) -> None:
    seen: list[Context] = []
    tool = with_context(seen)[index]
    (name,) = [str(one.name) for one in unwrapped(tool)]
    model_server.configure(script=steps(call(name, month="May"), final("done")))
    assert answered(tool).status == "complete"
    (ctx,) = seen
    assert (ctx.context.id, ctx.run_id, ctx.task_id, ctx.attempt) == ("c9", "r", "t1", 1)
    assert len(ctx.idempotency_key) == 32
    assert not ctx.approved
    assert [*mapping(offered(model_server)[name]["properties"])] == ["month"]
    assert SECRET not in repr(ctx) + json.dumps(bodies(model_server))


def first(ctx: ToolContext[Customer], month: str) -> str:
    """Finds an invoice."""
    return month


def second(month: str, ctx: ToolContext[Customer]) -> str:
    """Finds an invoice."""
    return month


TOOLSET = FunctionToolset[None]([first])


@pytest.mark.parametrize("tool", [Tool(first), second, TOOLSET, TOOLSET.prefixed("a")])
def test_a_context_that_the_model_could_choose_is_refused(
    model_server: ScriptedServer, tool: object
) -> None:
    with pytest.raises(InputError, match="takes 'ctx' as an argument from the model, but it is a "):
        answered(tool)
    assert model_server.stats().requests == 0


# Keys


class Refund(BaseModel):
    """The only argument of a tool, whose fields the model is offered as the tool's own."""

    order: str
    idempotency_key: str


def keyed(seen: list[str]) -> list[object]:
    """A tool of every kind that takes a key, and appends it."""

    def refund(order: str, idempotency_key: str) -> str:
        """Pays money back."""
        seen.append(idempotency_key)
        return "paid"

    async def refund_async(order: str, idempotency_key: str = "") -> str:
        """Pays money back."""
        return refund(order, idempotency_key)

    def refund_model(given: Refund) -> str:
        """Pays money back."""
        return refund(given.order, given.idempotency_key)

    refund_async.__name__ = refund_model.__name__ = "refund"
    toolset = FunctionToolset[None]([refund])
    return [refund, refund_async, Tool(refund), Tool(refund_model), toolset, toolset.filtered(_any)]


def _any(*_: object) -> bool:
    return True


@pytest.mark.parametrize("index", range(6))
def test_the_key_is_ours_whatever_the_model_sends(model_server: ScriptedServer, index: int) -> None:
    seen: list[str] = []
    made = [("refund", {"order": "o1", "idempotency_key": key}) for key in ("mine", "mine")]
    script = steps(calls(*made), call("refund", order="o2"), final("done"))
    model_server.configure(script=script)
    answer = answered(keyed(seen)[index])
    assert answer.status == "complete"
    assert len({*seen}) == 3
    assert all(len(key) == 32 for key in seen)
    assert [*mapping(offered(model_server)["refund"]["properties"])] == ["order"]
    assert offered(model_server)["refund"]["required"] == ["order"]
    assert not any("nvalid" in text for text in said(bodies(model_server)[-1], "tool"))


def asked(*verdicts: str) -> tuple[Callable[[Question], Any], list[Question]]:
    """A person who says this, one after the other, and what they were asked."""
    questions: list[Question] = []

    async def ask(question: Question) -> Reply:
        questions.append(question)
        return Reply.model_validate({"verdict": verdicts[len(questions) - 1]})

    return ask, questions


def test_an_approved_tool_is_called_with_our_key_and_knows_of_the_approval(
    model_server: ScriptedServer,
) -> None:
    seen: list[tuple[str, bool, str]] = []

    def refund(ctx: RunContext[ToolContext[Customer]], order: str, idempotency_key: str) -> str:
        """Pays money back."""
        seen.append((idempotency_key, ctx.deps.approved, ctx.deps.idempotency_key))
        return "paid"

    ask, questions = asked("approved")
    script = steps(call("refund", order="o1", idempotency_key="mine"), final("done"))
    model_server.configure(script=script)
    answer = answered(Tool(refund, requires_approval=True), ask=ask)
    ((key, approved, same),) = seen
    assert (answer.status, approved, key) == ("complete", True, same)
    assert len(key) == 32
    assert "mine" not in questions[0].text
