"""Who calls the service, and what they may see."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from fastapi import Depends, Request
from pydantic import JsonValue

from leadhand.contracts.budget import Budget
from leadhand.contracts.data import argument, check_fields
from leadhand.serve.problems import HttpProblem

UserRole = Literal["requester", "approver", "operator"]
"""`requester`: starts runs and sees its own. `approver`: also sees and answers its tenant's
questions. `operator`: sees and does everything in its tenant."""
_RANKS: tuple[UserRole, ...] = ("requester", "approver", "operator")
CALLER = "leadhand.principal"
"""Where the scope of a request has its caller, if it was asked who that is before its body came."""
EVERY_TENANT = "*"
"""The tenant of a principal whose role counts in all tenants."""


@argument
@dataclass(frozen=True, slots=True)
class Principal:
    """A caller of the service: a person or a program."""

    name: str
    """Unique within its tenant."""
    tenant: str
    """The customer or department that it belongs to; `*`: its role counts in all of them."""
    roles: frozenset[UserRole]
    origin: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Stored with its runs besides its name and tenant: what `restore` needs."""
    context: object = field(default=None, repr=False, compare=False)
    """The context of its runs; never stored."""
    budget: Budget | None = None
    """What one of its runs may spend at most; with a scope, what runs share."""

    __post_init__ = check_fields

    def has(self, role: UserRole) -> bool:
        """Whether it may do what the role may: each role may do what those before it may."""
        rank = _RANKS.index(role)
        return any(_RANKS.index(one) >= rank for one in self.roles)

    def owns(self, origin: Mapping[str, JsonValue]) -> bool:
        """Whether a run with that origin is its own."""
        return (origin.get("tenant"), origin.get("principal")) == (self.tenant, self.name)

    def rules(self, origin: Mapping[str, JsonValue], role: UserRole) -> bool:
        """Whether it has the role for a run with that origin, by the tenant."""
        return self.has(role) and self.tenant in (EVERY_TENANT, origin.get("tenant"))

    def may_see(self, origin: Mapping[str, JsonValue]) -> bool:
        """Whether it may see a run with that origin. What it may not see is a 404."""
        return self.owns(origin) or self.rules(origin, "operator")


Authenticate = Callable[[Request], Principal | Awaitable[Principal | None] | None]
"""Who sends a request; None, or a raised `HttpProblem`, if that is unknown."""


def origin_of(principal: Principal) -> dict[str, JsonValue]:
    """What is stored with a run of the principal."""
    return {**principal.origin, "tenant": principal.tenant, "principal": principal.name}


async def authenticated(request: Request) -> Principal:
    """Raises `HttpProblem` 401."""
    if (known := request.scope.pop(CALLER, None)) is not None:
        return known  # once: a second question is whether it still counts
    auth: Authenticate = request.app.state.auth
    found = auth(request)
    principal = await found if inspect.isawaitable(found) else found
    if principal is None:
        why = "this service can't tell who sends the request; its operator says what proves it"
        raise HttpProblem(401, why, headers={"WWW-Authenticate": "Bearer"})
    return principal


Current = Annotated[Principal, Depends(authenticated)]
"""The caller, for routes; a request without one is 401."""
