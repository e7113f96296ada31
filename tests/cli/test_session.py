"""A run on the command line: progress, and what a signal does to it."""

import os
import signal
from pathlib import Path

import pytest

from leadhand.cli.duration import parse_duration
from leadhand.errors import InputError
from tests.cli.program import leadhand
from tests.patience import HANG_S
from tests.programs import ROOT, Ended, Program, forkserver

PROGRAM = """
import asyncio
import sys
import time
from leadhand import Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.cli.options import OutputOptions
from leadhand.cli.run.execution import LiveRun
from leadhand.cli.run.storage import RunStorage


async def quick(handoff: Handoff) -> str:
    return "done"


async def forever(handoff: Handoff) -> str:
    print("begun", flush=True)
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            if {obedient}:
                raise
            if {blocks_s}:
                print("blocking", flush=True)
            time.sleep({blocks_s})


team = Team("t", workers=[Worker("quick", "d", run=quick), Worker("forever", "d", run=forever)])
tasks = [
    Task(id="a", worker="quick", intent="be quick"),
    Task(id="b", worker="forever", intent="take for ever", depends_on=["a"]),
]
supervisor = Supervisor(team)
answer = LiveRun(RunStorage({home!r}), "r", "a run", OutputOptions(quiet=True)).follow(
    supervisor,
    lambda tell: supervisor.run("go", plan=Plan(goal="go", tasks=tasks), listener=tell),
)
print(answer.status, answer.output, flush=True)
sys.exit(7)
"""


def started(home: Path, *, obedient: bool, blocks_s: float = 0.0) -> Program:
    """The program, once its second task has begun."""
    code = PROGRAM.format(home=str(home), obedient=obedient, blocks_s=blocks_s)
    program = forkserver().start("-c", code, folder=ROOT)
    program.says("begun\n", "err")
    return program


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_stops_the_work_and_keeps_what_is_done(
    number: signal.Signals, tmp_path: Path
) -> None:
    """F37"""
    with started(tmp_path, obedient=True) as program:
        program.kill(number)
        assert program.ended() == Ended(7, "cancelled {'a': 'done'}\n", "begun\n")


def test_one_signal_is_enough_for_a_worker_that_ignores_its_cancellation(tmp_path: Path) -> None:
    """F37, F38"""
    with started(tmp_path, obedient=False) as program:
        program.kill(signal.SIGINT)
        ended = program.ended()
    assert ended.out == "cancelled {'a': 'done'}\n"
    assert ended.status == 7


def test_a_second_signal_ends_the_process_even_while_the_loop_is_blocked(tmp_path: Path) -> None:
    """F37"""
    with started(tmp_path, obedient=False, blocks_s=HANG_S) as program:
        program.kill(signal.SIGINT)
        program.says("blocking\n", "err")
        program.kill(signal.SIGINT)
        assert program.ended().status == 130


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5_400), ("250ms", 0.25), ("5", 5), ("1.5h", 5_400)],
)
def test_durations_are_read_as_people_type_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "-5s", "0", "10 m", "5x", "1m soon", "1e9", "nan"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_duration(text)


def test_f34_a_warning_of_spans_does_nothing_to_the_terminal() -> None:
    hostile = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "\x1b]0;x\a",
    }
    code = (
        "from leadhand.cli.run import execution\n"
        "with execution.spans_from_environment(warn=execution._warn): pass"
    )
    env = {**os.environ, **hostile}
    said = forkserver().run("-c", code, folder=ROOT, env=env).err
    assert "leadhand: no spans are sent to http://x" in said
    assert "\\x1b]0;x" in said
    assert said.rstrip("\n").isprintable()


def test_events_that_cannot_be_written_are_one_clear_line(tmp_path: Path) -> None:
    ended = leadhand(
        "review", "--diff", "-", "--events", "no/such/folder/e.jsonl", folder=tmp_path,
        given="--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+x = 1\n",
    )  # fmt: skip
    assert ended.status == 2
    assert "can't write events to no/such/folder/e.jsonl" in ended.err
