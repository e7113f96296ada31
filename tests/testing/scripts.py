"""Scripts as users write them; the server's process imports this module."""

from leadhand.testing import ModelReply, Request
from leadhand.testing.exchange import Role


def answer_in_capitals(request: Request, role: Role) -> ModelReply | None:
    """A script as users write them."""
    if "raise" in request.last_user:
        raise ZeroDivisionError("on purpose")
    return ModelReply(text=request.last_user.upper()) if role == "plain" else None
