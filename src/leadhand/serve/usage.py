"""`GET /api/v1/usage`: what the stored runs have used, by team, principal, tenant or day."""

import datetime as dt
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel

from leadhand.contracts.summary import RunSummary
from leadhand.serve.principals import Current, may_see
from leadhand.serve.service import Serving

UsageKey = Literal["team", "principal", "tenant", "day"]

router = APIRouter(prefix="/api/v1", tags=["usage"])


class UsageRow(BaseModel):
    key: str
    """The team, principal, tenant, or day in UTC; empty for runs of the command line."""
    runs: int = 0
    complete: int = 0
    """Runs whose answer is complete."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    """Of the runs whose cost is known."""
    unpriced: int = 0
    """Runs that used tokens of a model whose price is not known."""


class UsageReport(BaseModel):
    by: UsageKey
    rows: list[UsageRow]
    """Sorted by their keys. What a run used counts once it has an answer."""


@router.get("/usage")
async def read_usage(
    principal: Current,
    service: Serving,
    by: UsageKey = "team",
    since: Annotated[
        AwareDatetime | None, Query(description="Runs that began then or later")
    ] = None,
    until: Annotated[AwareDatetime | None, Query(description="Runs that began before")] = None,
) -> UsageReport:
    """What the runs have used that the caller may see."""
    rows: dict[str, UsageRow] = {}

    def count(run: RunSummary) -> bool:
        began_in_time = (since is None or run.started_at >= since) and (
            until is None or run.started_at < until
        )
        if began_in_time and may_see(principal, run.origin):
            key = _key(run, by)
            _add(rows.setdefault(key, UsageRow(key=key)), run)
        return False  # none is kept: there may be many

    await service.journal.runs(where=count)
    return UsageReport(by=by, rows=[rows[key] for key in sorted(rows)])


def _key(run: RunSummary, by: UsageKey) -> str:
    match by:
        case "team":
            return run.team
        case "day":
            return run.started_at.astimezone(dt.UTC).date().isoformat()
        case _:
            return str(run.origin.get(by, ""))


def _add(row: UsageRow, run: RunSummary) -> None:
    row.runs += 1
    row.complete += run.status == "complete"
    row.input_tokens += run.input_tokens
    row.output_tokens += run.output_tokens
    row.cost_usd += run.cost_usd or 0.0
    row.unpriced += run.cost_usd is None and run.input_tokens > 0
