"""Answers without end, bombs and redirects, from an endpoint of raw bytes: F39, F40."""

import asyncio
import functools
import gzip
import tracemalloc
import zlib
from collections.abc import Sequence

import pytest

from leadhand.cli.doctor.command import doctor_command
from leadhand.errors import InputError
from leadhand.models.clients import DEFAULT_MAX_BYTES, MAX_REDIRECTS, MAX_RESPONSE, max_bytes
from leadhand.models.listing import MAX_BYTES, ListedModel, ListingError, list_models
from tests.models.asking import ANTHROPIC, OPENAI, Asked, ask_all
from tests.models.raw_endpoint import RawEndpoint, head, serving
from tests.patience import HANG_S

RESPONSES = "openai-responses:any"
EVERY = [OPENAI, RESPONSES, ANTHROPIC]
every = pytest.mark.parametrize("model", EVERY)
LIMIT = 1_000_000


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv(MAX_RESPONSE, "1MB")


def asked(
    monkeypatch: pytest.MonkeyPatch, endpoint: RawEndpoint, model: str, *others: RawEndpoint
) -> Asked:
    """What comes of asking `model` at the endpoint."""
    (given,) = all_asked(monkeypatch, endpoint, model, others=others)
    return given


def all_asked(
    monkeypatch: pytest.MonkeyPatch,
    endpoint: RawEndpoint,
    *models: str,
    others: Sequence[RawEndpoint] = (),
) -> list[Asked]:
    """What comes of asking `models` at the endpoint, all at once."""
    with serving(endpoint, *others):
        for other in others:
            endpoint.head = endpoint.head.replace(b"{other}", other.url.encode())
        endpoint.head = endpoint.head.replace(b"{self}", endpoint.url.encode())
        monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", endpoint.url)
        return asyncio.run(ask_all(*((model, "hello") for model in models)))


def check_too_large(given: Asked, endpoint: RawEndpoint) -> None:
    assert given.error is not None
    assert "longer than 1,000,000 bytes" in str(given.error)
    assert MAX_RESPONSE in str(given.error)
    assert not given.error.transient
    assert len(given.calls) == len(endpoint.requests) == 1


@every
@pytest.mark.parametrize("status", ["200 OK", "500 Internal Server Error"])
def test_an_answer_without_end_is_read_to_the_limit(
    monkeypatch: pytest.MonkeyPatch, model: str, status: str
) -> None:
    """F39, F04"""
    endless = RawEndpoint(
        head(status, content_type="application/json") + b'{"id": "', b"x" * 65_536, times=None
    )
    check_too_large(asked(monkeypatch, endless, model), endless)
    assert endless.sent < 20 * LIMIT  # what the sockets on the way hold


@functools.cache
def bomb(coding: str) -> bytes:
    """A small body that inflates to 120 MB."""
    plain = b'{"id": "' + b"x" * 120_000_000
    if coding == "deflate":
        return zlib.compress(plain, 1)
    once = gzip.compress(plain, 1)
    return gzip.compress(once) if coding == "gzip, gzip" else once


@every
@pytest.mark.parametrize("coding", ["gzip", "deflate", "gzip, gzip"])
def test_a_small_answer_that_inflates_is_read_to_the_limit(
    monkeypatch: pytest.MonkeyPatch, model: str, coding: str
) -> None:
    """F39, F06"""
    start = head(content_type="application/json", content_encoding=coding)
    small = RawEndpoint(start, bomb(coding), 1)
    tracemalloc.start()
    try:
        given = asked(monkeypatch, small, model)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    check_too_large(given, small)
    assert peak < 50_000_000


