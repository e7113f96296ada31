"""The deadline counts from the call: libraries that load too slowly don't hold the answer back."""

import json
import subprocess
import sys
import textwrap

from leadhand.testing.json_data import Object, mapping, parse
from tests.patience import HANG_S

PROGRAM = """
import sys, threading
from importlib.machinery import ModuleSpec
from leadhand import Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.team import TaskTemplate

class Never:
    '''Libraries that are still being imported when the run has to end.'''

    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self) if name == "pydantic_ai" else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        threading.Event().wait()

def by_code(handoff: Handoff) -> str:
    return f"code did {handoff.intent}"

# What is leadhand's own is loaded before the deadline counts: a busy machine takes long for it.
Supervisor(Team("first", workers=[Worker("a", "Knows a", run=by_code)])).run_sync("Which port?")
sys.meta_path.insert(0, Never())
"""
MODEL = 'model="openai-chat:silent"'


def answered(lines: str) -> Object:
    """The answer document of a program that never finishes its imports."""
    program = PROGRAM + textwrap.dedent(lines) + "\nprint(answer.model_dump_json())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=HANG_S, check=True
    )
    return mapping(parse(done.stdout))


def test_without_code_the_run_fails_by_its_deadline_and_says_why() -> None:
    answer = answered(f"""
        team = Team("t", {MODEL}, workers=[Worker("a", "Knows a", instructions="Find it.")])
        answer = Supervisor(team, deadline_s=0.5).run_sync("Which port?")
    """)
    assert (answer["status"], answer["ended_by"]) == ("failed", "deadline")
    assert "with the run's deadline of 0.5 s" in json.dumps(answer["gaps"])


def test_the_template_and_offline_code_have_time_for_their_work() -> None:
    answer = answered(f"""
        worker = Worker("a", "Knows a", instructions="Find it.", offline=by_code)
        template = [TaskTemplate(id="t", worker="a", intent="Find the port")]
        team = Team("t", {MODEL}, workers=[worker], template=template)
        answer = Supervisor(team, deadline_s=3).run_sync("Which port?")
    """)
    assert (answer["status"], answer["output"]) == ("partial", "code did Find the port")
    assert "were not loaded" in json.dumps(answer["gaps"])


def test_functions_beside_a_model_do_their_tasks_of_a_plan_of_ones_own() -> None:
    answer = answered(f"""
        workers = [Worker("a", "Knows a", run=by_code), Worker("b", "Knows b", instructions="Go.")]
        tasks = tuple(Task(id=id, worker=id, intent="it") for id in "ab")
        plan = Plan(goal="g", tasks=tasks)
        supervisor = Supervisor(Team("t", {MODEL}, workers=workers), deadline_s=3)
        answer = supervisor.run_sync(plan=plan)
    """)
    assert (answer["status"], answer["answer"] is not None) == ("partial", True)
    assert "code did it" in str(answer["answer"])
    assert "were not loaded" in json.dumps(answer["gaps"])
