"""A team with rules for whose a request is uses them for tasks that were handed back, too."""

import asyncio
import io

import pytest
from rich.console import Console

from leadhand import Escalated, Handoff, Supervisor, Team, Worker
from leadhand.cli.live.lines import PlainLines
from leadhand.cli.runs.history_text import history_lines
from leadhand.contracts.events import Event, PlanAccepted, TaskEscalated, TaskReassigned
from leadhand.contracts.team import Route
from leadhand.trace.run_history import RunHistory
from tests.routing.routers import small_router


def not_mine(handoff: Handoff) -> Escalated:
    return Escalated(reason="out_of_scope", message="this is about the app")


def solved(handoff: Handoff) -> str:
    return f"solved by {handoff.to_agent}"


def desk(**fields: object) -> Team:
    """Billing is asked first about charges, and hands everything back."""
    return Team(
        "desk",
        workers=(
            Worker("billing", "Invoices", run=not_mine),
            Worker("sales", "Offers", run=not_mine),
            Worker("technical", "The app", run=solved),
        ),
        routes=(Route("billing", words=("charged",)), Route("technical", words=("crashes",))),
        **fields,  # pyright: ignore[reportArgumentType]
    )


def test_without_a_model_the_rules_say_who_gets_a_task_that_was_handed_back() -> None:
    events: list[Event] = []
    work = Supervisor(desk()).run("I was charged and the app crashes", listener=events.append)
    answer = asyncio.run(work)
    assert answer.status == "complete"
    assert answer.answer == "solved by technical"
    [reassigned] = [event for event in events if isinstance(event, TaskReassigned)]
    assert reassigned.worker == "technical"
    assert "billing ended with out_of_scope" in reassigned.reason
    assert answer.metrics.requests == 0


def test_where_no_rule_takes_the_task_the_next_rung_of_the_ladder_follows() -> None:
    events: list[Event] = []
    answer = asyncio.run(Supervisor(desk()).run("I was charged", listener=events.append))
    assert answer.status == "failed"
    assert not [event for event in events if isinstance(event, TaskReassigned)]
    assert [event.final for event in events if isinstance(event, TaskEscalated)] == [False, True]
    assert "this is about the app" in answer.gaps[0].why


async def test_of_workers_with_the_same_role_the_one_with_the_shortest_wait_is_asked() -> None:
    """Over all runs of the supervisor: the first run keeps the routed worker busy."""
    started, end = asyncio.Event(), asyncio.Event()

    async def clerk(handoff: Handoff) -> str:
        if handoff.intent == "long":
            started.set()
            await end.wait()
        return handoff.to_agent

    supervisor = Supervisor(
        Team(
            "desk",
            workers=[Worker(name, "Letters", run=clerk, role="clerk") for name in ("ann", "bob")],
            routes=[Route("ann")],
            planner="routed",
        )
    )
    first = asyncio.create_task(supervisor.run("long"))
    await started.wait()
    second = await supervisor.run("short")
    end.set()
    assert ((await first).answer, second.answer) == ("ann", "bob")


@pytest.mark.parametrize(
    ("request_text", "shown"),
    [
        ("I was charged twice", "billing and sales (rules: rule 1: it has 'charged')"),
        ("an error in the invoice", "technical (default worker: its route has no condition)"),
        ("error error error", "technical (trained router: 9"),
    ],
)
def test_a_run_says_which_step_placed_its_request_and_why(request_text: str, shown: str) -> None:
    """In live lines and in the history, without what people are told of vague plans."""
    rules = (Route("billing", words=("charged",), also=("sales",)), Route("technical"))
    workers = [Worker(name, name, run=solved) for name in ("billing", "sales", "technical")]
    team = Team(
        "desk", workers=workers, routes=rules, planner="routed", trained_router=small_router()
    )
    written, events = io.StringIO(), list[Event]()
    lines = PlainLines(Console(file=written, width=200))

    def listener(event: Event) -> None:
        events.append(event)
        lines(event)

    asyncio.run(Supervisor(team).run(request_text, listener=listener))
    (accepted,) = [event for event in events if isinstance(event, PlanAccepted)]
    assert accepted.warnings == ()
    live = written.getvalue()
    assert shown in live
    step = shown.partition("(")[2].rstrip(")")
    history = [text.plain for _, text in history_lines(RunHistory.of(events), held=False)]
    assert any("by router, accepted after " in line and f": {step}" in line for line in history)
