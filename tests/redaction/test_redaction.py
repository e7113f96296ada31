"""F36: keys and tokens are redacted in every encoding before text is written."""

import base64
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadhand.redaction import REDACTED, Redactor

KEY = "corp-Zx81kQpLm29vTtRwYh-aa77"
ODD = 'p"a\\ss\nw0rd! é😀'
ENVIRON = {"CORP_API_KEY": KEY, "DB_PASSWORD": ODD}
REDACT = Redactor.of(ENVIRON)

GITHUB = "ghp_" + "a1B2c3D4" * 5
ISSUED = [
    "sk-" + "a1b2c3d4" * 4,
    "sk-proj-" + "A1b2_C3d4" * 6,
    "sk-ant-api03-" + "Zx81-kQp_" * 8,
    GITHUB,
    "gho_" + "a1B2c3D4" * 5,
    "github_pat_" + "a1B2c3D4" * 9,
    "glpat-" + "a1B2c3D4" * 3,
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-" + "123456789012-abcdefABCDEF",
    "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q",
    "hf_" + "AbCdEfGh" * 4 + "Ij",
    "npm_" + "a1B2c3D4" * 4 + "e5F6",
    "pypi-AgEIcHlwaS5vcmc" + "a1B2c3D4" * 6,
    "SG." + "a1B2c3D4" * 2 + "e5F6g7." + "a1B2c3D4" * 5 + "e5F",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
]


def in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def all_escaped(text: str) -> str:
    return "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else in_json(c) for c in text)


def all_quoted(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def in_base64(before: str) -> Callable[[str], str]:
    return lambda text: base64.b64encode(f"{before}{text}..".encode()).decode()


def in_url_base64(before: str) -> Callable[[str], str]:
    return lambda text: base64.urlsafe_b64encode(f"{before}{text}..".encode()).decode().rstrip("=")


ENCODINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": in_json,
    "JSON in JSON": lambda text: in_json(in_json(text)),
    "JSON, every character escaped": all_escaped,
    "URL": lambda text: quote(text, safe=""),
    "form": quote_plus,
    "URL, every byte": all_quoted,
    "JSON in URL": lambda text: quote(in_json(text), safe=""),
    "hexadecimal": lambda text: text.encode().hex(),
    "hexadecimal, upper case": lambda text: text.encode().hex().upper(),
    "base64 in URL": lambda text: quote(in_base64("a")(text), safe=""),
    **{f"base64 after {n}": in_base64("abc"[:n]) for n in range(3)},
    **{f"URL-safe base64 after {n}": in_url_base64("abc"[:n]) for n in range(3)},
}


def leaks(text: str, secret: str) -> list[str]:
    """The encodings in which `secret` stands in `text`: in base64 without its ragged ends."""
    return [
        name
        for name, encoded in ENCODINGS.items()
        if (encoded(secret)[4:-6] if "base64" in name else encoded(secret)) in text
    ]


# Known values


