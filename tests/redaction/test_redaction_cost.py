"""What redaction costs: hostile text takes time in proportion to its length, and no stack."""

import json

import pytest

from leadhand.redaction import REDACTED, Redactor
from tests.costs import assert_linear

KEY = "corp-Zx81kQpLm29vTtRwYh-aa77"
ODD = 'p"a\\ss\nw0rd! é😀'
REDACT = Redactor.of({"CORP_API_KEY": KEY, "DB_PASSWORD": ODD})

HOSTILE = [
    *("\\", "\\u0041", "\\\\u0041", "%25", "sk-", "eyJ", "eyJaaaaaaaaaaaaaaaaaa.", "://a:", '"'),
    *("-----BEGIN PRIVATE KEY-----", "authorization:", "bearer ", "token", "password  ", "aA1"),
    *("password=", "passwd:", "apikey=", "secret=a1", "pwd=://", "token==("),
    '{"passphrase": "pwd=',
    *("://@", "://a@", "://a1:b@@", "ghp_", "ghp_aaaaaaaaaaaa.", "MTAx", "1234567890:AA", "hvs.a"),
    *("password=a;host=b;", "pwd={", "pwd='", "password=aaaa", "b'key', b'", "dapi0a", "ya29.A1"),
    *("-----BEGIN PRIVATE KEY-----\n> A", "-----BEGIN PRIVATE KEY-----\\n" + "A" * 16 + "> # "),
    *(KEY[:8], KEY[-8:], "%5C%5Cu0041\\u0025\\n", "A" * 30 + "b" * 34 + "\n"),
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    assert_linear(REDACT, lambda length: (piece * (length // len(piece) + 1))[:length])


@pytest.mark.parametrize("piece", ["password=", "apikey=a1b2", "token://"])
def test_json_full_of_names_takes_time_in_proportion_to_its_length(piece: str) -> None:
    assert_linear(
        REDACT, lambda length: json.dumps({"text": json.dumps([piece * (length // len(piece))])})
    )


def test_a_megabyte_of_hostile_json_takes_time_in_proportion_to_its_length() -> None:
    assert_linear(REDACT, lambda length: json.dumps("\\u0041%41" * (length // 9)), 16_000)


def test_json_too_deep_to_parse_is_redacted_string_by_string() -> None:
    deep = "[" * 100_000 + json.dumps(ODD) + "]" * 100_000
    assert REDACT(deep) == "[" * 100_000 + f'"{REDACTED}"' + "]" * 100_000
