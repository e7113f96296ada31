"""What an exception of a model call means: whether to retry, when, and what to report."""

import asyncio
import re
from collections.abc import Iterator
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

from leadhand.contracts.outcome import Usage
from leadhand.models.clients import NoAnswer, RedirectRefused, ResponseTooLarge
from leadhand.untrusted.cutting import cut, cut_line

Kind = Literal[
    "overloaded",
    "unreachable",
    "slow",
    "malformed",
    "too_large",
    "too_long",
    "refused",
    "unstructured",
]

_MAX_MESSAGE = 300
_CONNECTING = ("ConnectError", "ConnectTimeout")
"""What httpx and httpx2 raise if no connection can be made; over aiohttp also if one is lost."""
_LOST = ("ConnectionResetError", "BrokenPipeError", "ServerDisconnectedError")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Failure:
    kind: Kind
    """`overloaded`: the model asks its clients to wait. `unreachable`: this call was lost.
    `slow`: it took longer than a call may, as it would again.
    `malformed`: the reply is not a response. `too_large`: the response exceeds the limit.
    `too_long`: the request exceeds the model's context. `refused`: the same request would fail
    again. `unstructured`: an answer that can't be read; the request is put in another way."""
    message: str
    """One line, with what to do if something can be done."""
    retry_after_s: float | None = None
    """The model's own value, not yet limited."""
    unbilled: bool = False
    """Whether the provider replied with an error. A call that was lost may still cost money."""

    absent: bool = False
    """Whether no connection could be made: nothing listens there."""
    usage: Usage | None = None
    """What a response used that refuses to answer, or can't be read; None if there is none."""
    estimated: bool = False

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed a moment later."""
        return self.kind in ("overloaded", "unreachable", "malformed")


def request_failure(error: Exception) -> Failure:
    causes = [*_causes(error)]
    for cause in causes:  # an error of our own client may have caused an SDK's
        if isinstance(cause, ResponseTooLarge):
            return Failure("too_large", str(cause))
        if isinstance(cause, NoAnswer) and not cause.body:
            why = f"the model sent an answer that is no JSON: {cut_line(cause.text, 200)}"
            return Failure("malformed", why)
        if isinstance(cause, NoAnswer):
            what = (
                "an error as its answer"
                if cause.body.get("error")
                else "an answer without a choice"
            )
            return Failure("malformed", f"the model sent {what}: {_line(_detail(cause.body))}")
        if isinstance(cause, RedirectRefused):
            return Failure("refused", str(cause), unbilled=True)
    unbilled = isinstance(error, ModelHTTPError | UserError)
    failure, names = replace(_failure(error), unbilled=unbilled), {type(c).__name__ for c in causes}
    if names.isdisjoint(_CONNECTING):
        return failure
    absent = names.isdisjoint(_LOST)
    what = "no connection could be made" if absent else "the connection was lost"
    return replace(failure, message=f"the model could not be reached: {what}", absent=absent)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


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
            # A parser may raise anything for HTML, NaN or 100,000 brackets.
            return Failure("malformed", f"the model sent an invalid response: {said}")


def _said(error: Exception) -> str:
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        return "it took too long"
    if isinstance(error, ModelHTTPError):
        text = f"HTTP {error.status_code}: {_detail(error.body) or error.model_name}"
    else:
        text = str(error) or type(error).__name__
    return _line(text)


def _line(text: str) -> str:
    line = _SURROGATE.sub("\ufffd", " ".join(text.split()))
    return cut(line, _MAX_MESSAGE, "...")


def _detail(body: object) -> str:
    if isinstance(body, dict):
        inner: object = body.get("error", body)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(inner, dict):
            return str(inner.get("message") or inner)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        return str(inner)  # pyright: ignore[reportUnknownArgumentType]
    return str(body) if body else ""
