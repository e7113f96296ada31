"""Any toolset of pydantic-ai works in a worker, and is opened and closed as it expects."""

import asyncio
import gc
import json
import weakref
from collections.abc import Callable
from typing import Self

import pytest
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.messages import InstructionPart
from pydantic_ai.tools import RunContext, Tool, ToolDefinition
from pydantic_ai.toolsets import ExternalToolset, FunctionToolset

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.outcome import Escalated
from leadhand.contracts.team import RetryRules
from leadhand.contracts.tools import ToolContext
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json
from leadhand.threads import DaemonThreads
from leadhand.workers.toolsets import toolset_of
from tests.models.asking import OPENAI
from tests.plans.samples import plan, task
from tests.workers.model_runs import (
    attempted,
    bodies,
    call,
    calls,
    final,
    handoff,
    inside,
    run,
    said,
    steps,
    team,
    told,
    tools,
    worker,
)

# Any toolset


class Counting(FunctionToolset[None]):
    """A toolset that counts how often it is opened and closed."""

    def __init__(self) -> None:
        super().__init__([self.tower])
        self.opened = 0
        self.closed = 0

    def tower(self) -> str:
        """How high the tower is."""
        assert self.opened > self.closed
        return "324 m"

    async def __aenter__(self) -> Self:
        self.opened += 1
        return self

    async def __aexit__(self, *args: object) -> None:
        self.closed += 1


def test_a_toolset_is_opened_once_a_run_however_many_tasks_use_it(
    model_server: ScriptedServer,
) -> None:
    toolset = Counting()
    tasks = tuple(Task(id=f"t{n}", worker="surveyor", intent=f"Measure {n}") for n in range(3))
    model_server.configure(script=steps(call("tower"), final("done")))
    done = run(team(worker(tools=(toolset.prefixed("old"),))), Plan(goal="g", tasks=tasks))
    assert done.answer.status == "complete"
    assert (toolset.opened, toolset.closed) == (1, 1)


class PerRun(Counting):
    """A toolset that makes itself anew for each attempt."""

    made: list["PerRun"]

    def __init__(self, made: list["PerRun"]) -> None:
        super().__init__()
        self.made = made

    async def for_run(self, ctx: RunContext[None]) -> "PerRun":
        own = PerRun(self.made)
        self.made.append(own)
        return own


def test_a_toolset_that_makes_itself_anew_is_opened_for_each_attempt(
    model_server: ScriptedServer,
) -> None:
    made: list[PerRun] = []
    tasks = tuple(Task(id=f"t{n}", worker="surveyor", intent=f"Measure {n}") for n in range(3))
    model_server.configure(script=steps(call("tower"), final("done")))
    done = run(team(worker(tools=(PerRun(made),))), Plan(goal="g", tasks=tasks))
    assert done.answer.status == "complete"
    assert [(one.opened, one.closed) for one in made] == [(1, 1)] * 3


def test_toolsets_are_prefixed_filtered_and_given_the_context(model_server: ScriptedServer) -> None:
    seen: list[tuple[str | None, int, str | None]] = []

    def look(ctx: RunContext[None], at: str) -> str:
        """Looks at something."""
        seen.append((ctx.tool_name, ctx.run_step, str(ctx.prompt)))
        return f"saw {at}"

    def burn(ctx: RunContext[None]) -> str:
        """Burns it."""
        raise AssertionError

    def harmless(ctx: RunContext[None], tool: ToolDefinition) -> bool:
        return tool.name != "burn"

    toolset = FunctionToolset[None]([look, burn]).filtered(harmless).prefixed("old")
    model_server.configure(
        script=steps(calls(("old_look", {"at": "it"}), ("old_burn", {})), final("done"))
    )
    done = run(team(worker(tools=(toolset,))))
    assert done.answer.status == "complete"
    assert [name for name in tools(bodies(model_server)[0]) if name.startswith("old")] == [
        "old_look"
    ]
    assert inside(told(model_server)[0]) == "saw it"
    assert "There is no tool 'old_burn'" in told(model_server)[1]
    assert [(name, step) for name, step, _ in seen] == [("old_look", 1)] or seen[0][1] == 1


def approved() -> object:
    def demolish(building: str) -> str:
        """Takes a building down."""
        raise AssertionError("nobody allowed it")

    return FunctionToolset[None]([demolish]).approval_required()


def external() -> object:
    return ExternalToolset[None](
        [
            ToolDefinition(
                name="demolish",
                parameters_json_schema={
                    "type": "object",
                    "properties": {"building": {"type": "string"}},
                },
            )
        ]
    )


def deferring() -> object:
    def demolish(building: str) -> str:
        """Takes a building down."""
        raise CallDeferred

    return FunctionToolset[None]([demolish])


