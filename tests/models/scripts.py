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


def able_native(request: Request, role: Role) -> ModelReply | None:
    """Answers in words unless its answer has a format."""
    return ModelReply(json={"answer": "blue"}) if _is_native(request) else _WORDS


def able_prompted(request: Request, role: Role) -> ModelReply | None:
    """Answers in words unless the schema is in the prompt."""
    prompted = not request.tools and not _is_native(request)
    return ModelReply(text='{"answer": "blue"}') if prompted else _WORDS


_WORDS = ModelReply(text="I think that it is blue.")


def _is_native(request: Request) -> bool:
    return request.schema is not None and "JSON object" not in request.system


def refuse_beyond_context(request: Request, role: Role) -> ModelReply | None:
    """Status 400 if 1,000 tokens of a request and its limit are more than the context."""
    limit = request.max_tokens or 0
    if limit <= 3_500:
        return None
    raise RuntimeError(
        f"This model's maximum context length is 4500 tokens. However, you requested "
        f"{1_000 + limit} tokens (1000 in the messages, {limit} in the completion)."
    )


def refuse_any_limit(request: Request, role: Role) -> ModelReply | None:
    if request.max_tokens is None:
        return None
    raise RuntimeError("Unrecognized request argument supplied: max_completion_tokens")


def refuse_without_a_number(request: Request, role: Role) -> ModelReply | None:
    """Status 400 for a limit above 2,000, which it does not name."""
    if (request.max_tokens or 0) <= 2_000:
        return None
    raise RuntimeError("max_tokens is too large")


def refuse_with_a_number_in_a_name(request: Request, role: Role) -> ModelReply | None:
    """Status 400 for a limit above 3,000, said of a model with a date in its name."""
    if (limit := request.max_tokens or 0) <= 3_000:
        return None
    raise RuntimeError(f"max_tokens: {limit} > 3000, the most output tokens of opus-3-1022")


def words_first(request: Request, role: Role) -> ModelReply | None:
    """Plans in words where a tool is to be called."""
    return _WORDS if role == "planner" and request.tools else None
