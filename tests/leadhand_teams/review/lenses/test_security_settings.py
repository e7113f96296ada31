"""The security lens: settings, cryptography and secrets in text."""

import base64
from pathlib import Path

import pytest

from leadhand_teams.review import secrets
from tests.leadhand_teams.review.lenses.security_reports import look, rules

TOKEN = "ghp_" + "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17"
"""Expired; its issuer published it to explain the checksum."""
WRONG = "ghp_" + "zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18"
KEY_ID, KEY_SECRET = "AKIA" + "QYLPMN5HHHFPZAM2", "kT9/" + "wJalrUtnFEMIzK7MDENGbPxRfiCYzLqHsZbG"
GROQ = "gsk_" + ("aB3dE5gH7jK9" * 5)[:52]
JWT = ".".join(
    base64.urlsafe_b64encode(part).rstrip(b"=").decode()
    for part in (
        b'{"alg":"HS256","typ":"JWT"}',
        b'{"sub":"kay.scarpetta"}',
        bytes(range(7, 250, 5)),
    )
)
PASSWORD = "S3cr" + "3tWord9"


BAD = {
    "requests without verification": (
        "tls-verification-off",
        "import requests\nrequests.get('https://x.org', verify=False)\n",
    ),
    "a context that checks nothing": (
        "tls-verification-off",
        "import ssl\ndef f():\n    c = ssl.create_default_context()\n"
        "    c.check_hostname = False\n    c.verify_mode = ssl.CERT_NONE\n    return c\n",
    ),
    "the whole process without verification": (
        "tls-verification-off",
        "import ssl\nssl._create_default_https_context = ssl._create_unverified_context\n",
    ),
    "an unverified token": (
        "token-not-verified",
        "import jwt\ndef f(t):\n    return jwt.decode(t, options={'verify_signature': False})\n",
    ),
    "any host key": (
        "ssh-host-key-off",
        "import paramiko\ndef f():\n    c = paramiko.SSHClient()\n"
        "    c.set_missing_host_key_policy(paramiko.AutoAddPolicy())\n",
    ),
    "MD5 of a password": (
        "weak-hash",
        "import hashlib\ndef f(password):\n    return hashlib.md5(password.encode()).hexdigest()\n",
    ),
    "a constant salt": (
        "constant-salt",
        "import hashlib\ndef f(p):\n    return hashlib.pbkdf2_hmac('sha256', p, b'sal', 600_000)\n",
    ),
    "DES": ("weak-cipher", "from Crypto.Cipher import DES\ndef f(k):\n    return DES.new(k)\n"),
    "a constant vector": (
        "constant-iv",
        "from Crypto.Cipher import AES\ndef f(k):\n    iv = b'0' * AES.block_size\n"
        "    return AES.new(k, AES.MODE_CBC, iv)\n",
    ),
    "a short key": (
        "weak-key",
        "from Crypto.PublicKey import RSA\ndef f():\n    return RSA.generate(1024)\n",
    ),
    "resolved entities": (
        "xml-external-entities",
        "from lxml import etree\np = etree.XMLParser(resolve_entities=True)\n",
    ),
    "a world-writable file": ("world-writable", "import os\nos.chmod('/x', 0o777)\n"),
    "a made-up file name": ("mktemp", "import tempfile\nname = tempfile.mktemp()\n"),
    "a password in a call": (
        "hard-coded-credential",
        "import psycopg2\ndef f():\n    return psycopg2.connect(user='a', password='b1')\n",
    ),
    "a database without a password": (
        "empty-database-password",
        "import pymysql\ndef f():\n    return pymysql.connect(user='root', password='')\n",
    ),
}

GOOD = {
    "the caller's own switch": (
        "import ssl\ndef f(verify):\n    c = ssl.create_default_context()\n    if not verify:\n"
        "        c.check_hostname = False\n        c.verify_mode = ssl.CERT_NONE\n    return c\n"
    ),
    "an early return for the verified case": (
        "import ssl\ndef f(verified):\n    if verified:\n"
        "        return ssl.create_default_context()\n"
        "    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)\n"
        "    c.check_hostname = False\n    return c\n"
    ),
    "MD5 of a cache key": (
        "import hashlib\ndef f(url):\n    return hashlib.md5(url.encode()).hexdigest()\n"
    ),
    "MD5 said not to protect": (
        "import hashlib\ndef f(password):\n"
        "    return hashlib.md5(password.encode(), usedforsecurity=False).hexdigest()\n"
    ),
    "a fresh vector": (
        "import os\nfrom Crypto.Cipher import AES\ndef f(k):\n"
        "    return AES.new(k, AES.MODE_CBC, os.urandom(16))\n"
    ),
    "a placeholder": "password = 'changeme'\napi_key = 'your-api-key-here'\n",
    "the name of a setting": "PASSWORD_FIELD = 'user_password1'\ntoken_url = 'https://x.org/t1'\n",
    "a key from the environment": "import os\napi_key = os.environ['API_KEY_V2']\n",
}


@pytest.mark.parametrize("case", BAD)
def test_a_weak_setting_is_found(tmp_path: Path, case: str) -> None:
    rule, code = BAD[case]
    assert rule in rules(tmp_path, code)


@pytest.mark.parametrize("case", GOOD)
def test_what_protects_nothing_or_is_the_callers_choice_is_left_alone(
    tmp_path: Path, case: str
) -> None:
    assert rules(tmp_path, GOOD[case]) == set()


