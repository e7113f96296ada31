"""Whole programs with workers in processes: their functions, folder and death."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from leadhand.contracts.outcome import Completed, Result
from leadhand.workers.processes import ProcessPool, ProcessWorker
from tests.workers.process_ids import assert_gone, is_there, wait_for
from tests.workers.worker_samples import BOUND_S, echo, make_handoff


def run_program(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    script = folder / "program.py"
    script.write_text(textwrap.dedent(program))
    return subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )


WORK = """
    import asyncio
    from dataclasses import dataclass

    from leadhand import Handoff
    from leadhand.workers.processes import ProcessPool, ProcessWorker

    @dataclass
    class Counted:
        words: "int"

    def count(handoff):
        return Counted(len(handoff.intent.split()))

    async def main():
        async with ProcessPool(1) as pool:
            handoff = Handoff(
                run_id="r", task_id="t", attempt=1, from_agent="a", to_agent="b",
                intent="three short words", return_to="a",
            )
            outcome = await ProcessWorker(count, pool).run(handoff)
            print(outcome.model_dump_json())
"""


def test_a_function_of_the_program_s_own_script_works(tmp_path: Path) -> None:
    guarded = WORK + "\n    if __name__ == '__main__':\n        asyncio.run(main())"
    ended = run_program(tmp_path, guarded)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["result"]["output"] == {"words": 3}


def test_a_script_that_runs_when_it_is_imported_fails_with_advice(tmp_path: Path) -> None:
    ended = run_program(tmp_path, WORK + "\n    asyncio.run(main())")
    assert (ended.returncode, ended.stderr) == (0, "")
    outcome = json.loads(ended.stdout)
    assert outcome["type"] == "failed"
    assert 'start the run under `if __name__ == "__main__":`' in outcome["message"]


@pytest.mark.wall_clock
async def test_nothing_is_imported_from_the_folder_that_the_program_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F27: that may be the reviewed repository, with modules of any name."""
    for name in ("json.py", "leadhand.py", "pydantic.py", "sitecustomize.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    async with ProcessPool(1) as pool:
        outcome = await ProcessWorker(echo, pool).run(make_handoff())
        assert outcome == Completed(result=Result(output="do it"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a lock holder lives on")
def test_nothing_is_left_when_the_parent_is_killed(tmp_path: Path) -> None:
    """F38: no idle process, none that waits, none that holds the interpreter's lock."""
    program = f"""
        import asyncio, sys
        sys.path.insert(0, {str(Path(__file__).parents[2])!r})
        from tests.workers.worker_samples import make_handoff, never_return, start_a_child_and_wait
        from leadhand.workers.processes import ProcessPool, ProcessWorker

        async def main():
            pool = ProcessPool(3)
            await pool.warm(3)
            print(*pool.pids, flush=True)
            await asyncio.gather(
                ProcessWorker(never_return, pool).run(make_handoff("busy")),
                ProcessWorker(start_a_child_and_wait, pool).run(make_handoff("grandchild")),
            )

        asyncio.run(main())
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        pids += [wait_for(tmp_path / "busy"), wait_for(tmp_path / "grandchild")]
        assert all(is_there(pid) for pid in pids)
        parent.kill()
    for pid in pids:
        assert_gone(pid)
