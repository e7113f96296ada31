"""A request that no step of a router places: a person says so, else the default worker, else the
team's contact."""

import asyncio
import math
from dataclasses import dataclass
from typing import Literal

import pytest

from leadhand import Answer, Handoff, LeadhandError, Reply, Role, Route, Supervisor, Team, Worker
from leadhand.cli.live.notices import WatchedRun
from leadhand.cli.runs.history_text import history_lines
from leadhand.contracts.events import Event, PlanProposed, PlanRejected, TaskDispatched, unnested
from leadhand.contracts.people import Question
from leadhand.contracts.role import Guess
from leadhand.contracts.team import TaskTemplate
from leadhand.errors import InputError
from leadhand.journal import MemoryJournal
from leadhand.testing import ScriptedServer, VirtualClock, run_virtual
from leadhand.testing.json_data import Object
from leadhand.trace.run_history import RunHistory
from tests.handles import replied, resumed
from tests.models.asking import OPENAI
from tests.models.in_process import InProcess
from tests.page.stored import stored_run
from tests.routing.routers import small_router
from tests.run.resuming.story import RUN, kept, told

RULE = Route("billing", words=("invoice",))
DEFAULT = Route("desk")


def reply(handoff: Handoff) -> str:
    return f"{handoff.to_agent} replies"


def team(*routes: Route, **fields: object) -> Team:
    workers = [Worker(name, f"Does {name}", run=reply) for name in ("billing", "technical", "desk")]
    given: dict[str, object] = {"planner": "routed", "contact": "Write to help@example.com"}
    given = {"workers": workers, **given}
    return Team("support", routes=routes, **{**given, **fields})  # pyright: ignore[reportArgumentType]


def run(of: Team, **options: object) -> tuple[Answer, list[Event]]:
    events: list[Event] = []
    made = Supervisor(of, **options)  # pyright: ignore[reportArgumentType]
    return asyncio.run(made.run("Good morning", listener=events.append)), events


def test_without_a_person_the_default_worker_gets_it() -> None:
    answer, events = run(team(RULE, DEFAULT))
    assert (answer.status, answer.answer) == ("complete", "desk replies")
    assert [event.by for event in events if isinstance(event, PlanProposed)] == ["router"]
    shown = asyncio.run(Supervisor(team(RULE, DEFAULT)).plan("Good morning"))
    assert [task.worker for task in shown.tasks] == ["desk"]


def test_the_only_worker_of_a_team_is_its_default_worker() -> None:
    of = Team("solo", workers=[Worker("only", "Does it", run=reply)], planner="routed")
    assert run(of)[0].answer == "only replies"


