"""What can't work is refused in one line where it is written, and not when a run needs it."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from pydantic import BaseModel, RootModel
from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import FunctionToolset

from leadhand import (
    Completed,
    Handoff,
    InputError,
    Outcome,
    Result,
    Supervisor,
    TaskTemplate,
    Team,
    ToolContext,
    Worker,
    WorkerFactory,
)


class Letter(BaseModel):
    subject: str


exec("def untyped(ctx, month: str) -> str: return month", made := dict[str, Callable[..., str]]())
untyped = made["untyped"]


class Formal(Letter):
    pass


@dataclass
class Number:
    value: int


def typed(ctx: ToolContext, month: str) -> str:
    """Looks a month up."""
    return f"{month} {ctx.run_id}"


def explicit(ctx: RunContext[None], month: str) -> str:
    """Looks a month up."""
    return month


@pytest.mark.parametrize(
    "tool",
    [
        untyped,
        Tool(untyped, takes_ctx=False),
        FunctionToolset[None]([Tool(untyped, takes_ctx=False)]),
        FunctionToolset[None]([Tool(untyped, takes_ctx=False)]).prefixed("x").approval_required(),
    ],
)
def test_a_tool_whose_ctx_has_no_type_is_refused(tool: object) -> None:
    with pytest.raises(InputError, match="the model would fill `ctx` of the tool 'untyped'") as no:
        Worker("a", "Looks up", tools=[tool])
    assert "\n" not in str(no.value)
    with pytest.raises(InputError, match="the model would fill `ctx` of the tool 'untyped'"):
        WorkerFactory([tool])


def test_a_tool_whose_ctx_has_a_type_is_not() -> None:
    taken = Tool(untyped, takes_ctx=True)
    Worker("a", "Looks up", tools=[typed, Tool(explicit), taken, FunctionToolset([explicit])])


def test_a_function_with_tools_is_refused() -> None:
    with pytest.raises(InputError, match=r"^Worker 'a': `tools` are for the team's model.*$"):
        Worker("a", "Looks up", run=str, tools=[typed])  # pyright: ignore[reportArgumentType, reportCallIssue]
    Worker("a", "Looks up", offline=str, tools=[typed])
    with pytest.raises(InputError, match=r"^Worker 'a': .* here `team` does the work, .*$"):
        Worker("a", "Looks up", team=Team("t"), tools=[typed])  # pyright: ignore[reportArgumentType, reportCallIssue]
    Worker("a", "Looks up", run=str, tools=["read_file"])  # a file may name what it uses


@pytest.mark.parametrize(
    "name", ["topic", "Request", "input_1", " request ", "request!r", "request.id", "a-b"]
)
def test_a_template_with_an_unknown_placeholder_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=rf"^TaskTemplate 'a': nothing fills \{{{name}\}} .*$"):
        TaskTemplate("a", "worker", f"Write about {{{name}}} for {{request}}")


def test_known_placeholders_and_other_braces_are_not() -> None:
    TaskTemplate("a", "w", 'In {batch} of {batches}, {count}: {names}. {request} {} {"a": 1}')


@pytest.mark.parametrize(
    ("written", "intent"),
    [
        ("Fetch {{id}} of {request}", "Fetch {id} of {id} {{x}}"),
        ("{{request}}", "{request}"),
        ("{{{id}}}", "{{id}}"),
        ('{"a": {"b": {request}}}', '{"a": {"b": {id} {{x}}}}'),
    ],
)
def test_doubled_braces_are_a_literal_placeholder(written: str, intent: str) -> None:
    def intent_of(handoff: Handoff) -> str:
        return handoff.intent

    team = Team(
        "t",
        workers=[Worker("a", "Does it", run=intent_of)],
        template=[TaskTemplate("a", "a", written)],
    )
    assert Supervisor(team).run_sync("{id} {{x}}").output == intent


def number(handoff: Handoff) -> int:
    return 1


async def formal(handoff: Handoff) -> Formal:
    return Formal(subject="x")


def mapping(handoff: Handoff) -> dict[str, str]:
    return {"subject": "x"}


def outcome(handoff: Handoff) -> Outcome:
    return Completed(result=Result(output={"subject": "x"}))


def completed(handoff: Handoff) -> Completed:
    return Completed(result=Result(output={"subject": "x"}))


def result(handoff: Handoff) -> Result:
    return Result(output={"subject": "x"})


def bare(handoff: Handoff):  # pyright: ignore[reportUnknownParameterType]
    return {"subject": "x"}


def several(handoff: Handoff) -> list[Letter]:
    return []


def nothing(handoff: Handoff) -> None:
    return None


def other(handoff: Handoff) -> Number:
    return Number(1)


@pytest.mark.parametrize(
    ("work", "shown"),
    [(number, "int"), (other, "Number"), (several, "list"), (nothing, "NoneType"), (str, None)],
)
def test_an_output_that_the_only_worker_does_not_return_is_refused_without_a_model(
    work: object, shown: str | None
) -> None:
    worker = Worker("w", "Works", run=work)  # pyright: ignore[reportArgumentType, reportCallIssue]
    if shown is None:
        Team("t", workers=[worker], output=Letter)
        return
    said = rf"^Team 't': its output is Letter, and worker 'w' returns {shown}: .*$"
    with pytest.raises(InputError, match=said):
        Team("t", workers=[worker], output=Letter)
    Team("t", workers=[worker], output=Letter, model="openai:gpt-5-mini")
    first = Worker("first", "Works", run=formal)
    Team("t", workers=[first, worker], output=Letter)
    with pytest.raises(InputError, match=said):
        Team("t", workers=[first, worker], output=Letter, synthesis="last")
    entries = [TaskTemplate("a", "w", "{request}"), TaskTemplate("b", "first", "{request}")]
    Team("t", workers=[first, worker], output=Letter, synthesis="last", template=entries)


@pytest.mark.parametrize("work", [formal, mapping, outcome, completed, result, bare])
def test_an_output_that_the_only_worker_may_return_is_not(work: object) -> None:
    worker = Worker("w", "Works", run=work)  # pyright: ignore[reportArgumentType, reportCallIssue]
    answer = Supervisor(Team("t", workers=[worker], output=Letter)).run_sync("A letter")
    assert (answer.status, answer.output) == ("complete", {"subject": "x"})


class Names(RootModel[str]):
    pass


def test_an_output_with_a_root_is_any_value() -> None:
    def name(handoff: Handoff) -> str:
        return "Ada"

    team = Team("t", workers=[Worker("w", "Works", run=name)], output=Names)
    assert Supervisor(team).run_sync("A name").output == "Ada"
