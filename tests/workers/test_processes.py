"""Workers in processes: called, killed, crashed and accounted for."""

import asyncio
import contextlib
import functools
import os
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, Result
from leadhand.workers.processes import ProcessPool, ProcessWorker
from tests.workers import worker_samples as samples
from tests.workers.process_ids import assert_gone, is_there, said, wait_for
from tests.workers.worker_samples import BOUND_S, make_handoff, message_of

T = TypeVar("T")
Function = Callable[..., object]


class Bench:
    """An event loop and a pool of two that tests share, since processes take a while to start."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.runner = runner
        self.pool = ProcessPool(2)

    def run(self, function: Function, intent: str = "do it") -> Outcome:
        return self.do(ProcessWorker(function, self.pool).run(make_handoff(intent)))

    def do(self, work: Coroutine[object, object, T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(BOUND_S):
                return await work

        return self.runner.run(bounded())


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with asyncio.Runner() as runner:
        bench = Bench(runner)
        yield bench
        bench.do(bench.pool.close())


def run_alone(function: Function, intent: str = "do it", **options: int) -> Outcome:
    """The outcome of one call in a pool of its own."""

    async def main() -> Outcome:
        async with asyncio.timeout(BOUND_S), ProcessPool(1, **options) as pool:
            return await ProcessWorker(function, pool).run(make_handoff(intent))

    return asyncio.run(main())


def output_of(outcome: Outcome) -> object:
    assert isinstance(outcome, Completed), outcome
    return outcome.result.output


@contextlib.asynccontextmanager
async def running(function: Function, pool: ProcessPool, sign: Path) -> AsyncGenerator[int]:
    """A call that has come to where it wrote a process id to `sign`; cancelled at the end."""
    task = asyncio.create_task(ProcessWorker(function, pool).run(make_handoff(str(sign))))
    yield await said(sign)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# Calls


def test_functions_are_called_in_another_process(bench: Bench) -> None:
    pid = output_of(bench.run(samples.where))
    assert pid in bench.pool.pids
    assert pid != os.getpid()
    assert output_of(bench.run(samples.echo, "größer\n")) == "größer\n"
    asynchronous = bench.run(samples.echo_async)
    assert asynchronous == Completed(result=Result(output="do it", confidence=90))
    escalated = bench.run(samples.escalate)
    assert escalated == Escalated(reason="out_of_scope", message="ask billing")
    option = ["a", {"b": None}]
    bound = functools.partial(samples.with_option, option=option)
    assert output_of(bench.run(bound)) == {"intent": "do it", "option": option}


def test_what_it_raises_or_wrongly_returns_is_a_failure_and_the_process_is_reused(
    bench: Bench,
) -> None:
    """F38: BaseException and the wrong type."""
    pid = bench.run(samples.where)
    assert message_of(bench.run(samples.fail)) == "ValueError: no such invoice"
    assert message_of(bench.run(samples.exit_politely)) == "SystemExit: 3"
    wrong = bench.run(samples.unserialisable)
    assert isinstance(wrong, Failed)
    assert wrong.kind == "invalid_output"
    assert wrong.message.startswith("the output['lock'] is of type")
    assert bench.run(samples.where) == pid


def test_the_declared_type_is_enforced(bench: Bench) -> None:
    """F38: the wrong type."""
    worker = ProcessWorker(samples.echo, bench.pool, output=int)
    assert output_of(bench.do(worker.run(make_handoff("12")))) == 12
    outcome = bench.do(worker.run(make_handoff("twelve")))
    assert isinstance(outcome, Failed)
    assert outcome.kind == "invalid_output"
    assert outcome.message.startswith("the output is not int")


def test_what_a_worker_prints_goes_to_stderr_and_it_has_the_environment_but_no_stdin(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADHAND_SAMPLE", "seen")
    assert output_of(run_alone(samples.talk)) == "seen, ''"
    out, err = capfd.readouterr()
    assert out == ""
    for line in ("printed by the worker", "written to descriptor 1", "printed by its child"):
        assert line in err


def test_large_handoffs_and_outputs_come_through(bench: Bench) -> None:
    intent = "ü" * 3_000_000
    assert output_of(bench.run(samples.echo, intent)) == intent


@pytest.mark.wall_clock
async def test_an_output_over_the_limit_is_a_failure_and_the_process_is_reused() -> None:
    async with asyncio.timeout(BOUND_S), ProcessPool(1, max_output_bytes=100_000) as pool:
        worker = ProcessWorker(samples.much, pool)
        outcome = await worker.run(make_handoff("200000"))
        pids = pool.pids
        assert isinstance(outcome, Failed)
        assert outcome.kind == "invalid_output"
        assert "more than the 100,000" in outcome.message
        assert output_of(await worker.run(make_handoff("3"))) == "xxx"
        assert pool.pids == pids


def test_a_function_may_open_a_pool_of_its_own_when_it_is_called(bench: Bench) -> None:
    assert output_of(bench.run(samples.open_pool)) == "opened"


# The pool


def test_two_processes_work_side_by_side_and_are_used_again(bench: Bench, tmp_path: Path) -> None:
    async def main() -> None:
        worker = ProcessWorker(samples.meet, bench.pool)
        calls = (worker.run(make_handoff(str(tmp_path))) for _ in range(40))
        pids = [output_of(outcome) for outcome in await asyncio.gather(*calls)]
        assert set(pids) == bench.pool.pids
        assert len(bench.pool.pids) == 2

    bench.do(main())


@pytest.mark.wall_clock
async def test_warm_processes_are_used_and_closing_kills_idle_and_busy_ones(tmp_path: Path) -> None:
    pool = ProcessPool(2)
    await pool.warm(9)
    pids = pool.pids
    assert len(pids) == 2
    worker = ProcessWorker(samples.never_return, pool)
    task = asyncio.create_task(worker.run(make_handoff(str(tmp_path / "busy"))))
    assert await said(tmp_path / "busy") in pids
    assert pool.pids == pids
    await pool.close()
    for pid in pids:
        assert_gone(pid)
    assert not pool.pids
    stopped = Failed(kind="crashed", message="the worker's process was stopped with the run")
    assert await task == stopped
    closed = Failed(kind="crashed", message="the worker processes were already closed")
    assert await worker.run(make_handoff()) == closed
    await pool.close()


def test_a_process_that_died_while_idle_is_replaced(bench: Bench) -> None:
    pid = output_of(bench.run(samples.where))
    assert isinstance(pid, int)
    os.kill(pid, signal.SIGKILL)
    assert_gone(pid)
    assert output_of(bench.run(samples.where)) != pid


# Ends


@pytest.mark.parametrize("function", [samples.never_return, samples.never_return_async])
def test_one_that_never_returns_is_killed_when_its_task_is_cancelled(
    bench: Bench, function: Function, tmp_path: Path
) -> None:
    """F38: nothing is left of it, and siblings are unharmed."""

    async def main() -> None:
        async with running(function, bench.pool, tmp_path / "pid") as pid:
            assert is_there(pid)
            echo = ProcessWorker(samples.echo, bench.pool)
            assert output_of(await echo.run(make_handoff())) == "do it"
        assert_gone(pid)
        assert pid not in bench.pool.pids

    bench.do(main())


def test_processes_that_a_killed_worker_started_are_killed_with_it(
    bench: Bench, tmp_path: Path
) -> None:
    async def main() -> int:
        sign = tmp_path / "pid"
        async with running(samples.start_a_child_and_wait, bench.pool, sign) as grandchild:
            assert is_there(grandchild)
        return grandchild

    assert_gone(bench.do(main()))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (samples.crash, "was killed by SIGSEGV"),
        (samples.die_of_memory, "was killed by SIGKILL, perhaps because memory ran out"),
        (samples.exit_at_once, "ended with status 3 before it answered"),
    ],
)
def test_a_crash_is_a_failure_that_says_how_it_ended(
    bench: Bench, function: Function, message: str
) -> None:
    """F38."""
    message = f"the worker's process {message}"
    crashed = Failed(kind="crashed", message=message, transient=True)
    assert bench.run(function) == crashed
    assert output_of(bench.run(samples.echo)) == "do it"


def test_a_crash_is_noticed_though_a_fork_lives_on_and_that_is_killed_too(
    bench: Bench, tmp_path: Path
) -> None:
    sign = tmp_path / "fork"
    message = "the worker's process ended with status 3 before it answered"
    ended = Failed(kind="crashed", message=message, transient=True)
    assert bench.run(samples.fork_and_crash, str(sign)) == ended
    assert_gone(wait_for(sign))
