"""A team folder whose painter has to be told the colour, and the functions of its workers."""

import threading
from pathlib import Path

from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, PlanImpact, Result
from tests.team_folders import worker, write_team

ROOT = Path(__file__).parent.parent.parent
ENV = {"PYTHONPATH": str(ROOT), "LEADHAND_MODEL": "none"}
"""Where the functions can be imported, and no model is looked for."""
PLAN = {
    "goal": "Have it painted",
    "tasks": [
        {"id": "t1", "worker": "painter", "intent": "paint the north wall"},
        {"id": "t2", "worker": "clerk", "intent": "file the permit"},
    ],
}


def paint(handoff: Handoff) -> Outcome:
    """Hands back what does not say a colour."""
    if "says: " not in handoff.intent:
        return Escalated(reason="ambiguous_input", message="which colour?")
    wall = handoff.intent.partition("\n")[0].removeprefix("paint ")
    return Completed(result=Result(output=f"{wall}: {handoff.intent.rpartition('says: ')[2]}"))


def file(handoff: Handoff) -> str:
    return f"filed: {handoff.intent}"


def find(handoff: Handoff) -> Outcome:
    """Finds that the plan does not fit."""
    impact = PlanImpact(reason="there is no wall")
    return Completed(result=Result(output="no wall", plan_impact=impact))


def sleep(handoff: Handoff) -> str:
    """Takes long."""
    threading.Event().wait()
    return "slept"


def desk_team(folder: Path) -> Path:
    """The team, in `folder`."""
    functions = {"painter": "paint", "clerk": "file", "sleeper": "sleep", "finder": "find"}
    front = "description: The {0} of the house\noffline: tests.cli.desk_team:{1}"
    workers = {name: worker(front.format(name, of)) for name, of in functions.items()}
    return write_team(folder / "desk", "name: desk\n", **workers)
