"""Tokens: the operator's file in the home=DIR, and named ones, which are kept as hashes."""

import datetime as dt
from pathlib import Path

import pytest

from leadhand import InputError
from leadhand.redaction import Redactor
from leadhand.serve.tokens import NAMED_FILE, NamedTokens, digest_of, operator_token

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def test_the_operators_token_stays_the_same_and_is_for_its_user_alone(tmp_path: Path) -> None:
    token = operator_token(tmp_path / "new")
    file = tmp_path / "new" / "serve.token"
    assert (operator_token(tmp_path / "new"), file.read_text().strip()) == (token, token)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o640)
    with pytest.raises(InputError, match="not yours alone"):
        operator_token(tmp_path / "new")


def test_a_named_token_is_kept_as_a_hash_and_known_to_every_process(tmp_path: Path) -> None:
    file = tmp_path / NAMED_FILE
    here, elsewhere = NamedTokens(file), NamedTokens(file)
    assert here.content.tokens == []
    token = here.add("ci", tenant="acme", role="requester")
    assert token not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    found = elsewhere.principal_of(digest_of(token))
    assert found is not None
    assert (found.name, found.tenant) == ("ci", "acme")
    with pytest.raises(InputError, match="'ci' already"):
        elsewhere.add("ci", tenant="acme", role="requester")
    elsewhere.revoke("ci")
    assert here.principal_of(digest_of(token)) is None
    with pytest.raises(InputError, match="no token 'ci'"):
        here.revoke("ci")


def test_no_named_token_is_that_of_the_homes_operator(tmp_path: Path) -> None:
    tokens = NamedTokens(tmp_path / NAMED_FILE)
    with pytest.raises(InputError, match="take another name"):
        tokens.add("operator", tenant="*", role="requester")
    tokens.add("operator", tenant="acme", role="requester")


def test_a_token_counts_until_it_expires(tmp_path: Path) -> None:
    tokens = NamedTokens(tmp_path / NAMED_FILE)
    until = NOW + dt.timedelta(days=1)
    digest = digest_of(tokens.add("ci", tenant="a", role="operator", expires_at=until))
    assert tokens.principal_of(digest, NOW) is not None
    assert tokens.principal_of(digest, until) is None


def test_names_that_a_log_or_a_page_could_misread_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`name`"):
        NamedTokens(tmp_path / NAMED_FILE).add("a\nb", tenant="a", role="requester")


def test_a_token_is_redacted_wherever_it_is_stored_or_shown(tmp_path: Path) -> None:
    """F36"""
    token = operator_token(tmp_path)
    assert token not in Redactor.of({})(f"curl -H 'Authorization: Bearer {token}'")
    assert token not in Redactor.of({})(f"the token is {token}.")