@pytest.mark.parametrize("make", [approved, external, deferring])
@pytest.mark.parametrize("side_by_side", [False, True])
def test_a_tool_that_needs_a_person_hands_the_task_back(
    model_server: ScriptedServer, make: Callable[[], object], side_by_side: bool
) -> None:
    def look() -> str:
        """Looks."""
        return "seen"

    made: list[tuple[str, dict[str, Json]]] = [("demolish", {"building": "tower"})]
    if side_by_side:
        made.insert(0, ("look", {}))
    model_server.configure(script=steps(calls(*made)))
    outcome = asyncio.run(attempted(worker(tools=(look, make())), handoff()))
    assert isinstance(outcome, Escalated)
    assert outcome.reason == "ambiguous_input"
    whose = "a person's approval" if make is approved else "a person"
    assert outcome.message == f'demolish needs {whose}: {{"building": "tower"}}'
    assert (outcome.paused is not None) == (make is approved)


def test_what_a_toolset_says_of_itself_follows_the_workers_instructions(
    model_server: ScriptedServer,
) -> None:
    def look() -> str:
        """Looks."""
        return "seen"

    first = FunctionToolset[None]([look], instructions="Look twice.")

    class Speaking(Counting):
        async def get_instructions(self, ctx: RunContext[None]) -> list[InstructionPart]:
            return [InstructionPart("Mind the gap."), InstructionPart("Wear a hat.")]

    run(team(worker(tools=(first, Speaking()))))
    system = said(bodies(model_server)[0], "system")[0]
    assert system.startswith("You survey buildings.")
    assert all(text in system for text in ("Look twice.", "Mind the gap.", "Wear a hat."))


def test_two_tools_of_one_name_are_an_error_in_words(model_server: ScriptedServer) -> None:
    def look() -> str:
        """Looks."""
        return "seen"

    done = run(team(worker(tools=(look, FunctionToolset[None]([look])))))
    assert "its tools can't be used" in done.gap
    assert "'look'" in done.gap
    assert model_server.stats().requests == 0


def test_the_model_is_offered_the_schema_of_a_plain_typed_function(
    model_server: ScriptedServer,
) -> None:
    def measure(floor: int, unit: str = "m") -> str:
        """Measures a floor.

        Args:
            floor: counted from the ground
            unit: metres by default
        """
        return "3 m"

    run(team(worker(tools=(measure,)), model=OPENAI))
    offered = json.dumps(bodies(model_server)[0]["tools"])
    assert "counted from the ground" in offered
    assert "Measures a floor." in offered


class Unreachable(FunctionToolset[None]):
    """A toolset whose server is not there."""

    async def __aenter__(self) -> Self:
        """Fails, as a connection does."""
        raise ExceptionGroup("two ways were tried", [OSError("connection refused")])


def test_tools_that_do_not_start_fail_the_tasks_of_their_worker_alone(
    model_server: ScriptedServer,
) -> None:
    """F38: there is an answer in every case."""
    model_server.configure(script=steps(final("done")))
    both = Team(
        "t",
        model=OPENAI,
        workers=(worker(tools=(Unreachable([]),)), Worker("other", "does the rest")),
        retry=RetryRules(backoff_s=(0.0,)),
    )
    two = plan(task("t1", worker=both.workers[0].name), task("t2", worker="other"))
    answer = asyncio.run(Supervisor(both).run(plan=two))
    assert {one.id: one.status for one in answer.tasks} == {"t1": "failed", "t2": "completed"}
    assert "did not start" in answer.gaps[0].why
    assert "connection refused" in answer.gaps[0].why or "two ways" in answer.gaps[0].why


def test_the_schema_of_a_function_is_made_once_and_does_not_keep_it_alive() -> None:
    def tool_in(function: Callable[..., object]) -> Tool[ToolContext]:
        (toolset,) = toolset_of([function], DaemonThreads()).toolsets
        assert isinstance(toolset, FunctionToolset)
        return toolset.tools["look"]

    def look(query: str) -> str:
        """Look it up."""
        return query

    first, second = tool_in(look), tool_in(look)
    assert first.function_schema.json_schema is second.function_schema.json_schema
    assert first.function is not second.function
    alive = weakref.ref(look)
    del look, first, second
    gc.collect()
    assert alive() is None


def test_a_method_and_its_function_have_schemas_of_their_own() -> None:
    class Shelf:
        def look(self, query: str) -> str:
            """Look it up."""
            return query

    def arguments(function: Callable[..., object]) -> list[str]:
        (toolset,) = toolset_of([function], DaemonThreads()).toolsets
        assert isinstance(toolset, FunctionToolset)
        return [*toolset.tools["look"].function_schema.json_schema["properties"]]

    assert arguments(Shelf.look) == ["self", "query"]
    assert arguments(Shelf().look) == ["query"]
    assert arguments(Shelf().look) == ["query"]
