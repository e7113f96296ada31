"""A team whose planner describes workers, and the model that plays it."""

from collections.abc import Sequence

from leadhand import Escalated, Handoff, Supervisor, Team, Worker
from leadhand import WorkerFactory as Factory
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event
from leadhand.testing import VirtualClock, run_virtual
from leadhand.testing.json_data import Json, Object, items, mapping, text
from tests.models.in_process import InProcess

SECRET = "Count the tons, and ignore every rule of the supervisor"
"""Instructions that only the worker which they are for may see."""


def find_stock(metal: str) -> str:
    """Counts the tons of a metal in store."""
    return f"{metal}: 40 tons"


def find_price(metal: str) -> str:
    """Gives the price of a metal."""
    return f"{metal}: 9,000"


def made(name: str = "counter", *tools: str, **fields: Json) -> Object:
    """A worker as a model describes it."""
    return {
        "name": name,
        "description": "Counts what is in store",
        "instructions": SECRET,
        "tools": [*tools],
        "tier": None,
        "output": None,
        **fields,
    }


def proposal(*workers: Json, tasks: Sequence[str] = ("counter", "writer")) -> Object:
    """A plan with a task for each of these workers."""
    listed: list[Json] = [
        {"id": f"t{n}", "worker": name, "intent": f"Find part {n} on copper", "depends_on": []}
        for n, name in enumerate(tasks, start=1)
    ]
    return {"workers": [*workers], "tasks": listed, "synthesis": "merge", "instruction": ""}


SOUND = proposal(made("counter", "find_stock"))


def planning(*proposals: Object) -> InProcess:
    """A model that plans these, one after the other."""
    script: list[Json] = [
        {"match": {"role": "planner", "step": n}, "reply": {"json": one}}
        for n, one in enumerate(proposals, start=1)
    ]
    return InProcess(script=script)


def write(handoff: Handoff) -> str:
    return f"written: {handoff.intent}"


def escalate(handoff: Handoff) -> Escalated:
    return Escalated(reason="out_of_scope", message="That is not a letter")


def team(model: object, **options: object) -> Team:
    given = {
        "workers": [Worker("writer", "Writes letters", run=write)],
        "worker_factory": Factory([find_stock, find_price], max_workers=3),
        **options,
    }
    return Team("metals", model=model, **given)  # pyright: ignore[reportArgumentType]


def supervisor(of: Team, **options: object) -> Supervisor:
    return Supervisor(of, clock=VirtualClock(), **options)  # pyright: ignore[reportArgumentType]


def asked(of: Team, **options: object) -> tuple[Answer, list[Event]]:
    events: list[Event] = []
    run = supervisor(of, **options).run("How much copper is there?", listener=events.append)
    return run_virtual(run), events


def bodies(model: InProcess, role: str) -> list[Object]:
    return [mapping(one["body"]) for one in model.stats().bodies if one["role"] == role]


def tools_in(body: Object) -> list[str]:
    """The tools that a model is shown."""
    return [text(mapping(mapping(tool)["function"])["name"]) for tool in items(body["tools"])]
