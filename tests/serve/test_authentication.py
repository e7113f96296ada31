"""Tokens and browsers' cookies, over HTTP to the service with the tokens of its home=DIR."""

import asyncio
import datetime as dt
import hmac
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from leadhand.serve import ServiceSettings
from leadhand.serve.authentication import TokenAuthentication
from leadhand.serve.tokens import NAMED_FILE, NamedTokens, operator_token
from tests.patience import HANG_S, wait_until
from tests.serve.desk import Desk, Gate, serving_desk
from tests.serve.test_runs import RUNS

ME, SESSION = "/api/v1/me", "/api/v1/session"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def owned(home: Path) -> Iterator[Desk]:
    """A service without a program's own `auth`."""
    with serving_desk(home, auth=None) as desk:
        yield desk


@pytest.fixture
def browser(owned: Desk) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=owned.url, trust_env=False) as client:
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def tokens_of(desk: Desk) -> TokenAuthentication:
    auth: object = desk.app.state.auth
    assert isinstance(auth, TokenAuthentication)
    return auth


def test_the_token_in_the_home_is_the_operators(home: Path, browser: httpx2.Client) -> None:
    me = browser.get(ME, headers=bearer(operator_token(home))).json()
    assert (me["name"], me["tenant"], me["roles"]) == ("operator", "*", ["operator"])
    for headers in (
        {},
        bearer("wrong"),
        {"Authorization": "Bearer"},
        {"Authorization": "Basic b3BlcmF0b3I6"},
    ):
        refused = browser.get(ME, headers=headers)
        assert refused.status_code == 401
        why = refused.json()["detail"]
        assert ("not known, revoked or expired" in why) == (headers == bearer("wrong")), why


def test_a_named_token_counts_from_the_moment_it_is_added_until_it_is_revoked(
    home: Path, browser: httpx2.Client
) -> None:
    tokens = NamedTokens(home / NAMED_FILE)
    now = dt.datetime.now(dt.UTC)
    headers = bearer(tokens.add("ci", tenant="acme", role="requester"))
    assert browser.get(ME, headers=headers).json()["tenant"] == "acme"
    assert browser.post(SESSION, headers=headers).status_code == 204
    assert browser.get(ME).json()["name"] == "ci"
    tokens.revoke("ci")
    assert browser.get(ME, headers=headers).status_code == 401
    assert browser.get(ME).status_code == 401
    old = tokens.add("old", tenant="acme", role="requester", expires_at=now)
    assert browser.get(ME, headers=bearer(old)).status_code == 401


def test_the_streams_of_a_token_end_when_it_is_revoked(home: Path) -> None:
    tokens = NamedTokens(home / NAMED_FILE)
    settings = ServiceSettings(grace_s=0, heartbeat_s=0.05)
    with serving_desk(home, auth=None, settings=settings) as desk:
        headers = bearer(tokens.add("eve", tenant="acme", role="requester"))
        client, given = desk.client(""), {"team": "gate", "request": "hello"}
        run_id = client.post(RUNS, json=given, headers=headers).json()["run_id"]
        chat = {"model": "gate", "messages": [{"role": "user", "content": "x"}], "stream": True}
        for number, (method, url, body) in enumerate(
            (
                ("GET", "/api/v1/events", None),
                ("GET", f"{RUNS}/{run_id}/events", None),
                ("POST", "/v1/responses", {"model": "gate", "input": "x", "stream": True}),
                ("POST", "/v1/chat/completions", chat),
            )
        ):
            name = f"eve.{number}"
            headers = bearer(tokens.add(name, tenant="acme", role="operator"))
            with client.stream(method, url, headers=headers, json=body) as response:
                lines = response.iter_lines()
                assert any(line == ": heartbeat" for line in lines)
                tokens.revoke(name)
                rest = [*lines]
                assert rest[-1] == ""
                assert url.startswith("/api") or "was revoked" in rest[-2], rest


