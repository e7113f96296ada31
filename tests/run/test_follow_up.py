"""A run that follows another: what its planner, its tasks and its journal know of that one."""

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import pytest

from leadhand import (
    Handoff,
    InputError,
    Plan,
    PlanError,
    Reply,
    Result,
    RunExists,
    RunView,
    Supervisor,
    Task,
    Team,
    Worker,
)
from leadhand.cli.runs.history_text import history_lines
from leadhand.contracts.events import Event, RunStarted
from leadhand.contracts.outcome import Escalated, Outcome
from leadhand.contracts.task import EarlierRun
from leadhand.contracts.team import TaskTemplate
from leadhand.errors import DamagedRun
from leadhand.journal import MemoryJournal
from leadhand.run.stored import MAX_RUNS
from leadhand.testing import VirtualClock, run_virtual
from leadhand.trace.overview import overview
from leadhand.trace.run_history import RunHistory
from tests.handles import replied, streamed
from tests.models.in_process import InProcess
from tests.page.stored import stored_run
from tests.run.follow_ups import APRIL, add, after_april, desk, seen
from tests.run.kinds.kinds import fails


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    seen.clear()


# What tasks get


def test_a_task_gets_the_earlier_results_that_it_names_and_no_others() -> None:
    after_april(Supervisor(desk()), add("previous/north", "may.csv"))
    got = seen[-1]
    assert got.inputs == {"previous/north": {"sold": 5}}
    (digest,) = got.context
    assert (digest.task_id, digest.summary) == ("previous/north", "north is counted")
    assert digest.excerpt == '{"sold": 5}'
    assert got.artifacts == ("may.csv",), "a path stays a path"


def test_a_task_may_work_on_the_whole_answer_with_its_request() -> None:
    after_april(Supervisor(desk()), add("previous"))
    (digest,) = seen[-1].context
    assert digest.summary == "Earlier request: What was sold in April?"
    assert "north is counted" in str(seen[-1].inputs["previous"])


def test_a_task_of_a_nested_team_sees_what_the_team_was_given() -> None:
    team = Team("company", workers=[Worker("desk", "Sales", team=desk()), *desk().workers])
    task = Task(id="add", worker="desk", intent="Add it up", artifacts=["previous/south"])
    after_april(Supervisor(team), task)
    assert seen[-1].inputs["../previous/south"] == {"sold": 5}


def test_an_unknown_earlier_result_is_refused_with_what_there_is() -> None:
    supervisor = Supervisor(desk())
    with pytest.raises(PlanError, match=r"'previous/nort'.*did you mean 'previous/north'\? it has"):
        after_april(supervisor, add("previous/nort"))


def test_without_a_run_to_follow_the_name_of_an_earlier_result_is_a_warning() -> None:
    supervisor = Supervisor(desk())
    answer = supervisor.run_sync(plan=Plan(goal="Add", tasks=[add("previous/north")]))
    assert answer.status == "complete", "it may be a path"
    stored = asyncio.run(supervisor.journal.events(answer.run_id))
    (warning,) = [one for event in stored for one in getattr(event, "warnings", ())]
    assert "only if this run follows one" in warning


async def test_a_result_that_failed_is_handed_on_as_missing_or_can_not_be_named() -> None:
    async def half(handoff: Handoff) -> Outcome:
        partial = Result(output="half of it", summary="half")
        return Escalated(reason="out_of_scope", message="not mine", partial=partial)

    team = Team("desk", workers=[*desk().workers, Worker("half", "Half", run=half)])
    supervisor = Supervisor(team)
    first = Plan(
        goal="Try",
        tasks=[Task(id=name, worker=name, intent="Count sales") for name in ("half", "bad")],
    )
    answer = await supervisor.run(plan=first, run_id="first")
    assert answer.status in ("partial", "failed")
    await supervisor.run(plan=Plan(goal="On", tasks=[add("previous/half")]), after="first")
    with pytest.raises(PlanError, match="'previous/bad'"):
        await supervisor.run(plan=Plan(goal="On", tasks=[add("previous/bad")]), after="first")
    (digest,) = seen[-1].context
    assert (digest.excerpt, digest.why_missing) == ("half of it", "out_of_scope: not mine")
    assert seen[-1].inputs == {}, "as of a dependency that has no complete result"


async def test_outputs_beyond_the_limit_are_handed_on_as_excerpts() -> None:
    async def long(handoff: Handoff) -> str:
        return handoff.task_id * 900_000

    team = Team("desk", workers=[*desk().workers, Worker("long", "Long", run=long)])
    first = Plan(
        goal="At length",
        tasks=[Task(id=id, worker="long", intent=f"Write {id} at length") for id in "abc"],
    )
    supervisor = Supervisor(team)
    await supervisor.run(plan=first, run_id="first")
    names = [f"previous/{id}" for id in "abc"]
    await supervisor.run(plan=Plan(goal="On", tasks=[add(*names)]), after="first")
    assert [*seen[-1].inputs] == ["previous/a", "previous/b"]
    last = seen[-1].context[-1]
    assert "cut: 900,000 characters" in last.excerpt
    assert last.missing == ("its output of 900,002 characters is too long to be handed on",)


