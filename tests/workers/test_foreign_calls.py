"""Model calls of other frameworks' agents: recorded as they are made, and limited by the budget."""

import asyncio
import gc
from collections.abc import Callable, Iterator

import pytest

from leadhand import Answer, Budget, Limits, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, ModelCalled
from leadhand.testing import ScriptedServer
from tests.workers.foreign_agents import FRAMEWORKS, LIBRARIES, WEIGHS, library

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries
EVERY = pytest.mark.parametrize("name", FRAMEWORKS)


@pytest.fixture(autouse=True)
def _installed(request: pytest.FixtureRequest) -> None:
    """No server is started for a test that is skipped."""
    named = "name" in request.fixturenames
    library(LIBRARIES[request.getfixturevalue("name") if named else "crewai"])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer(WEIGHS) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        yield server
    gc.collect()  # the libraries close no clients, and that is a warning


async def run(
    agent: object,
    tasks: int = 1,
    *,
    budget: Budget | None = None,
    limits: Limits | None = None,
    events: list[Event] | None = None,
) -> Answer:
    """A run of that many tasks for the agent."""
    worker = Worker("scales", "Weighs", agent=agent, retry=False)
    limited = Limits() if limits is None else limits
    plan = Plan(
        goal="Weigh",
        tasks=[
            Task(id=f"t{n}", worker="scales", intent=f"Weigh tea {n}", limits=limited)
            for n in range(tasks)
        ],
    )
    team = Team("t", workers=[worker])
    seen: list[Event] = [] if events is None else events
    supervisor = Supervisor(team, deadline_s=60, budget=budget)
    return await supervisor.run(plan=plan, listener=seen.append)


@EVERY
def test_each_call_is_an_event_of_its_task_with_model_and_tokens(
    name: str, server: ScriptedServer
) -> None:
    events: list[Event] = []
    seen: list[int] = []

    def weigh() -> str:
        seen.append(sum(isinstance(event, ModelCalled) for event in events))
        return "ten grams"

    answer = asyncio.run(run(FRAMEWORKS[name](weigh), events=events))
    assert (answer.status, answer.output) == ("complete", "It weighs ten grams"), (
        answer.gaps,
        len(server.requests()),
        server.requests()[-1],
    )
    calls = [event for event in events if isinstance(event, ModelCalled)]
    assert [(one.task_id, one.attempt, one.model) for one in calls] == [("t0", 1, "scripted")] * 2
    assert seen == [1], "the first call is recorded before the second is made"
    assert all(one.input_tokens and one.output_tokens for one in calls)
    assert answer.metrics.requests == len(server.requests()) == 2
    assert answer.metrics.input_tokens == sum(one.input_tokens for one in calls)


@EVERY
def test_agents_that_work_at_once_make_no_more_calls_than_the_budget_has(
    name: str, server: ScriptedServer
) -> None:
    answer = asyncio.run(run(FRAMEWORKS[name](lambda: "ten grams"), 4, budget=Budget(requests=3)))
    assert (answer.ended_by, answer.metrics.requests) == ("budget", 3)
    assert len(server.requests()) == 3
    assert "the budget of 3 requests is used up: 3 requests used" in answer.gaps[0].why


@EVERY
def test_the_call_after_the_last_token_is_refused(name: str, server: ScriptedServer) -> None:
    agent = FRAMEWORKS[name](lambda: "ten grams")
    answer = asyncio.run(run(agent, budget=Budget(tokens=1)))
    assert (answer.ended_by, answer.metrics.requests) == ("budget", 1)
    assert len(server.requests()) == 1


@EVERY
@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Limits(max_steps=1), "no answer within 1 steps"),
        (Limits(max_tokens=1), "tokens used of 1"),
    ],
    ids=["steps", "tokens"],
)
def test_the_limits_of_a_task_hold_for_each_call(
    name: str, limits: Limits, why: str, server: ScriptedServer
) -> None:
    answer = asyncio.run(run(FRAMEWORKS[name](lambda: "ten grams"), limits=limits))
    assert [why in gap.why for gap in answer.gaps] == [True], answer.gaps
    assert answer.metrics.requests == len(server.requests()) == 1


@pytest.mark.parametrize("name", ["openai-agents", "agno"])
def test_an_agent_in_a_loop_ends_at_the_limit_of_its_task(
    name: str, server: ScriptedServer
) -> None:
    server.reset(script=WEIGHS[1:])
    answer = asyncio.run(run(FRAMEWORKS[name](lambda: "broken"), limits=Limits(max_steps=12)))
    assert [gap.why for gap in answer.gaps] == ["no answer within 12 steps"]
    assert len(server.requests()) == 12


@EVERY
def test_a_budget_in_dollars_lets_no_call_of_unknown_price_through(
    name: str, server: ScriptedServer
) -> None:
    answer = asyncio.run(run(FRAMEWORKS[name](lambda: "ten grams"), budget=Budget(usd=1.0)))
    assert answer.status == "failed"
    assert ", so a budget in US dollars can't be enforced" in answer.gaps[0].why
    assert not server.requests()


@pytest.mark.wall_clock
@EVERY
async def test_a_cancelled_run_keeps_what_its_agents_used(
    name: str, server: ScriptedServer
) -> None:
    def weigh() -> str:
        cancel[0]()
        return "ten grams"

    cancel: list[Callable[[], object]] = []
    stuck = {"reply": {"misbehave": {"latency_ms": 600_000}}}
    server.reset(script=[{**WEIGHS[0], **stuck}, WEIGHS[1]])
    worker = Worker("scales", "Weighs", agent=FRAMEWORKS[name](weigh), retry=False)
    plan = Plan(goal="Weigh", tasks=[Task(id="a", worker="scales", intent="Weigh the tea")])
    supervisor = Supervisor(Team("t", workers=[worker]), deadline_s=60)
    loop = asyncio.get_running_loop()
    cancel.append(lambda: loop.call_soon_threadsafe(asyncio.ensure_future, ended()))

    async def ended() -> None:
        supervisor.cancel()

    answer = await supervisor.run(plan=plan)
    assert answer.status == "cancelled"
    assert answer.metrics.requests >= 1
    assert answer.metrics.input_tokens > 0


def crew_of(description: str) -> object:
    """A crew of one task."""
    module = library("crewai")
    agent = FRAMEWORKS["crewai"](lambda: "ten grams")
    task = module.Task(description=description, expected_output="A weight", agent=agent)
    return module.Crew(agents=[agent], tasks=[task])


def test_a_crew_gets_its_task_in_its_placeholders(server: ScriptedServer) -> None:
    answer = asyncio.run(run(crew_of("Use the scales: {what}"), 2))
    assert (answer.status, answer.metrics.requests) == ("complete", 4)
    asked = " ".join(str(one["messages"]) for one in server.requests())
    assert "Use the scales: Weigh tea 0" in asked
    assert "Use the scales: Weigh tea 1" in asked


@pytest.mark.parametrize(
    ("description", "why"),
    [
        ("Weigh", "this crew has no placeholder such as {topic}"),
        ("Weigh {what} in {unit}", "several placeholders: give the task a payload with unit, what"),
    ],
)
def test_a_crew_that_cant_be_told_its_task_fails_before_any_call(
    description: str, why: str, server: ScriptedServer
) -> None:
    answer = asyncio.run(run(crew_of(description)))
    assert answer.status == "failed"
    assert why in answer.gaps[0].why
    assert not server.requests()
