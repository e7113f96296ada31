"""Scripts that the server's process imports."""

from leadhand.testing import Reply, Request
from leadhand.testing.exchange import Role


def refuse(request: Request, role: Role) -> Reply | None:
    """Status 400, with the request's own last words as the reason."""
    raise RuntimeError(request.last_user)
