"""The context of a run reaches its workers, nested ones too, and is made again on resume."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from pydantic import JsonValue
from pydantic_ai import RunContext
from pydantic_ai.toolsets import FunctionToolset

from leadhand import (
    Handoff,
    InputError,
    Supervisor,
    Team,
    TeamError,
    ToolContext,
    Worker,
)
from tests.handles import resumed
from tests.in_process import InProcess
from tests.stored import store_of

SECRET = "sk-this-is-nobodys-business"


@dataclass
class Customer:
    """Not data that could be stored: pydantic never sees it."""

    id: str
    secret: str = SECRET


@dataclass
class Subscriber(Customer):
    """A customer as well."""


class Named(Protocol):
    """What can't be checked."""

    id: str


def shown(handoff: Handoff[Customer]) -> str:
    """The context and the origin that a worker receives."""
    return f"{handoff.run_context.id}, {handoff.origin}"


def team(run: object = shown) -> Team:
    """One worker."""
    return Team("desk", workers=(Worker("clerk", "Answers", run=run),))  # pyright: ignore[reportArgumentType, reportCallIssue]


def nested() -> Team:
    """One worker, two levels down."""
    middle = Team("middle", workers=(Worker("inner", "Answers", team=team()),))
    return Team("outer", workers=(Worker("outer", "Answers", team=middle),))


@pytest.mark.parametrize("made", [team(), nested()], ids=["team", "nested"])
def test_workers_receive_the_context_and_the_origin(made: Team) -> None:
    supervisor = Supervisor(made, context_type=Customer)
    answer = supervisor.run_sync("who?", context=Customer("c9"), origin={"ticket": 7})
    assert "c9, {'ticket': 7}" in answer.answer


@pytest.mark.wall_clock
async def test_runs_at_once_have_each_their_own_context() -> None:
    supervisor = Supervisor(team(), context_type=Customer)
    runs = [supervisor.run("who?", context=Customer(id)) for id in ("c1", "c2")]
    assert [one.answer.split(",")[0][-2:] for one in (await asyncio.gather(*runs))] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (None, "this supervisor's runs have a context: give `context`, a Customer"),
        ("c9", "context is a str; it must be a Customer"),
    ],
)
def test_a_context_of_another_type_is_refused_at_the_start(given: Any, error: str) -> None:
    with pytest.raises(InputError) as raised:
        Supervisor(team(), context_type=Customer).run_sync("who?", context=given)
    assert str(raised.value) == error


@pytest.mark.parametrize("kind", [Customer, Named, object, None])
def test_a_subclass_and_what_cannot_be_checked_are_accepted(kind: Any) -> None:
    supervisor: Supervisor[Any] = Supervisor(team(), context_type=kind)
    assert "c9" in supervisor.run_sync("who?", context=Subscriber("c9")).answer


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"context_type": "Customer"}, "context_type is 'Customer'; it must be a class"),
        ({"restore": Customer("c9")}, "restore is a Customer; it must be callable"),
    ],
)
def test_rules_about_contexts_are_checked_with_the_supervisor(
    options: dict[str, Any], error: str
) -> None:
    with pytest.raises(InputError, match=error):
        Supervisor(team(), **options)


def find(ctx: ToolContext[Subscriber], month: str) -> str:
    """Takes a narrower context."""
    return ctx.context.id + month


def refund(ctx: RunContext[ToolContext["Invoice"]], order: str) -> str:
    """A tool of pydantic-ai."""
    return ctx.deps.context.id + order


@dataclass
class Invoice:
    """No customer."""

    id: str


def anybody(ctx: ToolContext, month: str) -> str: ...
def untyped(ctx: ToolContext[Any], month: str) -> str: ...
def named(ctx: ToolContext[Named], month: str) -> str: ...
def customer(ctx: ToolContext[Customer], month: str) -> str: ...


def with_tools(*tools: object) -> Team:
    """A team whose worker has the tools, two levels down."""
    inner = Team("inner", workers=[Worker("clerk", "Answers", tools=tools, offline=shown)])
    return Team("outer", workers=[Worker("nested", "Answers", team=inner)])


def test_every_tool_with_another_context_is_a_problem_of_the_team() -> None:
    made = with_tools(find, FunctionToolset([refund]), customer)
    with pytest.raises(TeamError) as raised:
        Supervisor(made, context_type=Customer)
    found = "worker 'clerk': the context of the tool '{}' is a {}, and that of this supervisor's "
    assert raised.value.problems == (
        found.format("find", "Subscriber") + "runs a Customer",
        found.format("refund", "Invoice") + "runs a Customer",
    )


def test_tools_fit_that_take_the_context_or_a_wider_one_or_what_cannot_be_checked() -> None:
    made = with_tools(anybody, untyped, named, customer, len, "search_files")
    for kind in (Customer, Subscriber):
        Supervisor(made, context_type=kind)


def test_without_a_type_of_context_tools_may_take_any() -> None:
    Supervisor(with_tools(find, customer))


