"""Removed protections of every kind: reported when they are gone, not when they moved."""

import textwrap
from pathlib import Path

import pytest

from tests.leadhand_teams.review.lenses.security_reports import look

GONE: dict[str, tuple[str, str, str]] = {
    "a part of a condition": (
        "clause",
        "def safe(url, base):\n    if url.scheme or url.netloc:\n"
        "        url = base\n    return url\n",
        "def safe(url, base):\n    if url.netloc:\n        url = base\n    return url\n",
    ),
    "what a value is compared with": (
        "clause",
        'def f(form):\n    public = 1 if form.get("public") == "on" else 0\n    return public\n',
        'def f(form):\n    public = 1 if form.get("public") else 0\n    return public\n',
    ),
    "a check by a function that is deleted too": (
        "guard",
        "def ok(x):\n    return x > 0, 'why'\n\ndef f(x):\n"
        "    good, why = ok(x)\n    if not good:\n"
        "        return {'msg': why}, 400\n    save(x)\n",
        "def f(x):\n    save(x)\n",
    ),
    "a check in the second of two definitions": (
        "guard",
        "if NEW:\n    def f(x):\n        return send(x)\nelse:\n    def f(x):\n"
        "        if bad(x):\n            raise ValueError(x)\n        return put(x)\n",
        "if NEW:\n    def f(x):\n        return send(x)\nelse:\n    def f(x):\n"
        "        return put(x)\n",
    ),
    "an error reply in an attribute": (
        "guard",
        "def f(self, size):\n    if not size.isdigit():\n        self.error = BadRequest('size')\n"
        "        return\n    self.size = size\n",
        "def f(self, size):\n    self.size = size\n",
    ),
    "a handler that refuses": (
        "refusing-handler",
        "def f(x):\n    try:\n        n = int(x)\n"
        "    except ValueError:\n        raise BadRequest(x)\n"
        "    return n\n",
        "def f(x):\n    try:\n        n = int(x)\n"
        "    except ValueError:\n        n = 0\n    return n\n",
    ),
    "a call around a value": (
        "wrapper",
        "def f(files, name):\n    return files.open(trimmed(name))\n",
        "def f(files, name):\n    return files.open(name)\n",
    ),
    "a value's new form": (
        "wrapper",
        "def f(url):\n    url = url.replace('\\\\', '%5C')\n    return go(url)\n",
        "def f(url):\n    return go(url)\n",
    ),
    "a default": (
        "fallback",
        "def f(conf):\n    names = conf.names or {}\n    return names.get('a')\n",
        "def f(conf):\n    names = conf.names\n    return names.get('a')\n",
    ),
    "a safe function": (
        "safer-variant",
        "import json\ndef f(text):\n    return json.loads(text)\n",
        "import pickle\ndef f(text):\n    return pickle.loads(text)\n",
    ),
    "a sandbox": (
        "safer-variant",
        "class Scripts(SandboxedEnvironment):\n    def go(self):\n        return 1\n",
        "class Scripts(Environment):\n    def go(self):\n        return 1\n",
    ),
    "a checking function": (
        "call",
        "def validate_name(n):\n    return n != 'x'\n\ndef f(n):\n    validate_name(n)\n    g(n)\n",
        "def f(n):\n    g(n)\n",
    ),
    "a limit as parameter": (
        "limit",
        "def read(stream, max_size=100):\n    return stream.read(max_size)\n",
        "def read(stream):\n    return stream.read()\n",
    ),
    "a limit as keyword": (
        "limit",
        "def f(s):\n    return read(s, max_size=5)\n",
        "def f(s):\n    return read(s)\n",
    ),
    "a TLS context": (
        "tls",
        "def f(smtp, ctx):\n    smtp.starttls(context=ctx)\n    return smtp\n",
        "def f(smtp, ctx):\n    smtp.starttls()\n    return smtp\n",
    ),
    "a cookie flag": (
        "flag",
        "def f(r, t):\n    r.set_cookie('t', t, httponly=True)\n",
        "def f(r, t):\n    r.set_cookie('t', t)\n",
    ),
    "a setting": ("flag", "SESSION_COOKIE_SECURE = True\n", "SESSION_COOKIE_SECURE = False\n"),
    "a header": (
        "header",
        "def f(r):\n    r.headers['X-Frame-Options'] = 'DENY'\n    return r\n",
        "def f(r):\n    return r\n",
    ),
    "a call that sets a header": (
        "header",
        "def f(self, name):\n    self.set_header('Access-Control-Allow-Origin', ORIGIN)\n"
        "    self.write(name)\n",
        "def f(self, name):\n    self.write(name)\n",
    ),
    "a call that cleans a value": (
        "call",
        "def f(page, text):\n    text = clean_html(text)\n    page.show(text)\n",
        "def f(page, text):\n    page.show(text)\n",
    ),
    "a method that cleans a field": (
        "check",
        "class Form(Base):\n    def clean_name(self):\n        if '/' in self.name:\n"
        "            raise ValidationError(self.name)\n        return self.name\n\n"
        "    def go(self):\n        return 1\n",
        "class Form(Base):\n    def go(self):\n        return 1\n",
    ),
    "a validator in lower case": (
        "call",
        "def f(url):\n    url_validator(url)\n    return go(url)\n",
        "def f(url):\n    return go(url)\n",
    ),
    "an entry of a deny list": (
        "entry",
        "BLOCKED = [\n    'exec',\n    'eval',\n]\n",
        "BLOCKED = [\n    'exec',\n]\n",
    ),
    "an anchor of a pattern": (
        "anchor",
        "import re\nNAME = re.compile('^[a-z]+$')\n",
        "import re\nNAME = re.compile('^[a-z]+')\n",
    ),
    "a validator": (
        "validator",
        "class Form:\n    name = Field('Name', validators=[Required()])\n",
        "class Form:\n    name = Field('Name')\n",
    ),
}