@every
def test_a_redirect_to_another_port_is_refused(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    """F40"""
    other = RawEndpoint(head())
    moved = RawEndpoint(head("307 Temporary Redirect", location="{other}/v1/anything?key=sk-x"))
    given = asked(monkeypatch, moved, model, other)
    assert other.requests == []
    assert given.error is not None
    assert not given.error.transient
    assert f"{moved.url} redirects to {other.url}, where nothing was sent" in str(given.error)
    assert len(moved.requests) == len(given.calls) == 1


@every
@pytest.mark.parametrize(
    "location", ["https://127.0.0.1/", "http://localhost:1/", "ftp://x", "//x.invalid"]
)
def test_a_redirect_to_another_scheme_or_host_is_refused(
    monkeypatch: pytest.MonkeyPatch, model: str, location: str
) -> None:
    """F40"""
    moved = RawEndpoint(head("308 Permanent Redirect", location=location))
    given = asked(monkeypatch, moved, model)
    assert given.error is not None
    assert len(moved.requests) == len(given.calls) == 1


def test_a_redirect_within_the_endpoint_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = RawEndpoint(head("307 Temporary Redirect", location="{self}/elsewhere"))
    given = all_asked(monkeypatch, moved, *EVERY)
    followed = [one.startswith(b"POST /elsewhere") for one in moved.requests]
    for one in given:
        assert one.error is not None
        assert "redirects" not in str(one.error)
    assert len(followed) == sum(len(one.calls) for one in given) * (MAX_REDIRECTS + 1)
    assert sum(followed) == len(followed) * MAX_REDIRECTS / (MAX_REDIRECTS + 1)


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("", DEFAULT_MAX_BYTES),
        ("5000", 5_000),
        ("2MB", 2_000_000),
        ("64 kB", 64_000),
        ("1g", 10**9),
    ],
)
def test_the_limit_is_bytes_or_a_size(
    monkeypatch: pytest.MonkeyPatch, given: str, count: int
) -> None:
    monkeypatch.setenv(MAX_RESPONSE, given)
    assert max_bytes() == count


@pytest.mark.parametrize("given", ["0", "-1", "much", "1.5MB", "MB"])
def test_an_invalid_size_is_one_line(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv(MAX_RESPONSE, given)
    with pytest.raises(InputError, match=f"^{MAX_RESPONSE} is '{given}': write a size such as"):
        max_bytes()


def listed_at(endpoint: RawEndpoint) -> list[ListedModel]:
    """The models that the endpoint lists."""
    with serving(endpoint):
        return asyncio.run(list_models(f"{endpoint.url}/v1", key="sk-secret", timeout_s=HANG_S))


def test_a_list_of_models_is_not_looked_for_elsewhere() -> None:
    """F40"""
    moved = RawEndpoint(head("302 Found", location="http://127.0.0.1:1/v1/models"))
    with pytest.raises(ListingError, match=r"it redirects \(HTTP 302\), which is not followed"):
        listed_at(moved)
    assert len(moved.requests) == 1


def test_a_list_of_models_without_end_is_read_to_a_limit() -> None:
    """F39"""
    endless = RawEndpoint(head(content_type="application/json"), b" " * 65_536, times=None)
    with pytest.raises(ListingError, match="too long for a list of models"):
        listed_at(endless)
    assert endless.sent < 5 * MAX_BYTES


def test_a_list_of_models_that_inflates_is_read_to_a_limit() -> None:
    """F39"""
    small = RawEndpoint(head(content_encoding="gzip"), bomb("gzip"), 1)
    tracemalloc.start()
    try:
        with pytest.raises(ListingError, match="too long for a list of models"):
            listed_at(small)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000


def test_the_doctor_says_that_an_endpoint_redirects(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """F40"""
    other = RawEndpoint(head())
    moved = RawEndpoint(head("307 Temporary Redirect"))
    with serving(moved, other):
        moved.head = head("307 Temporary Redirect", location=f"{other.url}/v1")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{moved.url}/v1")
        status = doctor_command(team=None, model=OPENAI, no_model=False, as_json=True, trust=False)
    assert status == 3
    assert other.requests == []
    assert f"redirects to {other.url}, where nothing was sent" in capsys.readouterr().out