# A resumed run


def by_origin(origin: Mapping[str, JsonValue]) -> Customer:
    """A customer made again."""
    return Customer(f"{origin['customer']} again")


async def by_origin_later(origin: Mapping[str, JsonValue]) -> Customer:
    """The same, from a database for example."""
    await asyncio.sleep(0)
    return by_origin(origin)


def repeated(home: Path, *, context: Customer | None = None, **options: Any) -> str:
    """What the task of a run with a context gives when it is done again by another supervisor."""
    first = Supervisor(team(), context_type=Customer, home=home)
    first.run_sync("who?", context=Customer("c9"), origin={"customer": "c9"})
    (run,) = store_of(first).runs()
    second: Supervisor[Any] = Supervisor(team(), home=home, **options)
    return asyncio.run(resumed(second, run.run_id, from_task="clerk", context=context)).answer


@pytest.mark.parametrize("restore", [by_origin, by_origin_later])
def test_a_resumed_run_has_the_context_that_is_restored_from_its_origin(
    tmp_path: Path, restore: Any
) -> None:
    assert "c9 again, " in repeated(tmp_path, context_type=Customer, restore=restore)


def test_a_resumed_run_has_the_context_that_it_is_given(tmp_path: Path) -> None:
    given = Customer("c7")
    assert "c7, " in repeated(tmp_path, context=given, context_type=Customer, restore=by_origin)


@pytest.mark.parametrize("options", [{}, {"context_type": Customer}])
def test_a_run_that_had_a_context_is_not_resumed_without(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="needs a context, and contexts are not stored: resume it"):
        repeated(tmp_path, **options)


@pytest.mark.parametrize("restored", [None, "c9"])
def test_what_is_restored_has_to_be_a_context(tmp_path: Path, restored: object) -> None:
    kind = type(restored).__name__
    with pytest.raises(InputError, match=f"what restore returned is a {kind}; it must be a Custo"):
        repeated(tmp_path, context_type=Customer, restore=lambda origin: restored)  # pyright: ignore[reportUnknownLambdaType]


def test_a_restore_that_raises_is_named(tmp_path: Path) -> None:
    def restore(origin: Mapping[str, JsonValue]) -> Customer:
        raise LookupError("no such customer")

    with pytest.raises(InputError, match="restore raised LookupError: no such customer"):
        repeated(tmp_path, context_type=Customer, restore=restore)


def test_the_command_line_says_who_can_resume_a_run_with_a_context(
    tmp_path: Path, in_process: InProcess
) -> None:
    supervisor = Supervisor(team(), context_type=Customer, home=tmp_path)
    answer = supervisor.run_sync("who?", context=Customer("c9"))
    file = tmp_path / "desk_with_context.py"
    file.write_text("from tests.run.test_context import team\nteam = team()\n")
    words = [answer.run_id, "--from", "clerk", "--team", str(file), "--home", str(tmp_path)]
    ended = in_process("resume", *words)
    assert ended.status == 2
    assert "needs a context" in ended.err


def test_a_run_that_is_over_gives_its_answer_without_a_context(tmp_path: Path) -> None:
    first = Supervisor(team(), context_type=Customer, home=tmp_path)
    answer = first.run_sync("who?", context=Customer("c9"))
    later = resumed(Supervisor(team(), context_type=Customer, home=tmp_path), answer.run_id)
    assert asyncio.run(later).answer == answer.answer


# Secrets


def test_a_context_is_neither_stored_nor_logged_nor_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    handoffs: list[Handoff[Customer]] = []
    events: list[object] = []

    def fail(handoff: Handoff[Customer]) -> str:
        """Fails with the context at hand."""
        handoffs.append(handoff)
        assert handoff.run_context.secret == SECRET
        raise ValueError("no")

    def listen(event: object) -> None:
        events.append(event)

    caplog.set_level("DEBUG")
    supervisor = Supervisor(team(fail), context_type=Customer, home=tmp_path)
    given = Customer("c9")
    answer = asyncio.run(supervisor.run("who?", context=given, listener=listen))
    (handoff,) = handoffs
    seen = [caplog.text, repr(events), answer.model_dump_json(), repr(handoff), str(handoff)]
    seen += [handoff.model_dump_json(), repr(handoff.model_dump())]
    files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert events
    assert files
    assert not any(SECRET in text for text in seen)
    assert not any(SECRET.encode() in content for content in files)


def test_handoffs_are_compared_without_their_contexts() -> None:
    class Never:
        """What can't be compared, as an array can't."""

        def __eq__(self, other: object) -> bool:
            raise AssertionError

    handoff: Handoff[Never] = Handoff(
        run_id="r", task_id="t", attempt=1, from_agent="a", to_agent="b", intent="i",
        return_to="a", run_context=Never(),
    )  # fmt: skip
    assert handoff == handoff.model_copy(update={"run_context": Never()})
    assert handoff != handoff.model_copy(update={"intent": "other"})
    assert handoff != "handoff"