# A chain of runs


async def test_of_a_chain_a_run_knows_the_latest_runs_and_names_them_by_their_distance() -> None:
    supervisor, runs = Supervisor(desk()), MAX_RUNS + 2
    await supervisor.run(plan=APRIL, run_id="run-0")
    for number in range(1, runs):
        task = add(*(["previous/previous/north"] if number == 2 else []), id=f"t{number}")
        plan = Plan(goal=f"Request {number}", tasks=[task])
        await supervisor.run(plan=plan, run_id=f"run-{number}", after=f"run-{number - 1}")
    started, *_ = await supervisor.journal.events(f"run-{runs - 1}")
    assert isinstance(started, RunStarted)
    assert [one.run_id for one in started.after] == ["run-5", "run-4", "run-3", "run-2", "run-1"]
    assert seen[3].inputs == {"previous/previous/north": {"sold": 5}}


def test_a_long_chain_of_long_answers_costs_no_more_from_run_to_run() -> None:
    model, long = InProcess(), "x" * 3_000

    async def writes(handoff: Handoff) -> Result:
        return Result(output=long, summary=long)

    workers = [Worker(name, "Writes", run=writes) for name in ("one", "two")]
    supervisor = Supervisor(Team("desk", workers=workers))
    team = Team("desk", model=model.model, workers=workers)
    planning = Supervisor(team, journal=supervisor.journal, clock=VirtualClock())
    plan = Plan(
        goal=long,
        tasks=[Task(id=f"t{n}", worker="one", intent=f"Write {n}: {long}") for n in range(40)],
    )

    async def main() -> list[int]:
        sizes: list[int] = []
        for number in range(MAX_RUNS + 2):
            after = f"run-{number - 1}" if number else None
            await supervisor.run(plan=plan, run_id=f"run-{number}", after=after)
            started, *_ = await supervisor.journal.events(f"run-{number}")
            assert isinstance(started, RunStarted)
            sizes.append(len(str(started.after)))
        await planning.plan("And now?", after=f"run-{MAX_RUNS + 1}")
        return sizes

    sizes = run_virtual(main())
    assert sizes[-1] == sizes[-2] > sizes[-3]
    (asked,) = model.stats().bodies
    assert len(str(asked)) < 50_000


async def test_the_journal_is_the_limit_of_what_can_be_followed_not_the_origin() -> None:
    supervisor = Supervisor(desk())
    await supervisor.run(plan=APRIL, run_id="april", origin={"customer": "a"})
    assert (await supervisor.handle("april").view()).origin == {"customer": "a"}, (
        "what a service checks"
    )
    plan = Plan(goal="On", tasks=[add("previous")])
    await supervisor.run(plan=plan, after="april", origin={"customer": "b"})
    assert seen[-1].context[0].task_id == "previous"


# Which runs can be followed


async def test_a_run_that_does_not_exist_or_has_no_answer_is_one_line() -> None:
    supervisor = Supervisor(desk())
    for unknown in ("april", "last", "no/id", 5):
        with pytest.raises(InputError, match="there is no run "):
            await supervisor.run("And in May?", after=unknown, run_id="may")  # pyright: ignore[reportArgumentType]
    assert await supervisor.journal.last_seq("may") == 0, "nothing was recorded"
    await supervisor.start(plan=APRIL, run_id="april")
    with pytest.raises(InputError, match="'april' has no answer yet") as refused:
        await supervisor.run("And in May?", after="april")
    assert "\n" not in str(refused.value)


async def test_a_failed_run_a_cancelled_one_and_one_of_another_team_can_be_followed() -> None:
    journal = MemoryJournal()
    other = Team("others", workers=[Worker("bad", "Fails", run=fails, retry=False)])
    supervisor = Supervisor(desk(), journal=journal)
    failed = await Supervisor(other, journal=journal).run("Try", run_id="failed")
    assert failed.status == "failed"

    def stop(event: Event) -> None:
        supervisor.cancel()

    await supervisor.run(plan=APRIL, run_id="stopped", listener=stop)
    for run_id, status in {"failed": "failed", "stopped": "cancelled"}.items():
        plan = Plan(goal="On", tasks=[add("previous")])
        answer = await supervisor.run(plan=plan, after=run_id)
        assert answer.status == "complete"
        assert seen[-1].context[0].status == status


async def test_a_run_that_waits_can_be_followed_with_what_there_is_so_far() -> None:
    supervisor = Supervisor(desk(), approve=["plan"])
    waits = await supervisor.run(plan=APRIL, run_id="april")
    assert waits.status == "waiting"
    follow = await supervisor.run("And in May?", after="april", run_id="may")
    assert follow.status == "waiting"
    (started, *_) = await supervisor.journal.events("may")
    assert isinstance(started, RunStarted)
    assert [one.status for one in started.after] == ["waiting"]


