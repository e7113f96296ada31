"""What redaction costs: hostile text takes time in proportion to its length, and no stack."""

import json
import time
from collections.abc import Callable

import pytest

from leadhand.untrusted.redaction import REDACTED, Redactor

KEY = "corp-Zx81kQpLm29vTtRwYh-aa77"
ODD = 'p"a\\ss\nw0rd! é😀'
REDACT = Redactor.of({"CORP_API_KEY": KEY, "DB_PASSWORD": ODD})

HOSTILE = [
    *("\\", "\\u0041", "\\\\u0041", "%25", "sk-", "eyJ", "eyJaaaaaaaaaaaaaaaaaa.", "://a:", '"'),
    *("-----BEGIN PRIVATE KEY-----", "authorization:", "bearer ", "token", "password  ", "aA1"),
    *("password=", "passwd:", "apikey=", "secret=a1", "pwd=://", "token==("),
    '{"passphrase": "pwd=',
    *(KEY[:8], KEY[-8:], "%5C%5Cu0041\\u0025\\n", "A" * 30 + "b" * 34 + "\n"),
]


SHORT = 1_000
TIMES = 64
"""How much longer the long text is. What is quadratic takes 4,096 times as long."""


def assert_linear(text_of: Callable[[int], str], short: int = SHORT) -> None:
    """Only another class of complexity takes eight times as long as is due, in processor time."""
    short_s = min(seconds(text_of(short)) for _ in range(3))
    long = text_of(TIMES * short)
    assert any(seconds(long) < 8 * TIMES * max(short_s, 0.0002) for _ in range(3))


def seconds(text: str) -> float:
    start = time.process_time()
    REDACT(text)
    return time.process_time() - start


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    assert_linear(lambda length: (piece * (length // len(piece) + 1))[:length])


@pytest.mark.parametrize("piece", ["password=", "apikey=a1b2", "token://"])
def test_json_full_of_names_takes_time_in_proportion_to_its_length(piece: str) -> None:
    assert_linear(lambda length: json.dumps({"text": json.dumps([piece * (length // len(piece))])}))


def test_a_megabyte_of_hostile_json_takes_time_in_proportion_to_its_length() -> None:
    assert_linear(lambda length: json.dumps("\\u0041%41" * (length // 9)), 16_000)


def test_json_too_deep_to_parse_is_redacted_string_by_string() -> None:
    deep = "[" * 100_000 + json.dumps(ODD) + "]" * 100_000
    assert REDACT(deep) == "[" * 100_000 + f'"{REDACTED}"' + "]" * 100_000
