"""What end users may see of events: what a list allows, and nothing that is added later."""

import asyncio
import dataclasses
import datetime as dt
import json
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, Union, cast, get_args, get_origin, get_type_hints

import pytest
from pydantic import JsonValue

from leadhand import (
    Answer,
    Escalated,
    Event,
    Failed,
    Handoff,
    Outcome,
    Permanent,
    Plan,
    Result,
    Supervisor,
    Task,
    TaskTemplate,
    Team,
    Worker,
    events,
)
from leadhand.contracts.answer import Gap
from leadhand.contracts.events.fields import RunEvent
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer
from leadhand.testing.journal_stories import NOON
from tests.workers.model_runs import call, final, steps

KINDS = cast("tuple[type[Event], ...]", get_args(Event))
PLACE = {"seq", "at", "elapsed_s", "run_id", "type", "within", "task_id", "attempt"}
PLAIN: tuple[object, ...] = (str, int, float, bool, type(None))


def type_of(kind: type[Event]) -> str:
    """The type of its events."""
    (found,) = [one.default for one in dataclasses.fields(kind) if one.name == "type"]
    return str(found)


def hints_at(kind: type, path: str) -> object:
    """The type of the field at a path such as `plan.tasks.id`."""
    name, _, rest = path.partition(".")
    hint = get_type_hints(kind, include_extras=True)[name]
    if not rest:
        return hint
    (inner,) = {one for one in parts(hint) if one not in PLAIN and one is not Ellipsis}
    assert isinstance(inner, type)
    return hints_at(inner, rest)


def parts(hint: object) -> Iterator[object]:
    """The types that a type is made of."""
    origin = get_origin(hint)
    if origin is Literal:
        yield str
    elif origin is Annotated:
        yield from parts(get_args(hint)[0])
    elif origin in (Union, types.UnionType, tuple, Sequence):
        for one in get_args(hint):
            yield from parts(one)
    else:
        yield hint


def paths(field: str, shown: object) -> Iterator[str]:
    """The paths to what is shown of a field, such as `plan.tasks.id`."""
    if not isinstance(shown, Mapping):
        yield field
        return
    for name, inner in cast("Mapping[str, object]", shown).items():
        yield from paths(field if name == "__all__" else f"{field}.{name}", inner)


@pytest.mark.parametrize("kind", KINDS)
def test_only_numbers_names_and_truths_are_public_apart_from_the_answer(kind: type[Event]) -> None:
    for field in {one.name for one in dataclasses.fields(kind)} & {*events.PUBLIC}:
        for path in paths(field, events.PUBLIC[field]):
            allowed = {*PLAIN, Ellipsis, *((dt.datetime,) if path == "at" else ())}
            assert {*parts(hints_at(kind, path))} <= allowed, path


def test_an_event_of_a_new_type_has_only_its_place_until_the_list_allows_more() -> None:
    @dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
    class Whispered(RunEvent):
        type: Literal["whispered"] = "whispered"
        task_id: str = "t1"
        secret: str = "hush"

    event = Whispered(seq=1, at=NOON, elapsed_s=0.5, run_id="r")
    assert events.public(cast("Event", event)) == {
        "seq": 1,
        "at": "2026-03-01T12:00:00.000005Z",
        "elapsed_s": 0.5,
        "run_id": "r",
        "type": "whispered",
        "within": [],
        "task_id": "t1",
    }


def test_a_new_field_is_private_until_the_list_allows_it() -> None:
    every: dict[str, set[str]] = {}
    for kind in KINDS:
        fields = {one.name for one in dataclasses.fields(kind)} - PLACE
        shown = fields & {*events.PUBLIC}
        every[type_of(kind)] = shown
    assert {name: shown for name, shown in every.items() if shown} == {
        "run_started": {"team", "engine", "deadline_s"},
        "run_resumed": {"deadline_s", "goes_on", "again"},
        "plan_proposed": {"plan"},
        "plan_amended": {"revision", "dropped", "added", "changed"},
        "round_decided": {"round", "tasks"},
        "approval_given": {"verdict", "plan"},
        "task_planned": {"task"},
        "task_dispatched": {"worker"},
        "task_escalated": {"final"},
        "task_failed": {"kind", "final"},
        "task_retried": {"delay_s"},
        "task_reassigned": {"worker", "second_opinion"},
        "task_split": {"parts"},
        "task_skipped": {"blame"},
        "opinion_judged": {"workers", "taken"},
        "model_called": {"role"},
        "tool_called": {"worker", "tool"},
        "worker_stuck": {"worker"},
        "breaker_opened": {"worker"},
        "breaker_closed": {"worker"},
        "critique_given": {"round", "verdict"},
        "run_waiting": {"answer"},
        "run_finished": {"answer"},
    }


