"""Runs with all sorts of trouble in them, through the real scheduler and the real supervisor."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence

from leadhand import Handoff, Supervisor, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event
from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, Result, Usage
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import RetryRules
from leadhand.testing import completed, run_virtual
from tests.engine.remedies import ScriptedPerson, ScriptedRemedies
from tests.engine.scheduling import schedule
from tests.nested_teams import DESK, LEGAL, clause, law, office
from tests.plans.samples import plan, task
from tests.recorders import LogRecorder

Runs = Callable[[Coroutine[object, object, Answer]], Answer]
"""What runs a supervisor's coroutine to its end: in real time or in virtual time."""
SLOW = Failed(kind="timeout", message="too much for one")
BROKEN = Failed(kind="tool_error", message="no table `sales`")
UNSURE = Escalated(reason="low_confidence", message="two readings", partial=Result(output="half"))


def crew() -> Team:
    """Two workers, one the other's fallback, both done by models of two strengths."""
    workers = (Worker("first", "d", fallback="second"), Worker("second", "d"))
    return Team("desk", workers=workers, models={"standard": ("a:small",), "strong": ("a:large",)})


def trouble() -> LogRecorder:
    """A task that fails twice and then succeeds, one that is split, one of doubt, one skipped."""
    calls = dict[str, int]()

    def script(handoff: Handoff) -> Outcome:
        id = handoff.task_id
        calls[id] = calls.get(id, 0) + 1
        if id == "fails" and calls[id] < 3:
            return BROKEN
        if id == "big":
            return SLOW
        if id == "never":
            return Failed(kind="error", message="the archive \x1b[31mburnt\x1b[0m down")
        if id == "unsure" and calls[id] < 3:
            return UNSURE
        return completed(f"found by {id}")

    remedies = ScriptedRemedies(
        intent="Look in the table `orders`.",
        parts=[task("one", worker="first"), task("two", worker="second")],
        verdict=(True, "it names its source"),
    )
    return run_virtual(
        schedule(
            plan(
                *(task(id, worker="first") for id in ("fails", "big", "never", "unsure", "plain")),
                task("after", "big", "fails", worker="second"),
                task("lost", "never", worker="second"),
            ),
            script,
            the_team=crew(),
            remedies=remedies,
            person=ScriptedPerson("Ask the archive."),
        )
    )


def ran(
    team: Team, the_plan: Plan, *, run: Runs = asyncio.run, **options: object
) -> tuple[Answer, Sequence[Event]]:
    """A run by the real supervisor: its answer and its events."""
    events: list[Event] = []
    supervisor = Supervisor(team, **options)  # pyright: ignore[reportArgumentType]
    answer = run(supervisor.run(plan=the_plan, run_id="run-1", listener=events.append))
    return answer, events


def nested() -> tuple[Answer, Sequence[Event]]:
    """A team whose worker is a team, one of whose workers fails."""
    return ran(office(law(reader=clause, writer=broken)), Plan(goal="Why?", tasks=(LEGAL, DESK)))


def broken(handoff: Handoff) -> Outcome:
    """A worker that fails and leaves what it used."""
    usage = Usage(model="a:b", requests=2, input_tokens=70, output_tokens=9, cost_usd=0.5)
    return Failed(kind="error", message="no archive", partial=Result(output="x", usage=usage))


def flow() -> tuple[Answer, Sequence[Event]]:
    """Six tasks of which one fails and one waits for two others."""

    async def good(handoff: Handoff) -> Outcome:
        await asyncio.sleep(1.0)
        return Completed(result=Result(output=f"said {handoff.task_id}", confidence=80))

    async def bad(handoff: Handoff) -> Outcome:
        return broken(handoff)

    team = Team(
        "six",
        workers=(Worker("good", "d", run=good), Worker("bad", "d", run=bad)),
        retry=RetryRules(max_attempts=1),
    )
    tasks: Sequence[Task] = (
        task("a", worker="good"),
        task("b", worker="good"),
        task("c", "a", "b", worker="good"),
        task("d", "c", worker="good", tolerates_missing=True),
        task("e", worker="bad"),
        task("f", "e", worker="good"),
    )
    return ran(team, plan(*tasks), run=run_virtual)
