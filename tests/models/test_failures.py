"""Failures: what each error out of a model call means, in one line and one kind."""

import asyncio

import httpx2
import pytest
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
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from leadhand.models.clients import model_client
from leadhand.models.failures import Failure, request_failure
from leadhand.testing import ScriptedServer
from tests.models.raw_endpoint import RawEndpoint, serving


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelRateLimitError("m", "slow down"), "overloaded"),
        (ModelOverloadedError("m", "busy"), "overloaded"),
        (ModelUnavailableError("m", "not now", retry_after=3), "overloaded"),
        (ModelUnavailableError("m", "not now"), "unreachable"),
        (ModelServerError("m", "broken"), "unreachable"),
        (ModelConnectionError("m", "reset"), "unreachable"),
        (ModelRequestTimeout("m", 3.0), "unreachable"),
        (ModelHTTPError(520, "m"), "unreachable"),
        (ModelAPIError("m", "odd"), "unreachable"),
        (ConnectionResetError("gone"), "unreachable"),
        (TimeoutError(), "unreachable"),
        (UnexpectedModelBehavior("HTML"), "malformed"),
        (RecursionError("too deep"), "malformed"),
        (ModelContextWindowExceededError("m", "too long"), "too_long"),
        (ModelQuotaExceededError("m", "no credit"), "refused"),
        (ModelAuthenticationError("m", "who are you"), "refused"),
        (ModelNotFoundError("m", "no such thing"), "refused"),
        (ModelHTTPError(422, "m"), "refused"),
        (ContentFilterError("not this"), "refused"),
        (UserError("this model has no native output"), "refused"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_an_error_has_the_kind_that_says_whether_to_ask_again(error: Exception, kind: str) -> None:
    failure = request_failure(error)
    assert failure.kind == kind
    assert failure.transient == (kind in ("overloaded", "unreachable", "malformed"))


def test_the_message_is_one_line_of_bounded_length_that_utf8_can_hold() -> None:
    """F07"""
    failure = request_failure(ModelAPIError("m", "a\nb \ud800 " + "long " * 1_000))
    assert "a b \ufffd long" in failure.message
    assert len(failure.message) < 400
    failure.message.encode()


@pytest.mark.parametrize(
    "body",
    [{"error": {"message": "no such key"}}, {"error": "no such key"}, "no such key"],
    ids=["openai", "plain", "text"],
)
def test_the_message_is_what_the_provider_says(body: object) -> None:
    failure = request_failure(ModelHTTPError(400, "m", body=body))
    assert failure.message == "the model refused the request: HTTP 400: no such key"


def test_a_wait_that_was_asked_for_is_kept() -> None:
    assert request_failure(ModelRateLimitError("m", "slow", retry_after=12.5)).retry_after_s == 12.5


def _lost(url: str) -> Failure:
    """Of a request there with the client that the models use."""

    async def ask() -> Failure:
        async with model_client() as client:
            with pytest.raises(httpx2.TransportError) as raised:
                await client.post(url, json={})
        error = ModelConnectionError("m", "what the SDK says")
        error.__cause__ = raised.value
        return request_failure(error)

    return asyncio.run(ask())


def test_a_lost_connection_is_not_one_that_could_not_be_made(model_server: ScriptedServer) -> None:
    """A planner keeps trying after the one, and not after the other."""
    model_server.configure(faults={"reset": 1.0})
    silent = RawEndpoint(b"")
    with serving(silent):
        urls = (f"{model_server.url}/chat/completions", silent.url)
        for failure in map(_lost, urls):
            assert (failure.kind, failure.absent) == ("unreachable", False)
            assert failure.message.endswith(": the connection was lost")
    gone = _lost(silent.url)
    assert (gone.kind, gone.absent) == ("unreachable", True)
    assert gone.message.endswith(": no connection could be made")
