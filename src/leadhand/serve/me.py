"""`GET /api/v1/me`: who the caller is to the service."""

from fastapi import APIRouter
from pydantic import BaseModel

from leadhand import __version__
from leadhand.serve.principals import Current, UserRole
from leadhand.serve.service import Serving

router = APIRouter(prefix="/api/v1", tags=["session"])


class Me(BaseModel):
    name: str
    tenant: str
    roles: list[UserRole]
    csrf: str | None
    """What a browser sends as `X-CSRF-Token` with everything but GET; None without a cookie."""
    version: str
    teams: list[str]


@router.get("/me")
async def read_me(principal: Current, service: Serving) -> Me:
    return Me(
        name=principal.name,
        tenant=principal.tenant,
        roles=sorted(principal.roles),
        csrf=None,
        version=__version__,
        teams=sorted(service.supervisors),
    )
