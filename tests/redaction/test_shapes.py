"""F36: secrets are found by their shape, and text about secrets is left alone."""

import base64
import json

import pytest

from leadhand.redaction import REDACTED, Redactor
from tests.redaction.test_redaction import GITHUB, ISSUED, in_base64, in_url_base64

PEM = "\n".join(
    (
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        *("MIIEowIBAAKCAQEA1c7" + "Ab0+" * 11 + "/" for _ in range(4)),
        "Q29sZA==",
        "-----END RSA PRIVATE KEY-----",
    )
)


@pytest.mark.parametrize("token", ISSUED, ids=lambda token: token[:6])
def test_an_issued_token_is_known_by_its_shape(token: str) -> None:
    for text in ("use {} now", "key={}", '"{}",', "({})", "https://x.example/?k={}&a=1", "\n{}\n"):
        assert Redactor()(text.format(token)) == text.format(REDACTED)
    assert json.loads(Redactor()(json.dumps({"a": f"\n{token}"}))) == {"a": f"\n{REDACTED}"}


@pytest.mark.parametrize("before", ["", " ", "a ", "the key is "])
def test_a_token_within_base64_is_found(before: str) -> None:
    for encoded in (in_base64(before), in_url_base64(before)):
        assert Redactor()(f"path/{encoded(GITHUB)}") == REDACTED
    powershell = base64.b64encode(f"{before}{GITHUB}".encode("utf-16-le")).decode()
    assert Redactor()(f"-enc {powershell}") == f"-enc {REDACTED}"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Authorization: Bearer abc.DEF-123", "Authorization: Bearer [redacted]"),
        ('{"Authorization": "Basic dXNlcjpwYXNz"}', '{"Authorization": "Basic [redacted]"}'),
        ("sent Bearer 9x81kQpLm29vTtRw", "sent Bearer [redacted]"),
        ("amqp://me:Pa5s.w0rd@mq.example/", "amqp://me:[redacted]@mq.example/"),
        ("redis://:Pa5sw0rd@mq.example/", "redis://:[redacted]@mq.example/"),
        ("?api_key=9x81kQpLm29v&a=1", "?api_key=[redacted]&a=1"),
        ('"password": "Tr0ub4dor-3x"', '"password": "[redacted]"'),
        ('{"password":"Tr0ub\\u00344dor-3x"}', '{"password":"[redacted]"}'),
        ("DB_PASSWD='hunter2hunter2'", "DB_PASSWD='[redacted]'"),
        ("SOME_TOKEN=9f86d081884c7d65", "SOME_TOKEN=[redacted]"),
        ("--client-secret 9f86d081884c7d65", "--client-secret [redacted]"),
        ("{b'Authorization': b'Bearer abc.DEF-123'}", "{b'Authorization': b'Bearer [redacted]'}"),
        ("[(b'x-api-key', b'9x81kQpLm29v')]", "[(b'x-api-key', b'[redacted]')]"),
        ("https://9x81kQpLm29vTtRw@git.example/a.git", "https://[redacted]@git.example/a.git"),
        ("https://9x81kQpLm29vTtRw:x-y@git.example", "https://[redacted]:[redacted]@git.example"),
        ("postgres://me:pa$$word[1]!@db.example/app", "postgres://me:[redacted]@db.example/app"),
        ("mysql://me:$ecret@db.example/app", "mysql://me:[redacted]@db.example/app"),
        ("ftp://me:p@ss@files.example/", "ftp://me:[redacted]@files.example/"),
        (
            "AccountName=a;AccountKey=9x81kQpLm/+29vTtRw==;EndpointSuffix=core.example",
            "AccountName=a;AccountKey=[redacted];EndpointSuffix=core.example",
        ),
        (
            "host=db user=me password=letmein dbname=a",
            "host=db user=me password=[redacted] dbname=a",
        ),
        ("host=db password='let me in'", "host=db password=[redacted]"),
        (
            "jdbc:sqlserver://db:1433;user=me;password=hunter22;encrypt=true",
            "jdbc:sqlserver://db:1433;user=me;password=[redacted];encrypt=true",
        ),
        (
            "jdbc:mysql://db/a?user=me&password=$ecret1",
            "jdbc:mysql://db/a?user=me&password=[redacted]",
        ),
        ("Driver={X};Server=db;UID=me;PWD={a;b};", "Driver={X};Server=db;UID=me;PWD=[redacted];"),
        ("Password=letmein1;Server=db", "Password=[redacted];Server=db"),
        ("password=x1y2z3w4", "password=[redacted]"),
        ("password: 'Pa$$w0rd[1x]'", "password: '[redacted]'"),
        ('{"tokens": ["9x81kQpLm29v", "b"]}', '{"tokens": ["[redacted]", "b"]}'),
        ('{"token": {"9x81kQpLm29v": 1}}', '{"token": {"[redacted]": 1}}'),
        ("İ: Bearer 9x81kQpLm29vTtRw", "İ: Bearer [redacted]"),
    ],
)
def test_what_is_named_a_credential_is_redacted_where_it_looks_like_one(
    text: str, redacted: str
) -> None:
    assert Redactor()(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        'password = os.environ["DB_PASSWORD_V2"]',
        "token = secrets.token_urlsafe32bytes(nbytes)",
        "api_key: str = settings.api_key_v1_2",
        'password = "your-password-here"',
        'secret_name = "projects/p1/secrets/s2/versions/3"',
        '"next_page_token": "a1b2c3d4e5f6g7"',
        '"input_tokens": 123456789012, "output_tokens": 12',
        '{"key": "9f86d081884c7d659a2feaa0c55ad015"}',
        '{"token": 12345678901234}',
        "postgres://app:${DB_PASSWORD}@db/app and https://user:%s@host",
        "the class sk-folding-cube-wrapper-large of spinkit",
        "Bearer authentication, basic python3.11",
        "look for -----BEGIN PRIVATE KEY----- in files, then report them",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "src/leadhand_teams/review/lenses/security/Credentials_and_Tokens.py",
        "connect(host=host, user=user, password=password1) or connect(password=word, host=host)",
        'f"host={host} password={password}" and "Server=db;PWD={Password};" and "&password=%s"',
        'url = f"postgres://{user}:{secrets.password}@{host}:{port}/{name}"',
        "https://user:<password>@host, https://user:***@host, https://user:#{pass}@host",
        "http://localhost:8080/a@b and http://localhost:8080?mail=me@example.org#x",
        "write to first.last2024@example.org or https://me@example.org/~me or git@a.example:b",
        "commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904, id 550e8400-e29b-41d4-a716-446655440000",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDw",
        '<img src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRA">',
        "npm_config_registry_2024, hf_hub_download, sk-learn2, SG.NS, dapiServiceV2, secret_key_1",
        "the server is db, the port is 5432, the password is kept elsewhere; the user asks for it",
        "eyJ" + "hIjoxLCJiIjoyLCJjIjozLCJkIjo0fQ",
        "key = value; token = next(tokens); secret = secrets.get(name)",
        "10:AA and 12345678:AAAA, MTU 1500, OTHER.NAMES.here, NTP.server.example",
    ],
)
def test_code_and_prose_about_secrets_stay(text: str) -> None:
    assert Redactor()(text) == text


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("password=token=secret=9x81kQpLm29v", "password=[redacted]"),
        ("password=https://password=9x81kQpLm29v", "password=https://password=[redacted]"),
        ("password=https://token://9x81kQpLm29v", "password=https://token:[redacted]"),
        ("password=of-the-password: 9x81kQpLm29v", "password=of-the-password: [redacted]"),
        ("password=of-the-passwords= 9x81kQpLm29v", "password=of-the-passwords= [redacted]"),
        ("password=9x81kQpLm29v password=7x81kQpLm29v", "password=[redacted] password=[redacted]"),
    ],
)
def test_a_name_within_or_behind_the_value_of_another_is_seen(text: str, redacted: str) -> None:
    assert Redactor()(text) == redacted


def test_a_private_key_goes_whole_or_cut() -> None:
    cut = {"pem": PEM[:200], "configurationOfTheKey": "x"}
    assert json.loads(Redactor()(json.dumps(cut))) == cut | {"pem": REDACTED}
    assert Redactor()(f"a {PEM} b") == f"a {REDACTED} b"
    assert json.loads(Redactor()(json.dumps({"pem": PEM}))) == {"pem": REDACTED}
    assert Redactor()(f"a {PEM[:200]}") == f"a {REDACTED}"


@pytest.mark.parametrize(
    "quoted",
    [
        repr(PEM),
        repr(PEM.replace("\n", "\r\n").encode()),
        "> " + PEM.replace("\n", "\n> "),
        "+    # " + PEM.replace("\n", "\n+    # "),
        "\n".join(f'    "{line}\\n" +' for line in PEM.splitlines()),
    ],
)
def test_a_quoted_private_key_goes_whole(quoted: str) -> None:
    redacted = Redactor()(quoted)
    assert REDACTED in redacted
    assert "MII" not in redacted
    assert "Q29s" not in redacted