def test_without_a_default_worker_the_answer_says_why_and_names_the_contact(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The team's template is not a plan for it: the request may be for no worker at all."""
    of = team(
        RULE, trained_router=small_router(), template=[TaskTemplate("t", "desk", "{request}")]
    )
    with caplog.at_level("WARNING"):
        answer, _ = run(of)
    assert "plan rejected, 1 problem\n" in caplog.text
    assert "finished failed with 1 gap in " in caplog.text
    assert answer.status == "failed"
    assert answer.contact == "Write to help@example.com"
    (gap,) = answer.gaps
    assert gap.why == (
        "no worker was found for this request (rules: no rule matches; "
        "trained router: it is unlike the examples of any worker)"
    )
    with pytest.raises(LeadhandError, match="no worker was found"):
        asyncio.run(Supervisor(of).plan("Good morning"))


@pytest.mark.parametrize(
    ("said", "workers"),
    [
        ("", ["desk"]),
        ("It is for Technical.", ["technical"]),
        ("technical, and billing too", ["technical", "billing"]),
    ],
)
def test_a_person_is_asked_first_and_names_the_worker(said: str, workers: list[str]) -> None:
    asked: list[Question] = []

    async def person(question: Question) -> str:
        asked.append(question)
        return said

    answer, events = run(team(RULE, DEFAULT), approve=["escalation"], person=person)
    assert answer.status == "complete"
    assert [task.worker for task in answer.tasks] == workers
    (question,) = asked
    assert question.text.startswith("The request is ambiguous: no route leads from it to a worker.")
    assert "- technical: Does technical" in question.text
    by = [event.by for event in events if isinstance(event, PlanProposed)]
    assert by == ["router in doubt", *["person"] * bool(said)]


def test_a_person_is_asked_about_the_worker_with_the_highest_score() -> None:
    asked: list[Question] = []

    async def person(question: Question) -> str:
        asked.append(question)
        return ""

    of = team(RULE, trained_router=small_router())
    made = Supervisor(of, approve=["escalation"], person=person)
    answer = asyncio.run(made.run("Tell me a joke about an error"))
    assert [task.worker for task in answer.tasks] == ["technical"]
    (question,) = asked
    assert question.route
    assert "Is it for technical? If not, name the worker that it is for." in question.text


@pytest.mark.parametrize("verdict", [None, "refused", "answered"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_person_who_names_no_worker_gets_an_error_and_the_question_stays_open(
    verdict: Literal["refused", "answered"] | None, inside: bool
) -> None:
    said = "We do not do mornings"

    async def person(question: Question) -> Reply | str:
        return said if verdict is None else Reply(verdict=verdict, text=said)

    of = nested(RULE, DEFAULT) if inside else team(RULE, DEFAULT)
    made = Supervisor(of, approve=["escalation"], person=person, journal=MemoryJournal())
    with pytest.raises(InputError, match=r"'We do not do mornings' names no worker: name one of"):
        asyncio.run(made.run("Good morning", run_id="r1"))
    refused = Reply(task_id="help" if inside else None, verdict="refused")
    answer = asyncio.run(replied(made, "r1", refused))
    assert answer.status == "failed"
    assert "a person refused the plan" in answer.gaps[0].why


@pytest.mark.wall_clock
async def test_a_run_waits_for_a_person_who_names_the_worker_later() -> None:
    made = Supervisor(team(RULE, DEFAULT), approve=["escalation"], journal=MemoryJournal())
    waiting = await made.run("Good morning", run_id="r1")
    answer = await replied(made, "r1", Reply(verdict="refused", text="billing"))
    assert waiting.status == "waiting"
    assert "no route leads from it to a worker" in waiting.waiting[0].text
    assert (answer.status, answer.answer) == ("complete", "billing replies")


def test_a_routed_request_needs_no_person() -> None:
    async def person(question: Question) -> str:
        raise AssertionError("asked")

    of = team(Route("billing", words=("morning",)), DEFAULT)
    assert run(of, approve=["escalation"], person=person)[0].answer == "billing replies"


def test_a_model_whose_answer_cannot_be_read_leaves_it_to_the_default_worker_and_that_is_said(
    model_server: ScriptedServer,
) -> None:
    script = [{"match": {"role": "router"}, "reply": {"text": "billing I guess"}}]
    model_server.configure(script=script)
    answer, events = run(team(RULE, DEFAULT, router=Role(model=OPENAI)))
    assert (answer.status, answer.answer) == ("complete", "desk replies")
    (rejected,) = [event for event in events if isinstance(event, PlanRejected)]
    (said,) = rejected.problems
    assert said.startswith("the router's model chose no worker (")
    assert said.endswith("): desk, the default, gets the request")
    shown = [text.plain for _, text in history_lines(RunHistory.of(events), held=False)]
    (place,) = [n for n, line in enumerate(shown) if line.startswith("no plan by router after ")]
    assert shown[place + 1] == f"- {said}"
    assert shown[place + 2].startswith("revision 1, 1 task, by router, accepted after ")
    assert said in str(stored_run(events)["plans"])
    watched = WatchedRun()
    live = [line for event in events if (line := watched.add(event))]
    assert f"router: {said}" in live
    none_placed, _ = run(team(RULE, router=Role(model=OPENAI)))
    assert (none_placed.status, none_placed.contact) == ("failed", "Write to help@example.com")
    assert "; model: it gave no answer that can be used: " in none_placed.gaps[0].why


@pytest.mark.parametrize("has_template", [False, True])
@pytest.mark.parametrize(("routes", "does_it"), [((RULE,), []), ((RULE, DEFAULT), ["desk"])])
def test_a_router_whose_model_is_too_slow_does_not_give_the_request_to_every_worker(
    routes: tuple[Route, ...], does_it: list[str], has_template: bool
) -> None:
    """Every worker has code for when there is no model, so that the team could be planned by it."""
    slow = {"misbehave": {"latency_ms": 600_000}}
    model = InProcess(script=[{"match": {"tool": "choose_worker"}, "reply": slow}])
    workers = [Worker(one.name, one.description, offline=reply) for one in team().workers]
    template = [TaskTemplate("t", "billing", "{request}")] if has_template else []
    role = Role(model=model.model)
    of = team(*routes, router=role, workers=workers, template=template)
    made, events = Supervisor(of, deadline_s=1, clock=VirtualClock()), list[Event]()
    answer = run_virtual(made.run("Good morning", listener=events.append))
    assert [task.worker for task in answer.tasks] == does_it
    (rejected, *_) = [event for event in events if isinstance(event, PlanRejected)]
    assert rejected.problems[0].startswith("the router's model chose no worker (it gave no answer")
    assert ("desk, the default, gets" in rejected.problems[0]) == bool(does_it)
    if not does_it:
        assert (answer.status, answer.ended_by) == ("failed", "deadline")
        assert answer.contact == "Write to help@example.com"
        assert "no worker was found for this request" in answer.gaps[0].why
        assert "with the run's deadline of 1 s" in answer.gaps[0].why


@pytest.mark.parametrize("named", ["", "technical"])
def test_a_router_in_doubt_that_is_killed_asks_the_same_and_calls_its_model_once(
    named: str,
) -> None:
    asked: list[Question] = []

    async def person(question: Question) -> str:
        asked.append(question)
        return named

    doubt: Object = {"why": "none fits", "worker": "none", "confidence": 90}
    model = InProcess(script=[{"match": {"tool": "choose_worker"}, "reply": {"json": doubt}}])
    of = team(RULE, DEFAULT, router=Role(model=model.model))
    journal = MemoryJournal()

    def supervisor(journal: MemoryJournal) -> Supervisor:
        clock = VirtualClock()
        return Supervisor(of, journal=journal, approve=["escalation"], person=person, clock=clock)

    made = supervisor(journal)
    whole = run_virtual(made.run("Good morning", run_id=RUN))
    (question,) = asked
    events = journal.store.events(RUN)
    places = [event.type for event in events]
    for stop in range(1, len(events)):
        asked.clear()
        left = kept(events[:stop])
        answer = run_virtual(resumed(supervisor(left), RUN))
        assert told(answer) == told(whole), f"after {places[:stop]}"
        replied = "approval_given" in places[:stop]
        assert asked == ([] if replied else [question])
        assert [event.type for event in left.store.events(RUN)].count("model_called") == 1


def test_a_router_in_doubt_whose_run_is_resumed_without_people_takes_the_default_worker() -> None:
    of, journal = team(RULE, DEFAULT, trained_router=small_router()), MemoryJournal()
    made = Supervisor(of, journal=journal, approve=["escalation"], clock=VirtualClock())
    run_virtual(made.run("I was charged and it crashes", run_id=RUN))
    events = [*journal.store.events(RUN)]
    (place,) = [n for n, event in enumerate(events) if isinstance(event, PlanProposed)]
    left = kept(events[: place + 1])
    answer = run_virtual(resumed(Supervisor(of, journal=left, clock=VirtualClock()), RUN))
    assert answer.answer == "desk replies", "not the likeliest one, about whom nobody was asked"


@dataclass(frozen=True)
class Classifier:
    """A classifier of the user's own."""

    gives: Guess | None
    workers: tuple[str, ...] = ("billing",)

    def guess(self, text: str) -> Guess:
        if self.gives is None:
            raise ValueError("no such file")
        return self.gives


@pytest.mark.parametrize(
    ("gives", "why"),
    [
        (None, "it failed: ValueError: no such file"),
        (Guess("ghost", 0.9, accepted=True), "it chose 'ghost', which is not in the team"),
        (Guess("billing", math.nan, accepted=True), "its confidence is nan, not 0 to 1"),
    ],
)
def test_a_classifier_whose_guess_cannot_be_used_abstains(gives: Guess | None, why: str) -> None:
    answer, _ = run(team(RULE, DEFAULT, trained_router=Classifier(gives)))
    assert answer.answer == "desk replies"
    answer, _ = run(team(RULE, trained_router=Classifier(gives)))
    assert f"trained router: {why}" in answer.gaps[0].why


# Nested teams


def nested(*routes: Route) -> Team:
    inner = Worker("support", "Answers customers", team=team(*routes))
    return Team("office", workers=[inner, Worker("other", "Other", run=reply)], planner="template",
                template=[TaskTemplate("help", "support", "{request}")])  # fmt: skip


@pytest.mark.parametrize(
    ("said", "workers", "proposed"),
    [
        ("technical", ["technical"], ["router in doubt", "person"]),
        ("", ["desk"], ["router in doubt"]),
        (None, ["desk"], ["router in doubt", "router"]),
    ],
)
def test_a_nested_team_in_doubt_asks_the_person_at_hand(
    said: str | None, workers: list[str], proposed: list[str]
) -> None:
    asked: list[Question] = []

    async def person(question: Question) -> str | None:
        asked.append(question)
        return said

    def supervisor(journal: MemoryJournal) -> Supervisor:
        of, clock = nested(RULE, DEFAULT), VirtualClock()
        return Supervisor(of, journal=journal, approve=["escalation"], person=person, clock=clock)

    journal = MemoryJournal()
    whole = run_virtual(supervisor(journal).run("Good morning", run_id=RUN))
    (question,) = asked
    assert (question.task_id, question.route) == ("help", True)
    assert question.workers == ("billing", "technical", "desk")
    assert "- technical: Does technical" in question.text
    assert whole.status == "complete"
    events = journal.store.events(RUN)
    watched = WatchedRun()
    live = [line for event in events if (line := watched.add(event))]
    assert [line for line in live if line.startswith("help: ")] == live
    inside = [unnested(event) for event in events if event.within]
    assert [event.by for event in inside if isinstance(event, PlanProposed)] == proposed
    assert [event.worker for event in inside if isinstance(event, TaskDispatched)] == workers
    for stop in range(1, len(events)):
        asked.clear()
        answer = run_virtual(resumed(supervisor(kept(events[:stop])), RUN))
        assert told(answer) == told(whole), f"after {[event.type for event in events[:stop]]}"
        replied = any(event.type == "approval_given" for event in events[:stop])
        assert asked == ([] if replied else [question])


@pytest.mark.parametrize("routes", [[RULE, DEFAULT], [RULE]])
def test_a_nested_team_in_doubt_takes_its_default_worker_if_people_answer_later(
    routes: list[Route],
) -> None:
    answer, _ = run(nested(*routes), approve=["escalation"])
    if len(routes) == 2:
        assert (answer.status, answer.answer) == ("complete", "desk replies")
    else:
        assert answer.status == "failed"
        assert "no worker was found for this request (rules: no rule matches" in answer.gaps[0].why


async def test_a_reply_that_names_an_unknown_worker_is_an_error_and_leaves_the_question() -> None:
    made = Supervisor(team(RULE, DEFAULT), approve=["escalation"], journal=MemoryJournal())
    await made.run("Good morning", run_id="r1")
    wrong = Reply(verdict="refused", text="nobody")
    with pytest.raises(InputError, match="'nobody' names no worker: name one of billing"):
        await made.handle("r1").reply(wrong)
    answer = await replied(made, "r1", Reply(verdict="refused", text="billing"))
    assert answer.answer == "billing replies"
