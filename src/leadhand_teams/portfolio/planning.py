"""The plan of a request: prices always; orders, risk and a note as it asks."""

import re
from collections.abc import Sequence

from leadhand import InputError, Plan, Task, Team
from leadhand.extension.roles import PlanRequest
from leadhand_teams.portfolio.inputs import material

ORDERS = (
    r"rebalanc|target|order|trade|bu(?:y|ys)\b|sell|alloca|bring|weight|umschicht|ziel|rééquilibr"
)
RISK = r"risk|stress|scenario|shock|drawdown|volatil|sharpe|risiko|what if|lose"
PRICES = r"price|data|stale|quality|kurs|cours"
NOTE = r"\bnotes?\b|memo|letter|writ|draft|explain|report|committee|client|notiz|bericht"


def plan(request: PlanRequest, team: Team) -> Plan:
    """The tasks that the request needs; all but the note if it is open.

    Raises `InputError` if there are no prices, or no policy for orders.
    """
    paths = [path for batch in request.batches.get("inputs", ()) for path in batch.artifacts]
    given = material(paths)

    def asks(words: str) -> bool:
        return re.search(words, request.text, re.IGNORECASE) is not None

    def task(worker: str, intent: str, after: Sequence[str] = ()) -> Task:
        return Task(
            id=worker,
            worker=worker,
            intent=f"{intent}: {request.text}",
            artifacts=paths,
            depends_on=after,
            tolerates_missing=True,
        )

    orders = asks(ORDERS) or not (asks(RISK) or asks(PRICES))
    if orders and not given.policy:
        raise InputError("orders need a policy: hand in policy.yaml")
    before = ["allocation"] if orders else []
    tasks = [task("market", "Say what the prices show and what is wrong with them")]
    if orders:
        tasks.append(task("allocation", "Find the orders that bring the holdings to the policy"))
    if orders or asks(RISK):
        tasks.append(task("risk", "Compare the risk before and after", before))
    if orders and asks(NOTE):
        tasks.append(task("writer", "Draft the note that this asks for", [*before, "risk"]))
    return Plan(goal=request.text, tasks=tasks)