@pytest.mark.parametrize("secret", [KEY, ODD], ids=["key", "odd"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_known_value_is_found_however_it_is_encoded(encoding: str, secret: str) -> None:
    written = ENCODINGS[encoding](secret)
    assert leaks(f"before {written} after", secret)
    redacted = REDACT(f"before {written} after")
    assert leaks(redacted, secret) == []
    assert redacted.startswith("before ")
    assert redacted.endswith(" after")
    assert REDACTED in redacted


def test_base64_in_lines_is_read_as_one() -> None:
    long = "Ab9-" * 40
    redacted = Redactor([long])(base64.encodebytes(f"key: {long}".encode()).decode())
    assert redacted.strip() == REDACTED


@pytest.mark.parametrize(
    "name",
    [
        *(
            "OPENAI_API_KEY",
            "GH_TOKEN",
            "CLIENT_SECRET",
            "DB_PASSWORD",
            "MYSQL_PASSWD",
            "PGPASSWORD",
        ),
        *("AWS_SECRET_ACCESS_KEY", "APP_CREDENTIALS", "TLS_PRIVATE_KEY", "apiKey", "LEADHAND_KEY"),
    ],
)
def test_a_variable_whose_name_says_so_is_a_secret(name: str) -> None:
    assert Redactor.of({name: "hunter2-hunter2"})("it is hunter2-hunter2.") == f"it is {REDACTED}."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKEN_LIMIT", "200000000"),
        ("MAX_TOKENS", "200000000"),
        ("API_TOKEN", "123456789"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-XXA1b2/agent.1234"),
        ("PWD", "/home/someone/Project1"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/Someone1/key.json"),
        ("POSTGRES_PASSWORD", "postgres"),
        ("GIT_CREDENTIAL_HELPER", "osxkeychain"),
        ("PASSWORD_STORE", "secret-service-1"),
        ("TOKEN_URL", "https://login.example.org/v2"),
        ("OPENAI_API_KEY", "not-needed"),
        ("API_KEY", "short1"),
        ("EDITOR", "emacs-nox-29"),
    ],
)
def test_settings_words_numbers_and_paths_are_no_secrets(name: str, value: str) -> None:
    text = f"{name} is {value}, and {value!r} stays"
    assert Redactor.of({name: value})(text) == text


def test_the_password_of_a_url_is_a_secret_and_the_url_is_none() -> None:
    redact = Redactor.of({"DATABASE_URL": "postgres://app:s3cr%2Fet-9x@db.example.org/app"})
    assert redact("no s3cr/et-9x for app at db.example.org") == (
        f"no {REDACTED} for app at db.example.org"
    )


def test_a_key_file_in_a_variable_gives_its_own_secrets() -> None:
    document = json.dumps({"type": "service_account", "private_key": "Q9x-81kQpLm29"})
    redact = Redactor.of({"GOOGLE_CREDENTIALS": document})
    assert redact('{"type":"service_account"} Q9x-81kQpLm29') == (
        f'{{"type":"service_account"}} {REDACTED}'
    )


# Cut pieces


@pytest.mark.parametrize("length", range(8, len(KEY)))
def test_what_is_left_of_a_value_that_was_cut_is_redacted(length: int) -> None:
    head, tail = KEY[:length], KEY[-length:]
    assert REDACT(f"it is {head}") == f"it is {REDACTED}"
    assert REDACT(f"it is {head} [cut: 9,000 characters in all]").startswith(f"it is {REDACTED} [")
    assert REDACT(f"{tail} it was") == f"{REDACTED} it was"
    assert json.loads(REDACT(json.dumps([f"\n{head}", f"{tail}\n"]))) == [
        f"\n{REDACTED}",
        f"{REDACTED}\n",
    ]
    inner = json.dumps({"query": f"x {head}"})
    assert json.loads(json.loads(REDACT(json.dumps(inner)))) == {"query": f"x {REDACTED}"}


@pytest.mark.parametrize("length", range(12, 30))
def test_base64_that_was_cut_is_redacted(length: int) -> None:
    coded = base64.b64encode(KEY.encode()).decode()
    assert REDACT(f"it is {coded[:length]}") == f"it is {REDACTED}"


def test_the_beginning_of_a_value_within_a_text_says_nothing() -> None:
    text = f"{KEY[:9]} and so on"
    assert REDACT(f"say {text}") == f"say {text}"


def test_a_word_that_a_secret_begins_with_stays() -> None:
    redact = Redactor(["complete-9x81kQ"])
    assert redact('{"status":"complete"}') == '{"status":"complete"}'


# JSON stays JSON

LEAVES = st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text()
DOCUMENTS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
SECRETS = st.text(min_size=16, max_size=40).filter(
    lambda text: sum(c.isalnum() and c.isascii() for c in text) > 7 and text.strip() == text
    and len(set(text)) > 7 and not any("\ud800" <= c <= "\udfff" for c in text)
)  # fmt: skip


def shape(document: str) -> str:
    """The document with every string in it replaced by the same one."""
    return STRING.sub('""', document)


@given(
    document=DOCUMENTS,
    secret=SECRETS
    | st.sampled_from((KEY, ODD, '","a":["x1y2z3', "\\\\u0041\\nab\\\\", "%41%%2541x\\u")),
    encoding=st.sampled_from(sorted(ENCODINGS)),
    before=st.sampled_from(("", "\\", "\\\\", '"', "%", "\n", "n", "é")) | st.text(max_size=5),
    after=st.sampled_from(("", "\\", '"', "%41", "\n", "u0041")) | st.text(max_size=5),
    as_key=st.booleans(),
    ascii_only=st.booleans(),
)
def test_any_json_document_keeps_its_shape_and_loses_its_secret(
    document: object,
    secret: str,
    encoding: str,
    before: str,
    after: str,
    as_key: bool,
    ascii_only: bool,
) -> None:
    text = ENCODINGS[encoding](f"{before}{secret}{after}")
    whole = [document, {text: 1} if as_key else {"value": text}, document]
    line = json.dumps(whole, ensure_ascii=ascii_only)
    redact = Redactor([secret])
    redacted = redact(line)
    assert shape(json.dumps(json.loads(redacted))) == shape(json.dumps(whole))
    assert REDACTED in redacted
    assert leaks(json.dumps(json.loads(redacted)[1], ensure_ascii=False), secret) == []
    assert redact(redacted) == redacted


def test_keys_of_a_mapping_stay_distinct() -> None:
    other = GITHUB[::-1].replace("_phg", "x")
    first, second = "ghp_" + other[:36], "ghp_" + other[1:37]
    inner: dict[str, object] = {f"for {first}": 4, first: 5}
    given: dict[str, object] = {first: 1, second: 2, "[redacted 2]": 3, "again": inner}
    redacted = json.loads(Redactor()(json.dumps(given)))
    assert [*redacted.values()][:3] == [1, 2, 3]
    assert [*redacted["again"].values()] == [4, 5]
    assert next(iter(redacted)) == [*redacted["again"]][1] == REDACTED
    assert first[8:] not in str(redacted)
    assert second[8:] not in str(redacted)
    once = json.dumps(redacted)
    assert Redactor()(once) == once


@given(st.lists(st.sampled_from([KEY, ODD, *ISSUED, "password=", " ", '"', "\\", "%", "a1B2"])))
def test_twice_is_as_good_as_once(parts: list[str]) -> None:
    once = REDACT("".join(parts))
    assert REDACT(once) == once


@given(st.text() | DOCUMENTS.map(json.dumps))
def test_text_without_secrets_is_left_alone(text: str) -> None:
    assert REDACT(text) is text


@given(st.lists(st.sampled_from([KEY, KEY[:9], KEY[-9:], ODD, GITHUB, "\\", "a"]) | DOCUMENTS))
def test_a_list_is_left_alone_only_where_each_of_its_documents_is(values: list[object]) -> None:
    """Documents that are written together can be searched together (F36)."""
    documents = [json.dumps({"value": value}) for value in values]
    together = f"[{','.join(documents)}]"
    clean = all(REDACT(document) == document for document in documents)
    assert (REDACT(together) == together) == clean
