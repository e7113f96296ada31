"""What an exception out of a model call means: whether to ask again, when, and what to tell."""

import asyncio
import re
from dataclasses import dataclass, replace
from typing import Literal

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelServerError,
    ModelUnavailableError,
    UserError,
)

from leadhand.models.clients import RedirectRefused, ResponseTooLarge

Kind = Literal["overloaded", "unreachable", "malformed", "too_large", "too_long", "refused"]

_MAX_MESSAGE = 300
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call gave no answer that could be used."""

    kind: Kind
    """`overloaded`: it asks everyone to wait. `unreachable`: this call was lost on the way.
    `malformed`: what came back is no answer. `too_large`: the answer was longer than it may be.
    `too_long`: the request does not fit the model. `refused`: asking again the same way gives the
    same."""
    message: str
    """One line, with what to do where there is something to do."""
    retry_after_s: float | None = None
    """What the model said, in seconds; not yet bounded."""
    unbilled: bool = False
    """Whether the provider itself answered with an error. What was lost on the way may cost."""

    @property
    def transient(self) -> bool:
        """Whether the same call may well succeed a moment later."""
        return self.kind in ("overloaded", "unreachable", "malformed")


def failure_of(error: Exception) -> Failure:
    """The failure that `error`, raised by a model's `request`, stands for."""
    bound = _bound_of(error)
    if isinstance(bound, ResponseTooLarge):
        return Failure("too_large", str(bound))
    if isinstance(bound, RedirectRefused):
        return Failure("refused", str(bound), unbilled=True)
    return replace(_failure(error), unbilled=isinstance(error, ModelHTTPError | UserError))


def _bound_of(error: BaseException | None) -> ResponseTooLarge | RedirectRefused | None:
    """The bound of our client that is behind an SDK's error, if one is."""
    while error is not None and not isinstance(error, ResponseTooLarge | RedirectRefused):
        error = error.__cause__ or error.__context__
    return error


def _failure(error: Exception) -> Failure:
    said = _said(error)
    match error:
        case ModelContextWindowExceededError():
            return Failure("too_long", f"the request is longer than the model's context: {said}")
        case ModelQuotaExceededError():
            return Failure("refused", f"the account's quota is used up: {said}")
        case ModelRateLimitError() | ModelOverloadedError():
            return Failure("overloaded", f"the model is overloaded: {said}", error.retry_after)
        case ModelAuthenticationError():
            return Failure("refused", f"the key was refused: {said}; check the provider's API key")
        case ModelNotFoundError():
            return Failure("refused", f"there is no such model: {said}; check its name")
        case ModelUnavailableError() | ModelServerError() if error.retry_after is not None:
            return Failure("overloaded", f"the model is unavailable: {said}", error.retry_after)
        case ModelUnavailableError() | ModelServerError() | ModelConnectionError() | TimeoutError():
            return Failure("unreachable", f"the model could not be reached: {said}")
        case ModelHTTPError() if error.status_code >= 500:
            return Failure("unreachable", f"the model could not be reached: {said}")
        case ModelHTTPError():
            return Failure("refused", f"the model refused the request: {said}")
        case ContentFilterError() | UserError():
            return Failure("refused", f"the model refused the request: {said}")
        case ModelAPIError() | ConnectionError() | OSError():
            return Failure("unreachable", f"the model could not be reached: {said}")
        case _:
            # Whatever a parser raises over HTML, NaN or 100,000 brackets: it is no answer.
            return Failure("malformed", f"what the model sent is no answer: {said}")


def _said(error: Exception) -> str:
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return "it took too long"
    if isinstance(error, ModelHTTPError):
        text = f"HTTP {error.status_code}: {_detail(error.body) or error.model_name}"
    else:
        text = str(error) or type(error).__name__
    line = _SURROGATE.sub("\ufffd", " ".join(text.split()))
    return line if len(line) <= _MAX_MESSAGE else f"{line[:_MAX_MESSAGE]}..."


def _detail(body: object) -> str:
    """What the provider says in its error body, which has one of a few shapes."""
    if isinstance(body, dict):
        inner: object = body.get("error", body)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(inner, dict):
            return str(inner.get("message") or inner)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        return str(inner)  # pyright: ignore[reportUnknownArgumentType]
    return str(body) if body else ""
