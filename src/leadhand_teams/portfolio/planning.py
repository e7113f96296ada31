"""The plan of a request: which workers it needs, and one task a policy."""

import re
from pathlib import Path

from leadhand import InputError, Plan, Task, Team
from leadhand.extension.roles import PlanRequest

ORDERS = (
    r"rebalanc|target|order|trade|bu(?:y|ys)\b|sell|alloca|bring|weight|umschicht|ziel|rééquilibr"
)
RISK = r"risk|stress|scenario|shock|drawdown|volatil|sharpe|risiko|what if|lose"
PRICES = r"price|data|stale|quality|kurs|cours"
NOTE = r"\bnotes?\b|memo|letter|writ|draft|explain|report|committee|client|notiz|bericht"


def plan(request: PlanRequest, team: Team) -> Plan:
    """Prices always; orders, risk and a note as the request asks, everything if it is open."""
    paths = [path for batch in request.batches.get("inputs", ()) for path in batch.artifacts]
    files = _files(paths)
    if not files:
        raise InputError(
            "portfolio needs prices: hand in a CSV, policy.yaml, holdings.csv: --input"
        )
    text = request.text.lower()
    wants_risk = re.search(RISK, text) is not None
    wants_prices = re.search(PRICES, text) is not None
    wants_orders = re.search(ORDERS, text) is not None or not (wants_risk or wants_prices)
    tasks = [
        _task("market", "market", "Say what the prices show and what is wrong with them", paths)
    ]
    policies = [name for name in files if name.lower().endswith((".yaml", ".yml"))]
    for number, policy in enumerate(policies or ["policy.yaml"], 1) if wants_orders else ():
        id = "allocation" if len(policies) < 2 else f"allocation-{number}"
        intent = f"Find the orders that bring the holdings to {policy}"
        tasks.append(_task(id, "allocation", intent, paths, payload=policy))
    orders = [task.id for task in tasks if task.worker == "allocation"]
    if wants_orders or wants_risk:
        intent = f"Compare the risk before and after: {request.text}"
        tasks.append(_task("risk", "risk", intent, paths, after=orders))
    if wants_orders and re.search(NOTE, text):
        intent = f"Draft the note that this asks for: {request.text}"
        tasks.append(_task("note", "writer", intent, [], after=[*orders, "risk"]))
    return Plan(goal=request.text, tasks=tasks)


def _files(paths: list[str]) -> list[str]:
    """The names of the files, those in folders with their path there."""
    found: list[str] = []
    for path in map(Path, paths):
        folder = path if path.is_dir() else path.parent
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        found += [one.relative_to(folder).as_posix() for one in inside if not one.is_dir()]
    return found


def _task(
    id: str,
    worker: str,
    intent: str,
    paths: list[str],
    *,
    after: list[str] | None = None,
    payload: str = "",
) -> Task:
    return Task(
        id=id,
        worker=worker,
        intent=intent,
        artifacts=paths,
        payload=payload,
        depends_on=after or [],
        tolerates_missing=True,
    )