KEPT: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a condition in other words": (
        {"a.py": "def f(x):\n    if x is None or x.bad:\n        x = 1\n    return x\n"},
        {"a.py": "def f(x):\n    if x is None or not x.good:\n        x = 1\n    return x\n"},
    ),
    "a special case for a feature that is gone": (
        {"a.py": "def f(x, fast=False):\n    if fast:\n        x = speed(x)\n    return x\n"},
        {"a.py": "def f(x):\n    return x\n"},
    ),
    "a function that was renamed with its checks": (
        {
            "a.py": "def read(x):\n    if x < 0:\n        raise Refused(x)\n"
            "    y = x\n    return y\n"
        },
        {
            "a.py": "def load(x):\n    if x < 0:\n        raise Refused(x)\n"
            "    y = x\n    return y\n"
        },
    ),
    "a function that moved to another file": (
        {"a.py": "def check_name(n):\n    return n != 'x'\n\ndef f(n):\n    check_name(n)\n"},
        {
            "a.py": "from b import check_name\ndef f(n):\n    check_name(n)\n",
            "b.py": "def check_name(n):\n    return n != 'x'\n",
        },
    ),
    "a limit under another name": (
        {"a.py": "def f(s, max_size=5):\n    return s.read(max_size)\n"},
        {"a.py": "def f(s, limit=5):\n    return s.read(limit)\n"},
    ),
    "a handler for a renamed error": (
        {"a.py": "def f():\n    try:\n        go()\n    except Old:\n        pass\n"},
        {"a.py": "def f():\n    try:\n        go()\n    except New:\n        pass\n"},
    ),
    "a check of the Python version": (
        {
            "a.py": "import sys\ndef f(x):\n    if sys.version_info < (3, 8):\n"
            "        raise Old(x)\n"
        },
        {"a.py": "import sys\ndef f(x):\n    pass\n"},
    ),
    "a variant that is gone": (
        {"a.py": "def f(x):\n    if x == 'a':\n        go(x)\n"
         "    elif x == 'b':\n        raise Old(x)\n    return x\n"},
        {"a.py": "def f(x):\n    if x == 'a':\n        go(x)\n    return x\n"},
    ),
    "a refusal by a handler": (
        {"a.py": "def f(d, x):\n    if x not in d:\n        raise Refused(x)\n    return d[x]\n"},
        {"a.py": "def f(d, x):\n    try:\n        return d[x]\n"
         "    except KeyError:\n        raise Refused(x) from None\n"},
    ),
    "a stricter bound": (
        {"a.py": "def f(x):\n    if len(x) > 10:\n        raise TooLong(x)\n    save(x)\n"},
        {"a.py": "def f(x):\n    if len(x) > 5:\n        raise TooLong(x)\n    save(x)\n"},
    ),
    "a file that moved as a whole": (
        {"a.py": "def f(x):\n    if x < 0:\n        raise Refused(x)\n    return x\n"},
        {"b/c.py": "def f(x):\n    if x < 0:\n        raise Refused(x)\n    return x\n"},
    ),
    "a switch that was unsafe before": (
        {"a.py": "def f(u):\n    return get(u, verify=False)\n"},
        {"a.py": "def f(u):\n    return get(u, timeout=3, verify=False)\n"},
    ),
    "a header that is set elsewhere": (
        {
            "a.py": "def f(r):\n    r.headers['Vary'] = 'Cookie'\n"
            "    return r\n\ndef g(r):\n    pass\n"
        },
        {"a.py": "def f(r):\n    return r\n\ndef g(r):\n    r.headers['Vary'] = 'Cookie'\n"},
    ),
    "an exception under a new name": (
        {
            "a.py": "def f(x):\n    try:\n        return int(x)\n"
            "    except ValueError:\n        raise Old(x)\n",
        },
        {
            "a.py": "def f(x):\n    try:\n        return int(x)\n"
            "    except ValueError:\n        raise New(x)\n",
        },
    ),
    "a handler of a broader error": (
        {
            "a.py": "def f():\n    try:\n        go()\n    except UnicodeError:\n"
            "        pass\n    except ValueError:\n        stop()\n",
        },
        {"a.py": "def f():\n    try:\n        go()\n    except ValueError:\n        stop()\n"},
    ),
    "a keyword under a new name": (
        {"a.py": "def f(x):\n    return Value(x, safe=x.kind)\n"},
        {"a.py": "def f(x):\n    return Value(x, safe_for=x.kind)\n"},
    ),
    "a choice that became a statement": (
        {"a.py": "def f(x):\n    y = close(x) if x.open else x\n    return y\n"},
        {"a.py": "def f(x):\n    y = x\n    if x.open:\n        y = close(x)\n    return y\n"},
    ),
    "a default that the function itself gives now": (
        {
            "a.py": "from b import name\ndef f(x):\n    y = name(x) or ''\n"
            "    return y\n",
            "b.py": "def name(x):\n    return x.name\n",
        },
        {
            "a.py": "from b import name\ndef f(x):\n    y = name(x)\n    return y\n",
            "b.py": "def name(x):\n    return x.name or ''\n",
        },
    ),
    "a check for None that an earlier way out made superfluous": (
        {
            "a.py": "def f(x):\n    if x.dir is not None and x.dir.full:\n"
            "        clear(x)\n    return x\n",
        },
        {
            "a.py": "def f(x):\n    if x.dir is None:\n        return None\n"
            "    if x.dir.full:\n        clear(x)\n    return x\n",
        },
    ),
    "a condition of another statement": (
        {"a.py": "def f(x):\n    if x.small and x.odd:\n        grow(x)\n    return x\n"},
        {"a.py": "def f(x):\n    if x.small:\n        shrink(x)\n    return x\n"},
    ),
    "a condition that a match states": (
        {
            "a.py": "def f(x, y):\n    if y is not None and y.running:\n"
            "        y.finish_with(x)\n    y.tell(x)\n",
        },
        {
            "a.py": "def f(x, y):\n    match x:\n"
            "        case _ if y and y.running:\n"
            "            y.finish_with(x)\n    y.tell(x)\n",
        },
    ),
    "a refusal that moved into a new method": (
        {
            "a.py": "def f(x):\n    if x.problem:\n        raise Unfit(x.problem)\n"
            "    return x.text\n",
        },
        {
            "a.py": "def f(x):\n    return x.readable().text\n",
            "b.py": "class Answer:\n    def readable(self):\n"
            "        if not self.problem:\n            return self\n"
            "        raise Unfit(self.problem)\n",
        },
    ),
    "a call that tidies up": (
        {"a.py": "def f(x):\n    clean_up(x)\n    return x.go()\n"},
        {"a.py": "def f(x):\n    return x.go()\n"},
    ),
    "a header for the type of a page": (
        {"a.py": "def f(self, x):\n    self.set_header('Content-Type', 'text/html')\n"
         "    return x.go()\n"},
        {"a.py": "def f(self, x):\n    return x.go()\n"},
    ),
    "the greatest item": (
        {"a.py": "def f(rows):\n    return max(rows, key=len, default=None)\n"},
        {"a.py": "def f(rows):\n    return next(iter(rows), None)\n"},
    ),
    "a conversion that the caller makes now": (
        {"a.py": "def f(x):\n    return shown(x.name)\n\ndef g(x):\n    return f(x)\n"},
        {"a.py": "def f(x):\n    return x.name\n\ndef g(x):\n    return shown(f(x))\n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", GONE)
def test_a_removed_protection_is_reported_with_its_line(tmp_path: Path, what: str) -> None:
    rule, before, after = GONE[what]
    report = look(tmp_path, {"app.py": after}, {"app.py": before})
    found = {finding.rule.removeprefix("security/removed-"): finding for finding in report.findings}
    assert rule in found, report
    assert found[rule].evidence in before
    assert found[rule].evidence not in after.splitlines()
    assert "?" in found[rule].message


@pytest.mark.parametrize("what", KEPT)
def test_what_moved_or_was_replaced_is_not_reported(tmp_path: Path, what: str) -> None:
    before, after = KEPT[what]
    assert look(tmp_path, after, before).findings == ()


def test_a_lower_minimum_version_is_reported_in_any_file_of_requirements(tmp_path: Path) -> None:
    report = look(
        tmp_path,
        {"requirements.txt": "attrs>=22.1\nparser>=4.2\n"},
        {"requirements.txt": "attrs>=21.1\nparser>=5.2\n"},
    )
    [finding] = report.findings
    assert (finding.rule, finding.evidence) == ("security/removed-version-floor", "parser>=5.2")


def test_a_checking_function_that_is_gone_with_its_calls_is_one_finding(tmp_path: Path) -> None:
    _, before, after = GONE["a checking function"]
    [finding] = look(tmp_path, {"a.py": after}, {"a.py": before}).findings
    assert (finding.rule, finding.evidence) == ("security/removed-call", "validate_name(n)")


@pytest.mark.parametrize("was", ["", "    ctx.check_hostname = True\n"])
def test_a_check_of_the_host_name_that_is_turned_off_is_one_finding(
    tmp_path: Path, was: str
) -> None:
    code = "import ssl\ndef f():\n    ctx = ssl.create_default_context()\n{}    return ctx\n"
    after = code.format("    ctx.check_hostname = False\n")
    [finding] = look(tmp_path, {"a.py": after}, {"a.py": code.format(was)}).findings
    assert finding.rule == "security/removed-tls"


def test_many_removed_limits_of_one_function_are_one_finding(tmp_path: Path) -> None:
    before = textwrap.dedent(
        """\
        def parse(
            stream,
            max_files=10,
            max_fields=10,
        ):
            return Parser(stream)
        """
    )
    after = "def parse(\n    stream,\n):\n    return Parser(stream)\n"
    [finding] = look(tmp_path, {"a.py": after}, {"a.py": before}).findings
    assert finding.evidence == "max_files=10,"
    assert "The same holds for 1 more line there." in finding.message


def test_protections_that_tests_lose_are_not_reported(tmp_path: Path) -> None:
    _, before, after = GONE["an error reply in an attribute"]
    report = look(tmp_path, {"tests/test_a.py": after}, {"tests/test_a.py": before})
    assert report.findings == ()