@pytest.mark.parametrize("path", ["config.yml", "main.go", "deploy.sh", "app.py"])
def test_an_issued_token_is_found_in_any_text_and_never_quoted_whole(
    tmp_path: Path, path: str
) -> None:
    """F36: neither the message nor the quote carries the token."""
    [finding] = look(tmp_path, {path: f'token = "{TOKEN}"\n'}).findings
    assert finding.rule == secrets.TOKEN.id
    assert finding.evidence in f'token = "{TOKEN}"'
    assert TOKEN[:8] not in finding.model_dump_json()


@pytest.mark.parametrize(
    "code",
    [
        "import hashlib\nkey = hashlib.md5(password)\n",
        "import hashlib\nkey = hashlib.new('md5', password)\n",
        "from Crypto.Hash import MD5\nkey = MD5.new(password)\n",
    ],
)
def test_the_message_on_a_weak_hash_names_the_algorithm(tmp_path: Path, code: str) -> None:
    [finding] = look(tmp_path, {"app.py": code}).findings
    assert finding.message.lower().startswith("`md5` is used to protect `password`.")


def test_another_finding_on_the_line_of_a_secret_does_not_show_it(tmp_path: Path) -> None:
    """F36: the quote is a part of the line without the secret."""
    line = f"requests.get('https://x.org', password='{PASSWORD}', verify=False)"
    report = look(tmp_path, {"app.py": f"import requests\n{line}\n"})
    assert {one.rule for one in report.findings} >= {"security/tls-verification-off"}
    assert all(one.evidence and one.evidence in line for one in report.findings)
    assert all(PASSWORD not in one.model_dump_json() for one in report.findings)


def test_a_url_with_a_password_is_found_and_the_password_not_shown(tmp_path: Path) -> None:
    """F36."""
    url = f"postgres://admin:{PASSWORD}@db7.corp.net/main"
    [finding] = look(tmp_path, {"settings.ini": f"dsn = {url}\n"}).findings
    assert finding.rule == "security/url-credentials"
    assert PASSWORD not in finding.model_dump_json()


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("app.py", f"k = '{TOKEN}'\n", "secret-token"),
        ("tests/test_api.py", f"k = '{TOKEN}'\n", "secret-token"),
        ("app.py", f"k = '{WRONG}'\n", None),
        ("tests/test_api.py", f"k = '{WRONG}'\n", None),
        ("deploy.env", f"ID={KEY_ID}\nSECRET={KEY_SECRET}\n", "secret-token"),
        ("accounts.py", f"# made of {KEY_ID}\n", None),
        ("app.py", f"k = '{GROQ}'\n", "secret-token"),
        ("tests/test_api.py", f"k = '{GROQ}'\n", None),
        ("docs/use.md", f"Use {GROQ}\n", None),
        ("app.py", f"k = '{JWT}'\n", None),
        ("web.js", f"authDomain: 'x', key: 'AIza{'Sy9_kQ2' * 5}'\n", None),
        ("maps.py", f"key = 'AIza{'Sy9_kQ2' * 5}'\n", "secret-token"),
    ],
)
def test_a_token_is_a_fact_if_its_checksum_is_right_or_if_nothing_says_that_it_is_made_up(
    tmp_path: Path, path: str, text: str, expected: str | None
) -> None:
    """What may be made up, published or harmless is not reported."""
    assert secrets.TOKEN.fact
    found = [one.rule.split("/")[1] for one in look(tmp_path, {path: text}).findings]
    assert found == ([expected] if expected else [])


def pem(kind: str, content: bytes) -> str:
    lines = base64.encodebytes(content).decode()
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{lines}-----END {kind}PRIVATE KEY-----\n"


DER = b"0\x82\x01\x00" + bytes(range(256))


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("id", pem("RSA ", DER), "private-key"),
        ("id", pem("OPENSSH ", b"openssh-key-v1\0\0\0\0\4none" + bytes(300)), "private-key"),
        ("key.py", f"KEY = {pem('', DER)!r}\n", "private-key"),
        ("values.yaml", "key: |\n  " + pem("", DER).replace("\n", "\n  ") + "\n", "private-key"),
        ("docs/tls.md", pem("", DER), None),
        ("tests/server.key", pem("", DER), None),
        ("id", pem("ENCRYPTED ", DER), None),
        ("id", pem("", DER[:200]), None),
        ("parse.py", "HEAD = '-----BEGIN " + "PRIVATE KEY-----'\n", None),
        ("use.txt", "-----BEGIN " + "PRIVATE KEY-----\nMIIE...\n-----END PRIVATE KEY-----\n", None),
    ],
)
def test_a_private_key_is_a_fact_if_all_of_it_is_there(
    tmp_path: Path, path: str, text: str, expected: str | None
) -> None:
    found = look(tmp_path, {path: text}).findings
    assert [one.rule.split("/")[1] for one in found] == ([expected] if expected else [])


def test_obvious_placeholders_are_not_secrets(tmp_path: Path) -> None:
    text = (
        "a = AKIAIOSFODNN7EXAMPLE\nb = ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"
        "c = https://user:password@example.com/\nd = redis://:p4ss@localhost/0\n"
    )
    assert look(tmp_path, {"docs.md": text}).findings == ()


def test_lines_of_hostile_length_are_read(tmp_path: Path) -> None:
    text = "x = '" + "-eyJ" * 200_000 + "'\n" + "a://" * 100_000 + "@\n"
    assert look(tmp_path, {"big.txt": text}).findings == ()


def test_a_secret_that_is_now_written_out_is_reported(tmp_path: Path) -> None:
    before = "import os\nKEY = os.environ['APP_SECRET_KEY']\n"
    after = "import os\nKEY = 'w8#k2v!q0z@e5r$t9'\n"
    report = look(tmp_path, {"a.py": after}, {"a.py": before})
    assert {one.rule for one in report.findings} == {"security/hard-coded-credential"}
