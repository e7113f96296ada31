"""Which workers a question needs: tables, texts, or both, and in which order."""

from pathlib import Path

from leadhand import InputError, Plan, Task, Team
from leadhand.extension.roles import PlanRequest
from leadhand.tools.files import Inputs
from leadhand_teams.research.finding import NAMES_UNREAD, asks_why, material

_TABLES = ("csv", "json", "xlsx")
_TEXTS = ("text", "markdown", "html", "pdf", "docx")


def plan(request: PlanRequest, team: Team) -> Plan:
    """A task for the tables and one for the texts, whichever there are.

    Both get all files: a table may stand in a text, and a table's names tell what a text need not
    say. They run at the same time unless the reason for what the tables single out is asked for.
    """
    paths = [path for one in request.batches.get("inputs", ()) for path in one.artifacts]
    inputs = Inputs.of([Path(path) for path in paths])
    has_tables = bool(inputs.of_kind(*_TABLES))
    has_texts = bool(inputs.of_kind(*_TEXTS))
    if not paths and team.model:
        # From the web, if that is switched on.
        task = Task(id="texts", worker="researcher", intent=f"Find what answers: {request.text}")
        return Plan(goal=request.text, tasks=[task])
    if not has_tables and not has_texts:
        raise InputError(
            "no file that was handed in can be read: hand in texts or tables"
            if paths
            else "nothing to work on: hand in files, texts or tables"
        )
    tasks: list[Task] = []
    if has_tables or material(paths).tables:
        tasks.append(
            Task(
                id="tables",
                worker="analyst",
                intent=f"Work out what the tables answer: {request.text}",
                artifacts=paths,
                done_when="Every figure has its query and the rows that it rests on.",
            )
        )
    if has_texts or inputs.of_kind("json"):
        after = ["tables"] if tasks and asks_why(request.text) else []
        tasks.append(
            Task(
                id="texts",
                worker="researcher",
                intent=f"Find the passages that answer: {request.text}",
                artifacts=paths,
                depends_on=after,
                tolerates_missing=True,
                done_when="Every statement has its place and the words of the source.",
            )
        )
    # One of the tasks names the files that were not read.
    tasks[-1] = tasks[-1].model_copy(update={"payload": NAMES_UNREAD})
    return Plan(goal=request.text, tasks=tasks)
