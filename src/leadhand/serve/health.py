"""`/healthz` and `/readyz`: whether the process lives, and whether to send it requests."""

from fastapi import APIRouter
from pydantic import BaseModel

from leadhand.serve.principals import Current
from leadhand.serve.problems import RETRY_S, HttpProblem
from leadhand.serve.service import Serving

router = APIRouter(tags=["health"])


class Condition(BaseModel):
    status: str


@router.get("/healthz")
async def read_health() -> Condition:
    """The process answers; for all callers."""
    return Condition(status="ok")


@router.get("/readyz")
async def read_readiness(_: Current, service: Serving) -> Condition:
    """Runs can be started here: 503 while the service drains, or the journal can't be read."""
    if service.draining.is_set():
        raise HttpProblem(503, "the service is stopping", headers={"Retry-After": str(RETRY_S)})
    await service.journal.last_seq("readyz")
    return Condition(status="ready")
