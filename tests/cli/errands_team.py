"""A team whose work needs an endpoint that may be down, for tests of how runs are gone on with."""

import json
from pathlib import Path

from leadhand.contracts.outcome import Handoff
from tests.team_folders import worker, write_team

UP = Path("endpoint-is-up")
"""A file in the current folder; without it nobody can be reached."""
BY_CODE = "description: {}\noffline: tests.cli.errands_team:{}"


def ask(handoff: Handoff) -> str:
    """Asks the endpoint."""
    if not UP.exists():
        raise ConnectionError("nobody can be reached")
    return f"asked: {handoff.intent}"


def refuse(handoff: Handoff) -> str:
    """Never does it."""
    raise ValueError("it is not made for this")


def errands_team(folder: Path) -> None:
    """The team, in the folder `errands`, and one that only models work for, in `clerks`."""
    write_team(
        folder / "errands",
        "name: errands\nladder:\n  backoff_s: [0]\n",
        asker=worker(BY_CODE.format("Asks the endpoint", "ask")),
        refuser=worker(BY_CODE.format("Refuses all work", "refuse")),
    )
    known = "You know invoices. " * 80  # so that a few tasks use a budget up
    by_model = f"---\ndescription: Looks invoices up\n---\n\n{known}\n"
    write_team(folder / "clerks", "name: clerks\n", clerk=by_model)


def errands(folder: Path, *workers: str) -> None:
    """`plan.json` in that folder, with a task for each of the workers."""
    tasks = [
        {"id": f"t{number}", "worker": name, "intent": f"run errand number {number}"}
        for number, name in enumerate(workers, 1)
    ]
    (folder / "plan.json").write_text(json.dumps({"goal": "Run all errands", "tasks": tasks}))
