"""Whole runs whose Postgres database stalls, or whose connection another process makes use of."""

import asyncio
from collections.abc import Callable, Iterator

import psycopg
import pytest

from leadhand import Answer, Escalated, Handoff, Plan, Reply, Supervisor, Task, Team, Worker
from leadhand.contracts.outcome import PausedAttempt
from leadhand.contracts.people import ToolCall
from leadhand.contracts.team import WorkFunction
from leadhand.errors import JournalError, RunTaken
from tests.handles import replied, resumed
from tests.journal.postgres_server import end_sessions, until_blocked
from tests.patience import wait_until

pytestmark = pytest.mark.wall_clock

PLAN = Plan(
    goal="Count twice",
    tasks=(
        Task(id="a", worker="count", intent="Count these words"),
        Task(id="b", worker="count", intent="Count them again", depends_on=("a",)),
    ),
)


@pytest.fixture
def supervised(url: str) -> Iterator[Callable[..., Supervisor]]:
    """Makes supervisors of a team with one worker; their journals are closed at the end."""
    made: list[Supervisor] = []

    def make(run: WorkFunction, *, deadline_s: float | None = 600.0) -> Supervisor:
        team = Team("words", workers=(Worker("count", "Counts words", run=run),))
        made.append(Supervisor(team, home=url, deadline_s=deadline_s))
        return made[-1]

    yield make
    for supervisor in made:
        asyncio.run(supervisor.close())


async def test_a_paused_attempt_continues_in_another_process_of_the_database(url: str) -> None:
    wanted = ToolCall(id="k", tool="demolish", worker="count", arguments={"house": 1})

    async def work(handoff: Handoff) -> str | Escalated:
        if handoff.paused is None:
            paused = PausedAttempt(calls=(wanted,), conversation=["so far"])
            return Escalated(reason="ambiguous_input", message="may I?", paused=paused)
        assert handoff.paused.replies is not None
        return f"{handoff.paused.conversation} {handoff.paused.replies['k'].approved}"

    def supervisor() -> Supervisor:
        return Supervisor(Team("t", workers=[Worker("count", "Counts", run=work)]), home=url)

    first, second = supervisor(), supervisor()
    one = Plan(goal="Count", tasks=PLAN.tasks[:1])
    (question,) = (await first.run(plan=one, run_id="paused")).waiting
    assert [call.arguments for call in question.calls] == [{"house": 1}]
    answer = await replied(second, "paused", Reply(task_id="a", verdict="approved"))
    assert (await first.handle("paused").view()).answer == answer
    await asyncio.gather(first.close(), second.close())
    assert (answer.status, answer.output) == ("complete", "['so far'] True")
    assert answer.tasks[0].attempts == 1


def seven(handoff: Handoff) -> int:
    return 7


class SkippingLoop(asyncio.SelectorEventLoop):
    """A loop whose time passes as ever, and faster when it is told to."""

    skipped_s = 0.0

    def time(self) -> float:
        """Seconds, with those that were skipped."""
        return super().time() + self.skipped_s


HELD = """
SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database
WHERE locktype = 'advisory' AND datname = current_database()
"""


def test_a_stalled_database_does_not_hold_up_the_answer_and_the_run_can_be_resumed(
    url: str, supervised: Callable[..., Supervisor]
) -> None:
    """F50: the table is locked from the first task until the answer is there."""
    done: list[str] = []
    locking = psycopg.connect(url)
    loop = SkippingLoop()

    def count(handoff: Handoff) -> int:
        done.append(handoff.task_id)
        if len(done) == 1:
            locking.execute("LOCK TABLE leadhand.events")
        return len(handoff.intent.split())

    async def run_until_blocked() -> Answer:
        run = asyncio.ensure_future(supervised(count).run(plan=PLAN, run_id="slow"))
        with psycopg.connect(url, autocommit=True) as watching:
            await asyncio.to_thread(until_blocked, watching)
        loop.skipped_s = 600.0
        return await run

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        answer = runner.run(run_until_blocked())

    assert answer.status == "partial"
    assert answer.ended_by == "deadline"
    assert answer.output == {"a": 3}
    assert "`leadhand resume slow` continues from what was kept" in answer.gaps[-1].why
    assert "not kept" in answer.answer
    locking.close()
    with psycopg.connect(url, autocommit=True) as watching:
        # The thread that was stalled ends only now, and with it the first run's lock.
        wait_until(lambda: watching.execute(HELD).fetchone() == (0,))

    again = asyncio.run(resumed(supervised(count), "slow"))
    assert again.status == "complete"
    assert again.output == {"a": 3, "b": 3}


async def test_a_run_that_cannot_begin_in_time_says_so_and_holds_up_no_other(
    url: str, supervised: Callable[..., Supervisor]
) -> None:
    """F50: what the start asks of the journal is asked in a thread."""
    stalled = supervised(seven, deadline_s=0.2)
    free = Supervisor(stalled.team)
    assert await stalled.journal.runs() == []  # makes the tables
    with psycopg.connect(url) as locking:
        locking.execute("LOCK TABLE leadhand.holders")
        first = asyncio.ensure_future(stalled.run(plan=PLAN, run_id="late"))
        assert (await free.run(plan=PLAN)).status == "complete"
        with pytest.raises(JournalError, match="did not answer within 1 s"):
            await first


async def test_a_process_that_lost_its_run_stops_and_the_other_finishes_it(
    url: str, supervised: Callable[..., Supervisor]
) -> None:
    """F48: it is cut off, and the run is resumed elsewhere before it is back."""
    at_work, stopped = asyncio.Event(), asyncio.Event()

    async def hang(handoff: Handoff) -> int:
        at_work.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return 0

    cut_off = supervised(hang, deadline_s=None)
    first = asyncio.ensure_future(cut_off.run(plan=PLAN, run_id="lost"))
    await at_work.wait()
    other = supervised(seven)
    while True:
        end_sessions(url)
        try:
            answer = await resumed(other, "lost")
        except (RunTaken, JournalError):
            continue  # the first was back before we were
        break
    assert answer.output == {"a": 7, "b": 7}
    await stopped.wait()
    with pytest.raises(JournalError, match="has taken it over"):
        await first
    assert (await resumed(other, "lost")).output == {"a": 7, "b": 7}
