"""A tool that never returns holds neither the run nor the process."""

from tests.programs import ROOT, forkserver

PROGRAM = """
import threading
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from leadhand import Limits, Plan, Supervisor, Task, Team, Worker
from leadhand.testing import VirtualClock
from tests.hanging import run_hanging

hung = threading.Event()

def hang() -> str:
    "Never returns."
    hung.set()
    threading.Event().wait()
    return ""

model = FunctionModel(lambda messages, info: ModelResponse([ToolCallPart("hang", {})]))
team = Team("t", workers=(Worker("w", "Waits", tools=(hang,)),), model=model)
task = Task(id="t1", worker="w", intent="Wait for it", limits=Limits(timeout_s=100))
work = Supervisor(team, clock=VirtualClock()).run(plan=Plan(goal="wait", tasks=(task,)))
answer, _ = run_hanging(work, hung.is_set, threads_hang=True)
print(answer.status, "-", answer.gaps[0].why)
"""


def test_a_process_exits_though_a_tool_of_its_run_never_returns() -> None:
    """F38"""
    ended = forkserver().run("-c", PROGRAM, folder=ROOT)
    assert (ended.status, ended.out) == (0, "failed - no answer within 100 s\n"), ended.err
    assert "Traceback" not in ended.err