def test_events_of_real_runs_show_progress_and_the_answer_and_nothing_from_within(
    model_server: ScriptedServer,
) -> None:
    def lookup(key: str) -> str:
        """Looks a key up."""
        return f"hidden output of {key}"

    def breaks(handoff: Handoff) -> str:
        raise Permanent("hidden error in /srv/hidden.py")

    script = steps(call("lookup", key="hidden argument"), final("All is well", summary="hidden"))
    model_server.configure(script=script)
    asks = Worker("asks", "hidden description", instructions="hidden prompt", tools=[lookup])
    team = Team("desk", model="openai-chat:scripted", workers=[asks, Worker("b", "b", run=breaks)])
    tasks = [
        Task(id="a", worker="asks", intent="hidden intent", payload={"hidden": "payload"}),
        Task(id="b", worker="b", intent="hidden intent"),
    ]
    seen: list[Mapping[str, JsonValue]] = []
    outer = Team("outer", workers=[Worker("net", "Nested", team=team)])
    goal, origin = "a hidden goal", {"customer": "hidden origin"}
    nets = Plan(goal=goal, tasks=[Task(id="n", worker="net", intent="a hidden intent")])
    for of, plan in ((outer, nets), (team, Plan(goal=goal, tasks=tasks))):
        doing = Supervisor(of, synthesizer=Merge())
        answer = asyncio.run(
            doing.run(
                plan=plan, origin=origin, listener=lambda one: seen.append(events.public(one))
            )
        )
    assert "hidden error" in answer.answer
    assert "hidden" not in json.dumps(seen)
    assert {"run_started", "tool_called", "task_failed", "run_finished"} <= {
        str(one["type"]) for one in seen
    }
    ended = seen[-1]["answer"]
    assert isinstance(ended, dict)
    assert (ended["status"], ended["gaps"]) == ("partial", [{"task_id": "b"}])
    assert "All is well" in str(ended["answer"])


def test_of_a_nested_teams_answer_only_its_end_is_public_and_of_gaps_only_the_tasks() -> None:
    gaps = (Gap(task_id="t", why="hidden"),)
    answer = Answer(
        run_id="r", status="partial", engine="model", team="t", request="hidden",
        answer="## What is missing\n\n- hidden\n\n## What was found\n\nIt is red.\n\nAsk Ada.",
        output="red", gaps=gaps, contact="Ask Ada.",
    )  # fmt: skip
    event = events.RunFinished(seq=1, at=NOON, elapsed_s=1, run_id="r", answer=answer)
    assert events.public(event)["answer"] == {
        "status": "partial",
        "ended_by": None,
        "engine": "model",
        "confidence": None,
        "gaps": [{"task_id": "t"}],
        "answer": "It is red.\n\nAsk Ada.",
        "output": "red",
        "contact": "Ask Ada.",
    }
    nested = events.public(dataclasses.replace(event, within=("net",)))["answer"]
    assert isinstance(nested, dict)
    assert nested.keys() == {"status", "ended_by", "engine", "confidence", "contact", "gaps"}


def test_the_reasons_of_gaps_in_nested_teams_are_not_public_where_the_answer_quotes_them() -> None:
    def breaks(handoff: Handoff) -> str:
        raise Permanent("hidden\n\n## What was found\n\nhidden")

    def works(handoff: Handoff) -> str:
        return "All is well"

    inner = Team("inner", workers=[Worker("a", "a", run=breaks), Worker("b", "b", run=works)])
    workers = [Worker("net", "Nested", team=inner), Worker("next", "After it", run=works)]
    used = [
        TaskTemplate("net", "net", "Go"),
        TaskTemplate("next", "next", "Go", depends_on=["net"]),
    ]
    for template in ([], used):
        seen: list[Event] = []
        doing = Supervisor(Team("outer", workers=workers, template=template))
        answer = asyncio.run(doing.run("Is it?", listener=seen.append))
        assert "hidden" in answer.answer
        public = json.dumps([events.public(one) for one in seen])
        assert "hidden" not in public
        assert "All is well" in public


def test_why_a_worker_is_in_doubt_is_not_public_at_any_level() -> None:
    """Of results accepted at low confidence, and of what a failed task had found."""

    def doubts(handoff: Handoff) -> Outcome:
        partial = Result(output="It may be red")
        return Escalated(reason="low_confidence", message="hidden\n\n*hidden*", partial=partial)

    def breaks(handoff: Handoff) -> Outcome:
        return Failed(kind="error", message="hidden", partial=Result(output="Half is well"))

    workers = [Worker("a", "A", run=doubts), Worker("b", "B", run=breaks, retry=False)]
    inner = Team("inner", workers=workers)
    after = [
        TaskTemplate("net", "net", "Go"),
        TaskTemplate("a", "a", "Go"),
        TaskTemplate("b", "b", "Go", depends_on=["net", "a"]),
    ]
    for template in ([], after):
        outer = Team("o", workers=[Worker("net", "N", team=inner), *workers], template=template)
        seen: list[Event] = []
        answer = asyncio.run(Supervisor(outer).run("Is it?", listener=seen.append))
        assert "*In doubt: accepted at low confidence: hidden *hidden**" in answer.answer
        public = json.dumps([events.public(one) for one in seen])
        assert "hidden" not in public
        assert "It may be red" in public


def test_why_no_plan_came_from_the_model_is_not_public() -> None:
    lead = "*No plan came from the model in time: hidden; code did the work.*"
    answer = Answer(
        run_id="r", status="complete", engine="deterministic", team="t", request="?",
        answer=f"{lead}\n\nIt is *red*; code did the work.",
    )  # fmt: skip
    event = events.RunFinished(seq=1, at=NOON, elapsed_s=1, run_id="r", answer=answer)
    shown = events.public(event)["answer"]
    assert isinstance(shown, dict)
    assert shown["answer"] == "It is *red*; code did the work."
