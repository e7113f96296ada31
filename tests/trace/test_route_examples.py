"""Runs whose route was wrong become labelled examples, through the real supervisor."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

from leadhand import (
    Escalated,
    Handoff,
    InputError,
    Outcome,
    Result,
    Route,
    Supervisor,
    Team,
    Worker,
)
from leadhand.cli.router.examples import collect_examples
from leadhand.cli.views.answer import markdown
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event, RunFinished
from leadhand.contracts.people import Question
from leadhand.journal import MemoryStore
from leadhand.routing.examples import Example, read_examples
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, Object
from leadhand.trace.route_examples import RouteExample, route_examples
from tests.models.asking import OPENAI
from tests.stored import store_of

NAMES = ("billing", "technical", "desk")
RULE = Route("billing", words=("charged",), secondary="technical")


def reply(handoff: Handoff) -> str:
    return f"{handoff.to_agent} replies"


def not_mine(handoff: Handoff) -> Escalated:
    return Escalated(reason="out_of_scope", message="this is about the app")


def unsure(handoff: Handoff) -> Outcome:
    partial = Result(output="perhaps", confidence=20)
    return Escalated(reason="low_confidence", message="two readings", partial=partial)


def team(*routes: Route, billing: object = reply, **fields: object) -> Team:
    functions = {"billing": billing}
    workers = [
        Worker(name, f"Does {name}", run=functions.get(name, reply), fallback="technical")  # pyright: ignore[reportArgumentType, reportCallIssue]
        for name in NAMES
        if name != "technical"
    ]
    workers.append(Worker("technical", "Does technical", run=reply))
    return Team("support", workers=workers, routes=routes, planner="routed", **fields)  # pyright: ignore[reportArgumentType]


def logged(of: Team, request: str, **options: object) -> list[Event]:
    events: list[Event] = []
    made = Supervisor(of, **options)  # pyright: ignore[reportArgumentType]
    asyncio.run(made.run(request, listener=events.append))
    return events


def answer_in(log: Sequence[Event]) -> Answer:
    (ended,) = [event for event in log if isinstance(event, RunFinished)]
    return ended.answer


def test_a_request_that_was_handed_back_is_an_example_of_the_worker_that_completed_it() -> None:
    log = logged(team(RULE, billing=not_mine), "I was charged and it crashes")
    assert [*route_examples(log)] == [
        RouteExample("I was charged and it crashes", "technical", "billing handed it back")
    ]


def test_the_worker_that_a_person_named_is_an_example() -> None:
    async def person(question: Question) -> str:
        return "technical"

    log = logged(team(RULE), "Good morning", approve=["escalation"], person=person)
    assert [*route_examples(log)] == [
        RouteExample("Good morning", "technical", "a person named the worker")
    ]


def test_a_second_opinion_that_the_judge_took_is_an_example(model_server: ScriptedServer) -> None:
    chosen = {"why": "clearer", "choice": "2", "confidence": 90}
    model_server.configure(script=[{"match": {"role": "judge"}, "reply": {"json": chosen}}])
    log = logged(team(RULE, billing=unsure, model=OPENAI), "I was charged")
    assert [(one.worker, one.why) for one in route_examples(log)] == [
        ("technical", "a judge took its result instead of billing's")
    ]


def disputed(server: ScriptedServer, **judgement: Json) -> tuple[list[Event], str]:
    """A run whose two workers contradict each other, and what the judge was asked about it."""

    def charges(handoff: Handoff) -> dict[str, JsonValue]:
        return {"charges": len(handoff.to_agent)}

    verdict: Object = {"why": "It is about an invoice.", "contradict": True, "winners": []}
    server.configure(
        script=[{"match": {"role": "judge"}, "reply": {"json": {**verdict, **judgement}}}]
    )
    workers = [Worker(name, f"Does {name}", run=charges) for name in NAMES]
    both = Route("billing", words=("charged",), also=("technical",))
    of = Team("support", workers=workers, routes=[both], planner="routed", model=OPENAI)
    log = logged(of, "I was charged")
    (asked,) = [one for one in server.stats().bodies if one.get("role") == "judge"]
    return log, str(asked)


def test_a_conflict_whose_judged_cause_is_a_wrong_worker_is_an_example_of_the_other_one(
    model_server: ScriptedServer,
) -> None:
    log, asked = disputed(model_server, misrouted=["technical"])
    assert [*route_examples(log)] == [
        RouteExample("I was charged", "billing", "a judge called technical the wrong worker")
    ]
    assert "[technical] Does technical" in asked
    (conflict,) = answer_in(log).conflicts
    assert conflict.misrouted == ("technical",)
    assert "open (It is about an invoice.); it was not for `technical`" in markdown(answer_in(log))


@pytest.mark.parametrize(
    "judgement",
    [
        {"winners": ["billing"], "resolution": "7 charges."},
        {"misrouted": ["billing", "technical"]},
        {"misrouted": ["technical"], "contradict": False},
    ],
    ids=["another cause", "no one was right", "no conflict"],
)
def test_a_conflict_with_another_cause_is_no_example(
    model_server: ScriptedServer, judgement: Object
) -> None:
    log, _ = disputed(model_server, **judgement)
    assert [*route_examples(log)] == []


def test_a_right_route_and_a_plan_that_no_router_made_are_no_examples() -> None:
    assert [*route_examples(logged(team(RULE), "I was charged"))] == []
    planned = Team("t", workers=[Worker("a", "A", run=not_mine), Worker("b", "B", run=reply)])
    assert [*route_examples(logged(planned, "anything"))] == []
    assert [*route_examples([])] == []


def test_what_is_collected_from_stored_runs_can_be_trained_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    supervisor = Supervisor(team(RULE, billing=not_mine), home=tmp_path)
    for _ in range(2):
        supervisor.run_sync("I was charged and it crashes")
    supervisor.run_sync("Good morning")
    collect_examples(store_of(supervisor), None)
    out, err = capsys.readouterr()
    assert read_examples(out.splitlines(), NAMES, source="-") == [
        Example("I was charged and it crashes", "technical")
    ]
    assert json.loads(out)["why"] == "billing handed it back"
    assert "1 example in 3 runs" in err
    with pytest.raises(InputError, match="no stored run is of a team called 'other'"):
        collect_examples(store_of(supervisor), "other")
    collect_examples(MemoryStore(), None)
    assert capsys.readouterr().out == ""
