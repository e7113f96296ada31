"""Scripts that the server imports, in its process or in the test's."""

import asyncio
from weakref import WeakKeyDictionary

from leadhand.testing import ModelReply, Request
from leadhand.testing.exchange import Role


def refuse(request: Request, role: Role) -> ModelReply | None:
    """Status 400, with the request's own last words as the reason."""
    raise RuntimeError(request.last_user)


_taken_at_s: WeakKeyDictionary[asyncio.AbstractEventLoop, list[float]] = WeakKeyDictionary()


def fifteen_a_second(request: Request, role: Role) -> ModelReply | None:
    """Answers 15 calls in any one second, and asks all others to come back a second later."""
    loop = asyncio.get_running_loop()
    taken_at_s = _taken_at_s.setdefault(loop, [])
    if sum(loop.time() - 1 < at_s for at_s in taken_at_s[-15:]) == 15:
        return ModelReply(misbehave={"429": 1})
    taken_at_s.append(loop.time())
    return None
