"""Scripts that the server's process imports."""

import time

from leadhand.testing import Reply, Request
from leadhand.testing.exchange import Role


def refuse(request: Request, role: Role) -> Reply | None:
    """Status 400, with the request's own last words as the reason."""
    raise RuntimeError(request.last_user)


_taken_at_s: list[float] = []


def fifteen_a_second(request: Request, role: Role) -> Reply | None:
    """Answers 15 calls in any one second, and asks all others to come back a second later."""
    now_s = time.monotonic()
    if sum(now_s - 1 < taken_s for taken_s in _taken_at_s[-15:]) == 15:
        return Reply(misbehave={"429": 1})
    _taken_at_s.append(now_s)
    return None