def test_no_answer_is_given_to_a_token_that_was_revoked_while_it_waited(home: Path) -> None:
    tokens = NamedTokens(home / NAMED_FILE)
    settings = ServiceSettings(grace_s=0, heartbeat_s=0.05)
    chat = {"model": "gate", "messages": [{"role": "user", "content": "x"}]}
    for url, body in (
        ("/v1/chat/completions", chat),
        ("/v1/responses", {"model": "gate", "input": "x"}),
        (RUNS, {"team": "gate", "request": "x"}),
    ):
        gate = Gate()
        with serving_desk(home, auth=None, settings=settings, gate=gate) as desk:
            headers = bearer(tokens.add("eve", tenant="acme", role="requester"))

            def revoke(gate: Gate = gate) -> None:
                assert gate.arrived.wait(HANG_S)
                tokens.revoke("eve")

            with ThreadPoolExecutor() as threads:
                threads.submit(revoke)
                headers["Prefer"] = "wait=60"
                refused = desk.client("").post(url, json=body, headers=headers)
            assert refused.status_code == 401, refused.text
            if url.startswith("/v1"):  # its client has left, as it were
                operator = bearer(operator_token(home))
                _wait_until_cancelled(desk.client(""), operator)


def _wait_until_cancelled(client: httpx2.Client, headers: dict[str, str]) -> None:
    """The latest run."""
    wait_until(lambda: client.get(RUNS, headers=headers).json()["runs"][0]["status"] == "cancelled")


def test_a_code_is_exchanged_for_a_cookie_once(owned: Desk, browser: httpx2.Client) -> None:
    code = tokens_of(owned).new_code()
    assert code is not None
    answer = browser.post(SESSION, headers=bearer(code))
    assert answer.status_code == 204
    for word in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert word in answer.headers["set-cookie"]
    assert browser.get(ME).json()["name"] == "operator"
    assert browser.post(SESSION, headers=bearer(code)).status_code == 401
    assert browser.post(SESSION, headers=bearer("guessed")).status_code == 401


def test_a_change_by_cookie_needs_the_csrf_token(owned: Desk, browser: httpx2.Client) -> None:
    """F33"""
    browser.post(SESSION, headers=bearer(tokens_of(owned).new_code() or ""))
    csrf = browser.get(ME).json()["csrf"]
    for given in ({}, {"X-CSRF-Token": "guessed"}, {"X-CSRF-Token": csrf[:-1]}):
        assert browser.delete(SESSION, headers=given).status_code == 403
    cookie = browser.cookies["leadhand_session"]
    assert browser.delete(SESSION, headers={"X-CSRF-Token": csrf}).status_code == 204
    browser.cookies.set("leadhand_session", cookie)
    assert browser.get(ME).status_code == 401, "an ended session counts no more"


def test_a_cookie_counts_in_every_process_until_it_is_ended_in_one(
    owned: Desk, browser: httpx2.Client, home: Path
) -> None:
    browser.post(SESSION, headers=bearer(tokens_of(owned).new_code() or ""))
    cookie = browser.cookies["leadhand_session"]
    with serving_desk(home, auth=None) as elsewhere:
        sent = {"Cookie": f"leadhand_session={cookie}"}
        me = elsewhere.client("").get(ME, headers=sent).json()
        assert me["name"] == "operator"
        browser.delete(SESSION, headers={"X-CSRF-Token": me["csrf"]})
        assert elsewhere.client("").get(ME, headers=sent).status_code == 401


def test_nothing_that_is_stored_of_a_session_opens_one(owned: Desk, home: Path) -> None:
    """F33: who can read the home, but not the operator's token, can't forge a cookie."""
    named = NamedTokens(home / NAMED_FILE)
    token = named.add("ci", tenant="acme", role="operator")
    client = owned.client("")
    assert client.post(SESSION, headers=bearer(token)).status_code == 204
    client.cookies.clear()
    (entry,) = named.content.tokens
    notes = asyncio.run(owned.app.state.service.journal.notes("session/"))
    signed = f"ci.{int(time.time()) + 600}.{'0' * 32}"
    signature = hmac.digest(entry.digest.encode(), signed.encode(), "sha256").hex()
    stored = [entry.digest, f"{signed}.{signature}", "a", "%C3%A9.1.2.3"]
    for key in notes:
        stored += [key, key.removeprefix("session/")]
    assert len(stored) == 6
    for text in stored:
        for headers in ({"Cookie": f"leadhand_session={text}"}, bearer(text)):
            assert client.get(ME, headers=headers).status_code == 401, headers


def test_a_service_with_its_own_auth_has_no_sessions_and_asks_for_no_token(desk: Desk) -> None:
    refused = desk.client("").get(ME)
    assert refused.status_code == 401
    assert "can't tell who sends" in refused.json()["detail"]
    assert desk.client().post(SESSION).status_code == 409
    assert desk.client().get(ME).json()["csrf"] is None
