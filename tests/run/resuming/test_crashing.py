"""A worker that kills the process is found and given up; everything else is done (F49).

With processes that really die. What the log says of it is decided by the fold alone.
"""

import json
import signal
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from leadhand.contracts.events import Event, RunResumed, RunStopped, TaskDispatched
from leadhand.journal import open_store
from leadhand.state.fold import RunState, fold
from tests.patience import wait_until
from tests.programs import Ended
from tests.run.resuming import gates
from tests.run.resuming.processes import CLI, Processes

GO = "tests.run.resuming.crashing:go"
KILLED = -signal.SIGKILL


def go(processes: Processes, folder: Path, *ids: str) -> Ended:
    """What a process leaves behind that begins or resumes runs."""
    return processes.run(GO, str(folder / "home"), *ids, folder=folder)


def log(folder: Path, run_id: str) -> Sequence[Event]:
    with closing(open_store(folder / "home")) as journal:
        return journal.events(run_id)


def state(folder: Path, run_id: str) -> RunState:
    return fold(log(folder, run_id))


def since_resumed(folder: Path, run_id: str) -> list[str]:
    """The tasks that the last process dispatched, in order."""
    events = log(folder, run_id)
    last = max(n for n, event in enumerate(events) if isinstance(event, RunResumed))
    return [one.task_id for one in events[last:] if isinstance(one, TaskDispatched)]


def test_a_task_that_kills_the_process_fails_at_its_third_crash_and_the_rest_is_done(
    processes: Processes, tmp_path: Path
) -> None:
    """F49: what was in flight at two crashes runs alone, so the innocent ones are told apart."""
    for _ in range(2):
        assert go(processes, tmp_path, "one").status == KILLED
    assert {id: one.status for id, one in state(tmp_path, "one").tasks.items()} == {
        "first": "completed",
        "slow": "running",
        "bad": "running",
        "late": "running",
        "after": "pending",
    }
    (tmp_path / "open").touch()
    assert go(processes, tmp_path, "one").status == KILLED
    assert since_resumed(tmp_path, "one") == ["slow", "bad"]
    ended = go(processes, tmp_path, "one")
    assert (ended.status, ended.out) == (0, "partial\n")
    assert since_resumed(tmp_path, "one") == ["late"]
    tasks = state(tmp_path, "one").tasks
    assert {id: (one.status, one.attempts) for id, one in tasks.items()} == {
        "first": ("completed", 1),
        "slow": ("completed", 1),
        "bad": ("failed", 3),
        "late": ("completed", 1),
        "after": ("skipped", 0),
    }
    assert tasks["bad"].error == "the process died 3 times in a row while this task ran"
    answer = state(tmp_path, "one").answer
    assert answer is not None
    assert [gap.task_id for gap in answer.gaps] == ["bad", "after"]
    assert (tmp_path / "work").read_text().count("one/bad") == 3


def test_a_crash_in_a_nested_team_counts_for_the_inner_task_alone(
    processes: Processes, tmp_path: Path
) -> None:
    """F49: its team goes on without it, and so does the run."""
    for _ in range(2):
        assert go(processes, tmp_path, "nested").status == KILLED
    (tmp_path / "open").touch()
    assert go(processes, tmp_path, "nested").status == KILLED
    ended = go(processes, tmp_path, "nested")
    assert (ended.status, ended.out) == (0, "partial\n")
    outer = state(tmp_path, "nested").tasks["team"]
    assert (outer.status, outer.attempts, outer.crashes) == ("completed", 1, 0)
    assert outer.nested is not None
    inner = {id: (one.status, one.attempts) for id, one in outer.nested.tasks.items()}
    assert inner == {"safe": ("completed", 1), "bad": ("failed", 3)}
    resumed = [event for event in log(tmp_path, "nested") if isinstance(event, RunResumed)]
    assert [event.crashes for event in resumed if not event.within] == [
        {"team/safe": n, "team/bad": n} for n in (1, 2)
    ] + [{"team/bad": 3}]


def test_a_run_beside_the_one_that_kills_the_process_loses_no_task(
    processes: Processes, tmp_path: Path
) -> None:
    """F49: suspects run alone in their process, and not only in their run."""
    for _ in range(2):
        assert go(processes, tmp_path, "exits", "bystander").status == 7
    assert {one.status for one in state(tmp_path, "bystander").tasks.values()} == {
        "running",
        "pending",
    }
    (tmp_path / "open").touch()
    while (ended := go(processes, tmp_path, "exits", "bystander")).status:
        assert ended.status == 7
    assert ended.out == "failed complete\n"
    assert {one.status for one in state(tmp_path, "bystander").tasks.values()} == {"completed"}
    assert (tmp_path / "work").read_text().count("exits/bad") == 3


@pytest.mark.parametrize("signals", [(signal.SIGINT,), (signal.SIGTERM, signal.SIGINT)])
def test_a_run_that_is_interrupted_again_and_again_blames_no_task(
    processes: Processes, tmp_path: Path, signals: tuple[int, ...]
) -> None:
    """F37, F49: once, or twice at the same time."""
    arguments: tuple[str, ...] = gates.folder_of_team(tmp_path)
    for begun in range(1, 5):
        child = processes.start(CLI, *arguments, folder=tmp_path)
        wait_until(lambda begun=begun: gates.work(tmp_path).count("d begun") == begun)
        child.kill(signal.SIGSTOP)  # so that all are there when it looks
        for number in signals:
            child.kill(number)
        child.kill(signal.SIGCONT)
        assert child.ended().status == 130
        assert not Path((tmp_path / "scratch").read_text()).exists()
        arguments = ("resume", "last", "--json", "--quiet")
    (tmp_path / "open").touch()
    (tmp_path / "end").touch()
    ended = processes.run(CLI, *arguments, folder=tmp_path)
    run_id: str = json.loads(ended.out)["run_id"]
    events = log(tmp_path, run_id)
    assert ended.status == 0
    assert sum(isinstance(event, RunStopped) for event in events) == 4
    assert not any(event.crashes for event in events if isinstance(event, RunResumed))


def test_a_run_whose_program_cancels_it_blames_no_task(
    processes: Processes, tmp_path: Path
) -> None:
    """F49: asyncio cancels what `asyncio.run` waits for at the first Ctrl-C."""
    child = processes.start(GO, str(tmp_path / "home"), "waits", folder=tmp_path)
    wait_until(lambda: (tmp_path / "work").exists())
    child.kill(signal.SIGINT)
    assert "KeyboardInterrupt" in child.ended().err
    assert any(isinstance(event, RunStopped) for event in log(tmp_path, "waits"))
    (tmp_path / "open").touch()
    assert go(processes, tmp_path, "waits").out == "complete\n"
    (resumed,) = (event for event in log(tmp_path, "waits") if isinstance(event, RunResumed))
    assert resumed.crashes == {}


def test_another_process_sees_what_is_running(
    processes: Processes, later: Processes, tmp_path: Path
) -> None:
    child = processes.start(GO, str(tmp_path / "home"), "waits", folder=tmp_path)
    wait_until(lambda: (tmp_path / "work").exists())
    shown = later.run(CLI, "show", "waits", "--json", folder=tmp_path)
    assert shown.status == 0
    tasks = {task["id"]: task["status"] for task in json.loads(shown.out)["tasks"]}
    assert tasks == {"slow": "running", "next": "pending"}
    (tmp_path / "open").touch()
    assert child.ended().out == "complete\n"
