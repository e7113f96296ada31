"""The life of a service: ready, shut down, taken up again; and runs that are cancelled."""

import asyncio
import json
import logging
from pathlib import Path

import pytest

from leadhand import Answer, Budget, InputError, JournalError, Supervisor, Team, Worker
from leadhand.contracts.events import RunFinished, RunResumed, RunStopped
from leadhand.contracts.outcome import Handoff
from leadhand.errors import RunInterrupted
from tests.handles import interrupted as interrupted_at
from tests.handles import resumed
from tests.in_process import InProcess
from tests.plans.samples import plan, task
from tests.run.people.desk import PAINT, RUN, Desk, answered


class Gate:
    """A worker that works until a test lets it through."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.open = asyncio.Event()

    async def work(self, handoff: Handoff) -> str:
        """Done once the gate is open."""
        self.begun.set()
        await self.open.wait()
        return "done"

    def supervisor(self, home: Path | None, *, name: str = "gate") -> Supervisor:
        """The supervisor of a team with this worker alone."""
        return Supervisor(Team(name, workers=(Worker("worker", "w", run=self.work),)), home=home)


ONE = plan(task("t1"))


async def at_work(
    gate: Gate, home: Path | None = None, run_id: str = RUN, *, name: str = "gate"
) -> tuple[Supervisor, asyncio.Task[Answer]]:
    """A supervisor with a run whose worker is at the gate."""
    supervisor = gate.supervisor(home, name=name)
    running = asyncio.create_task(supervisor.run(plan=ONE, run_id=run_id))
    await gate.begun.wait()
    return supervisor, running


async def interrupted(home: Path, run_id: str, *, name: str = "gate") -> None:
    """Leave a run that was interrupted in a folder."""
    supervisor, running = await at_work(Gate(), home, run_id, name=name)
    await supervisor.shutdown(grace_s=0)
    with pytest.raises(RunInterrupted):
        await running
    await supervisor.close()


# Shutting down


async def test_a_shutdown_interrupts_all_callers_and_another_supervisor_goes_on(
    tmp_path: Path,
) -> None:
    gate, later = Gate(), Gate()
    first, second = gate.supervisor(tmp_path), later.supervisor(tmp_path)

    async def read() -> None:
        async for _ in first.handle(RUN).events():
            pass

    running = asyncio.create_task(first.run(plan=ONE, run_id=RUN))
    await gate.begun.wait()
    others = [first.run(plan=ONE, run_id=RUN, if_exists="join"), read()]
    calls = [running, *map(asyncio.ensure_future, others)]
    await asyncio.sleep(0)
    await first.shutdown(grace_s=1)
    for call in calls:
        with pytest.raises(RunInterrupted) as raised:
            await call
        assert raised.value.run_id == RUN
    with pytest.raises(RunInterrupted):
        await first.run(plan=ONE)
    with pytest.raises(RunInterrupted):
        await resumed(first, RUN)
    assert (await first.handle(RUN).view()).status == "interrupted"
    later.open.set()
    assert (await resumed(second, RUN)).status == "complete"
    events = await second.journal.events(RUN)
    stopped = [event.reason for event in events if isinstance(event, RunStopped)]
    assert stopped == ["the supervisor was shut down"]
    assert [event.crashes for event in events if isinstance(event, RunResumed)] == [{}]
    await asyncio.gather(first.close(), second.close())


async def test_a_run_that_ends_within_the_grace_period_gives_its_answer() -> None:
    supervisor, running = await at_work(gate := Gate())
    asyncio.get_running_loop().call_later(5, gate.open.set)
    await supervisor.shutdown(grace_s=9)
    assert asyncio.get_running_loop().time() < 6
    assert (await running).status == "complete"
    await supervisor.shutdown(grace_s=9)


async def test_a_shutdown_that_cancels_has_every_run_answer() -> None:
    supervisor, running = await at_work(Gate())
    await supervisor.shutdown(grace_s=0, mode="cancel")
    answer = await running
    assert (answer.status, answer.gaps[0].why) == ("cancelled", "the supervisor was shut down")
    assert (await supervisor.handle(RUN).view()).answer == answer


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8, 13])
async def test_two_shutdowns_at_once_end_the_same_calls(steps: int) -> None:
    """A signal's handler and the server's own end may both ask for it."""

    async def later(supervisor: Supervisor) -> None:
        for _ in range(steps):
            await asyncio.sleep(0)
        await supervisor.shutdown(grace_s=0)

    supervisor, running = await at_work(Gate())
    await asyncio.gather(supervisor.shutdown(grace_s=0), later(supervisor))
    with pytest.raises(RunInterrupted):
        await running


async def test_a_caller_that_is_cancelled_itself_is_not_interrupted() -> None:
    _, running = await at_work(Gate())
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_wrong_arguments_of_a_shutdown_shut_nothing_down() -> None:
    gate = Gate()
    supervisor = gate.supervisor(None)
    gate.open.set()
    with pytest.raises(InputError, match="mode is 'kill'; it must be 'interrupt' or 'cancel'"):
        await supervisor.shutdown(mode="kill")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="grace_s is -1"):
        await supervisor.shutdown(grace_s=-1)
    assert (await supervisor.run(plan=ONE)).status == "complete"


# Taking up what was left


async def test_interrupted_runs_of_the_team_are_each_resumed_by_one_of_two_processes(
    tmp_path: Path,
) -> None:
    for run_id in ("r1", "r2", "r3"):
        await interrupted(tmp_path, run_id)
    await interrupted(tmp_path, "other", name="another team")
    gate = Gate()
    gate.open.set()
    both = [gate.supervisor(tmp_path) for _ in range(2)]
    await both[0].run(plan=ONE, run_id="done")
    found = await asyncio.gather(*(one.resume_interrupted() for one in both))
    assert sorted(found[0] + found[1]) == ["r1", "r2", "r3"]
    for run_id in ("r1", "r2", "r3"):
        events = [event async for event in both[0].handle(run_id).events()]
        assert isinstance(events[-1], RunFinished)
        assert sum(isinstance(event, RunResumed) for event in events) == 1
    assert [run.run_id for run in await both[0].runs(status="interrupted")] == ["other"]
    for one in both:
        await one.shutdown(grace_s=60)
        await one.close()


async def test_no_more_interrupted_runs_are_resumed_than_the_limit_says(tmp_path: Path) -> None:
    for run_id in ("r1", "r2", "r3"):
        await interrupted(tmp_path, run_id)
    gate = Gate()
    gate.open.set()
    supervisor = gate.supervisor(tmp_path)
    with pytest.raises(InputError, match="limit is 0"):
        await supervisor.resume_interrupted(limit=0)
    assert await supervisor.resume_interrupted(limit=2) == ["r3", "r2"]
    assert await supervisor.resume_interrupted(limit=2) == ["r1"]
    assert await supervisor.resume_interrupted(limit=2) == []
    await supervisor.shutdown(grace_s=60)
    await supervisor.close()


async def test_only_interrupted_runs_are_resumed_that_the_caller_wants(tmp_path: Path) -> None:
    for run_id in ("r1", "r2"):
        await interrupted(tmp_path, run_id)
    gate = Gate()
    gate.open.set()
    supervisor = gate.supervisor(tmp_path)
    heard: list[tuple[str, str]] = []
    supervisor.add_listener(lambda event: heard.append((event.run_id, event.type)))
    assert await supervisor.resume_interrupted(where=lambda run: run.run_id != "r2") == ["r1"]
    await supervisor.shutdown(grace_s=60)
    await supervisor.close()
    assert heard[0] == ("r1", "run_resumed")
    assert heard[-1] == ("r1", "run_finished")


async def test_a_run_whose_reply_no_process_has_read_is_resumed_and_one_that_waits_is_not() -> None:
    supervisor = Supervisor(Desk().team(), approve=["escalation"])
    for run_id in ("replied", "waits"):
        await supervisor.run(plan=PAINT, run_id=run_id)
    await supervisor.handle("replied").reply(answered("blue"), resume=False)
    assert await supervisor.resume_interrupted() == ["replied"]
    await supervisor.shutdown(grace_s=60)
    assert (await supervisor.handle("replied").view()).status == "complete"
    assert (await supervisor.handle("waits").view()).status == "waiting"


async def test_a_run_that_cannot_be_resumed_is_logged_and_the_others_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="leadhand")
    await interrupted(tmp_path, "good")
    gate = Gate()
    gate.open.set()
    workers = (Worker("worker", "w", run=gate.work), Worker("clerk", "c", run=gate.work))
    strange = Supervisor(Team("gate", workers=workers), home=tmp_path)
    gate.open.clear()
    running = asyncio.create_task(strange.run(plan=plan(task("t1", worker="clerk")), run_id="bad"))
    async for event in strange.handle("bad").events():
        if event.type == "task_dispatched":
            break
    await strange.shutdown(grace_s=0)
    with pytest.raises(RunInterrupted):
        await running
    gate.open.set()
    supervisor = gate.supervisor(tmp_path)
    assert "good" in await supervisor.resume_interrupted()
    good = [event async for event in supervisor.handle("good").events()]
    assert isinstance(good[-1], RunFinished)
    await supervisor.shutdown()
    await asyncio.gather(strange.close(), supervisor.close())
    assert "resuming run bad: run 'bad' can't be resumed: team 'gate' has no" in caplog.text


# Cancelling


@pytest.mark.parametrize("stored", [False, True])
async def test_a_run_that_waits_is_cancelled_and_its_results_are_kept(
    tmp_path: Path, *, stored: bool
) -> None:
    desk = Desk()
    supervisor = Supervisor(desk.team(), approve=["escalation"], home=tmp_path if stored else None)
    two = plan(task("t1", worker="painter"), task("t2", worker="clerk"))
    await supervisor.run(plan=two, run_id=RUN)
    await supervisor.handle(RUN).reply(answered("blue"), resume=False)
    await supervisor.handle(RUN).cancel("the wall is gone")
    view = await supervisor.handle(RUN).view()
    assert view.status == "cancelled"
    assert view.questions == ()
    assert view.answer is not None
    assert [(gap.task_id, gap.why) for gap in view.answer.gaps] == [("t1", "the wall is gone")]
    assert "t2 is filed" in view.answer.answer
    assert view.answer.ended_by == "person"
    assert [(one.id, one.status) for one in view.answer.tasks] == [
        ("t1", "cancelled"),
        ("t2", "completed"),
    ]
    assert await supervisor.journal.messages(RUN) == []
    with pytest.raises(InputError, match="run 'asked' is cancelled: there is nothing to"):
        await supervisor.handle(RUN).cancel()
    later = await resumed(supervisor, RUN)
    assert [one.task_id for one in later.waiting] == ["t1"], "it can be resumed all the same"
    await supervisor.close()


async def test_a_run_that_was_interrupted_before_it_had_a_plan_is_cancelled(tmp_path: Path) -> None:
    gate = Gate()
    supervisor = gate.supervisor(tmp_path)
    await interrupted_at(supervisor, "do it", at="run_started", run_id=RUN)
    await supervisor.handle(RUN).cancel()
    answer = (await supervisor.handle(RUN).view()).answer
    assert answer is not None
    assert (answer.status, answer.gaps[0].task_id) == ("cancelled", "plan")
    await supervisor.close()


async def test_a_run_of_this_supervisor_is_told_to_stop_before_anything_is_awaited() -> None:
    supervisor, running = await at_work(Gate())
    await supervisor.handle(RUN).cancel("told")
    answer = await running
    assert (answer.status, answer.gaps[0].why) == ("cancelled", "told")
    supervisor.cancel()


async def test_a_run_of_another_supervisor_on_the_journal_is_cancelled(tmp_path: Path) -> None:
    gate = Gate()
    first, second = gate.supervisor(tmp_path), Gate().supervisor(tmp_path)
    running = asyncio.create_task(first.run(plan=ONE, run_id=RUN))
    await gate.begun.wait()
    await second.handle(RUN).cancel("told from elsewhere")
    answer = await running
    assert (answer.status, answer.gaps[0].why) == ("cancelled", "told from elsewhere")
    await asyncio.gather(first.close(), second.close())


async def test_a_run_that_there_is_not_cannot_be_cancelled(tmp_path: Path) -> None:
    supervisor = Gate().supervisor(tmp_path)
    with pytest.raises(InputError, match="there is no run 'gone'"):
        await supervisor.handle("gone").cancel()
    await supervisor.close()


# Being ready


def model_team(name: str) -> Team:
    """A team with a model."""
    return Team("t", model=name, workers=(Worker("worker", "w", instructions="Work."),))


@pytest.mark.parametrize(
    ("model", "why"),
    [("openai:gpt-5-mini", "OPENAI_API_KEY"), ("nobody:gpt", "model 'nobody:gpt' can't be used")],
)
def test_a_model_that_cannot_be_used_is_known_when_the_service_starts(model: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        asyncio.run(Supervisor(model_team(model)).ready())


def test_a_budget_that_cannot_be_enforced_is_known_when_the_service_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    team = model_team("openai:a-model-of-our-own")
    with pytest.raises(InputError, match="-of-our-own' is unknown"):
        asyncio.run(Supervisor(team, budget=Budget(usd=1.0)).ready())


def test_a_journal_that_cannot_be_written_is_known_when_the_service_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    supervisor = Supervisor(Desk().team(), home=tmp_path / "file" / "home")
    with pytest.raises(JournalError):
        asyncio.run(supervisor.ready())


async def test_a_service_that_is_ready_has_stored_nothing(tmp_path: Path) -> None:
    supervisor = Supervisor(Desk().team(), home=tmp_path)
    await supervisor.ready()
    await supervisor.ready()
    assert await supervisor.runs() == []
    assert (await supervisor.run("file it")).status != "failed"
    await supervisor.close()


async def test_of_a_deleted_run_a_line_without_its_content_stays(
    in_process: InProcess, tmp_path: Path
) -> None:
    def answer(handoff: Handoff) -> str:
        return handoff.intent

    team = Team("desk", workers=(Worker("clerk", "answers", run=answer),))
    supervisor = Supervisor(team, home=tmp_path)
    await supervisor.run("my secret wish", run_id="one", origin={"tenant": "a"})
    assert await supervisor.delete("one", by="ann") == ["one"]
    ((key, line),) = (await supervisor.journal.notes("")).items()
    assert key.startswith("deleted/")
    known = json.loads(line)
    assert known.pop("at")
    assert known == {"run_id": "one", "team": "desk", "status": "complete", "by": "ann"}
    await supervisor.close()
    listed = in_process("runs", "deleted", "--home", str(tmp_path))
    assert listed.out.split()[1:] == ["one", "desk", "complete", "ann"]
