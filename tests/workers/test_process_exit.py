"""A tool that never returns holds neither the run nor the process."""

import os
import subprocess
import sys

from leadhand.testing import ScriptedServer

PROGRAM = """
import threading
from leadhand import Limits, Plan, Supervisor, Task, Team, Worker

def hang() -> str:
    "Never returns."
    threading.Event().wait()
    return ""

team = Team("t", workers=(Worker("w", "Waits", tools=(hang,)),), model="openai-chat:scripted")
task = Task(id="t1", worker="w", intent="Wait for it", limits=Limits(timeout_s=0.5))
answer = Supervisor(team).run_sync(plan=Plan(goal="wait", tasks=(task,)))
print(answer.status, "-", answer.gaps[0].why)
"""


def test_a_process_exits_though_a_tool_of_its_run_never_returns(
    model_server: ScriptedServer,
) -> None:
    """F38"""
    model_server.configure(faults={"repeat_call": 1.0})
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **model_server.env()},
    )
    assert done.stdout == "failed - no answer within 0.5 s\n"
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