@pytest.mark.wall_clock
async def test_a_damaged_run_can_not_be_followed(tmp_path: Path) -> None:
    supervisor = Supervisor(desk(), home=tmp_path)
    await supervisor.run(plan=APRIL, run_id="april")
    await supervisor.close()
    with contextlib.closing(sqlite3.connect(tmp_path / "leadhand.db")) as database:
        database.execute("UPDATE events SET body = replace(body, 'north', 'south')")
        database.commit()
    again = Supervisor(desk(), home=tmp_path)
    with pytest.raises(DamagedRun, match="'april' is damaged"):
        await again.run("And in May?", after="april")
    await again.close()


# Keys, restarts, streams


async def test_the_same_key_with_another_run_to_follow_is_another_request() -> None:
    supervisor = Supervisor(desk())
    for run_id in ("april", "june"):
        await supervisor.run(plan=APRIL, run_id=run_id)
    key = {"run_id": "may", "if_exists": "return"}
    first = await supervisor.run("And in May?", after="april", **key)  # pyright: ignore[reportArgumentType]
    assert await supervisor.delete("april") == ["april"]
    again = await supervisor.run("And in May?", after="april", **key)  # pyright: ignore[reportArgumentType]
    assert again == first, "also once the earlier run is deleted"
    for other in ("june", None):
        with pytest.raises(RunExists, match="another request or origin, or follows another"):
            await supervisor.run("And in May?", after=other, **key)  # pyright: ignore[reportArgumentType]


@pytest.mark.wall_clock
async def test_a_follow_up_is_resumed_after_the_earlier_run_was_deleted(tmp_path: Path) -> None:
    team = desk(planner="template", template=[TaskTemplate("add", "clerk", "{request}")])
    first = Supervisor(team, home=tmp_path)
    await first.run(plan=APRIL, run_id="april")
    waits = Supervisor(team, home=tmp_path, approve=["plan"])
    await waits.run("And in May?", after="april", run_id="may")
    assert await first.delete("april") == ["april"]
    assert await first.journal.last_seq("april") == 0
    await first.close()
    await waits.close()
    elsewhere = Supervisor(team, home=tmp_path)
    answer = await replied(elsewhere, "may", Reply(verdict="approved"))
    assert answer.status == "complete"
    await elsewhere.close()
    assert seen[-1].context[0].summary == "Earlier request: What was sold in April?"


def test_a_follow_up_is_streamed_and_run_without_a_loop_too(tmp_path: Path) -> None:
    supervisor = Supervisor(desk())
    first = supervisor.run_sync(plan=APRIL)
    second = supervisor.run_sync(plan=Plan(goal="On", tasks=[add("previous")]), after=first.run_id)

    async def main() -> None:
        events = [event async for event in streamed(supervisor, "Once more", after=second.run_id)]
        assert isinstance(events[0], RunStarted)
        assert [one.run_id for one in events[0].after] == [second.run_id, first.run_id]

    asyncio.run(main())


# What people see


async def test_lists_views_logs_and_page_say_which_run_another_follows(
    caplog: pytest.LogCaptureFixture,
) -> None:
    supervisor = Supervisor(desk())
    await supervisor.run(plan=APRIL, run_id="april")
    with caplog.at_level("INFO", logger="leadhand"):
        await supervisor.run("And in May?", after="april", run_id="may")
    assert [one.after for one in await supervisor.runs()] == ["april", None]
    assert (await supervisor.handle("may").view()).after == "april"
    stored = [*await supervisor.journal.events("may")]
    assert "following april" in caplog.text
    history = RunHistory.of(stored)
    assert overview(history, held=False)["after"] == "april"
    lines = [text.plain for _, text in history_lines(history, held=False)]
    assert "follows april: What was sold in April?" in lines
    assert stored_run(stored)["after"] == "april"


# After a conversation


def test_a_run_follows_a_conversation_that_is_no_run() -> None:
    said = EarlierRun(request="What was sold in April?", answer="5 in the north")
    before = [EarlierRun(request=f"Question {number}") for number in range(MAX_RUNS)]
    supervisor = Supervisor(desk())

    async def main() -> tuple[RunView, RunStarted]:
        plan = Plan(goal="And in May?", tasks=[add("previous")])
        run = await supervisor.start(plan=plan, earlier=[said, *before])
        await run.answer()
        (started,) = [e async for e in run.events() if isinstance(e, RunStarted)]
        return await run.view(), started

    view, started = run_virtual(main())
    assert seen[-1].inputs["previous"] == "5 in the north"
    assert view.after is None
    assert started.after == (said, *before[:-1]), "as many as of runs"


async def test_a_conversation_comes_before_the_run_that_is_followed() -> None:
    supervisor = Supervisor(desk())
    await supervisor.run(plan=APRIL, run_id="april")
    said = EarlierRun(request="Hello", answer="Good day")
    plan = Plan(goal="And in May?", tasks=[add("previous/north", "previous/previous")])
    await supervisor.run(plan=plan, after="april", earlier=[said])
    assert seen[-1].inputs == {"previous/north": {"sold": 5}, "previous/previous": "Good day"}
