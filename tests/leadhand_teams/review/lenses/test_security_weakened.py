"""Protections that a change weakens instead of dropping them, and what only the base tells of."""

from pathlib import Path

import pytest

from leadhand_teams.review.lenses import security
from leadhand_teams.review.snapshot import write_snapshot
from tests.leadhand_teams.review.changes import run_lens
from tests.leadhand_teams.review.lenses.security_reports import look
from tests.repositories import Repo

WEAKENED: dict[str, tuple[str, str, str]] = {
    "a check in a decorator's argument": (
        "decorator",
        "@app.delete('/x', dependencies=[Depends(require_admin)])\ndef f(x):\n    drop(x)\n",
        "@app.delete('/x')\ndef f(x):\n    drop(x)\n",
    ),
    "the method of a request": (
        "request-check",
        "def f(request, x):\n    if request.method == 'POST' and x.ready:\n        drop(x)\n"
        "    return page(request)\n",
        "def f(request, x):\n    if x.ready:\n        drop(x)\n    return page(request)\n",
    ),
    "the submission of a form": (
        "request-check",
        "def f(form, x):\n    if form.validate_on_submit():\n        x.set(form.name)\n"
        "    return page(form)\n",
        "def f(form, x):\n    x.set(form.name)\n    return page(form)\n",
    ),
    "a form of HTML that escapes": (
        "safer-variant",
        "def f(x):\n    return format_html('<b>{}</b>', x.name)\n",
        "def f(x):\n    return '<b>%s</b>' % x.name\n",
    ),
    "a comparison in constant time": (
        "safer-variant",
        "def f(x, token):\n    return constant_time_compare(x.token, token)\n",
        "def f(x, sent):\n    return x.token == sent\n",
    ),
    "an overriding method that refuses a value": (
        "override",
        "class Link(HTTPConnection):\n    def putrequest(self, method, url):\n"
        "        if '\\n' in url:\n            raise ValueError(url)\n"
        "        super().putrequest(method, url)\n\n    def open(self):\n        go(self)\n",
        "class Link(HTTPConnection):\n    def open(self):\n        go(self)\n",
    ),
    "a check that only the code before knows": (
        "call",
        "def admit(x):\n    if x.id < 0:\n        raise Refused(x)\n\n"
        "def f(x):\n    admit(x)\n    save(x)\n",
        "def admit(x):\n    if x.id < 0:\n        raise Refused(x)\n\ndef f(x):\n    save(x)\n",
    ),
    "a refusal in some cases": (
        "clause",
        "def f(user, x):\n    if not user.staff:\n        raise Denied(user)\n    save(x)\n",
        "def f(user, x):\n    if not user.staff and x.secret:\n"
        "        raise Denied(user)\n    save(x)\n",
    ),
    "an owner's check that raises an ordinary error": (
        "guard",
        "import os\ndef f(path):\n    if os.stat(path).st_uid != 0:\n"
        "        raise RuntimeError('wrong owner')\n    load(path)\n",
        "import os\ndef f(path):\n    load(path)\n",
    ),
    "an answer of a checking function": (
        "guard",
        "def is_safe(url):\n    if '\\\\' in url:\n        return False\n    return go(url)\n",
        "def is_safe(url):\n    return go(url)\n",
    ),
    "a strict bound": (
        "limit",
        "def f(x):\n    if len(x) >= 10:\n        raise TooLong(x)\n    save(x)\n",
        "def f(x):\n    if len(x) > 10:\n        raise TooLong(x)\n    save(x)\n",
    ),
    "a lower bound in a condition to go on": (
        "limit",
        "def f(x):\n    if x.age >= 18 and x.name:\n        save(x)\n"
        "    else:\n        raise TooYoung(x)\n",
        "def f(x):\n    if x.age >= 12 and x.name:\n        save(x)\n"
        "    else:\n        raise TooYoung(x)\n",
    ),
    "a setting that limits": (
        "limit",
        "MAX_PARAMS = 100\ndef f(pairs):\n    return dict(pairs[:MAX_PARAMS])\n",
        "def f(pairs):\n    return dict(pairs)\n",
    ),
    "a call around a value in a condition": (
        "wrapper",
        "def f(url):\n    if search('^file:', trimmed(url)):\n        go(url)\n",
        "def f(url):\n    if search('^file:', url):\n        go(url)\n",
    ),
    "a validator of several": (
        "validator",
        "class Form:\n    name = Field('Name', validators=[Required(), Length(max=9)])\n",
        "class Form:\n    name = Field('Name', validators=[Required()])\n",
    ),
    "a strict type": (
        "validator",
        "class User(BaseModel):\n    email: EmailStr\n    age: int\n",
        "class User(BaseModel):\n    email: str\n    age: int\n",
    ),
    "a bound in a type": (
        "validator",
        "def page(size: Annotated[int, Query(le=100)] = 10):\n    return rows(size)\n",
        "def page(size: int = 10):\n    return rows(size)\n",
    ),
    "an entry of a list of checks": (
        "decorator",
        "MIDDLEWARE = [\n    'web.sessions.Sessions',\n    'web.csrf.CsrfMiddleware',\n]\n",
        "MIDDLEWARE = [\n    'web.sessions.Sessions',\n]\n",
    ),
    "a safe keyword": (
        "flag",
        "def f():\n    return Environment(autoescape=True)\n",
        "def f():\n    return Environment(autoescape=False)\n",
    ),
    "a safe default of a parameter": (
        "tls",
        "def get(url, verify=True):\n    return fetch(url, verify)\n",
        "def get(url, verify=False):\n    return fetch(url, verify)\n",
    ),
    "a TLS mode": (
        "tls",
        "import ssl\ndef f(ctx):\n    ctx.verify_mode = ssl.CERT_REQUIRED\n    go(ctx)\n",
        "import ssl\ndef f(ctx):\n    ctx.verify_mode = ssl.CERT_NONE\n    go(ctx)\n",
    ),
    "a lowest TLS version": (
        "tls",
        "import ssl\ndef f(ctx):\n    ctx.minimum_version = ssl.TLSVersion.TLSv1_2\n    go(ctx)\n",
        "import ssl\ndef f(ctx):\n    ctx.minimum_version = ssl.TLSVersion.TLSv1\n    go(ctx)\n",
    ),
    "a flag of a cookie": (
        "flag",
        "def f(cookie, sid):\n    cookie['sid'] = sid\n"
        "    cookie['sid']['httponly'] = True\n    return cookie\n",
        "def f(cookie, sid):\n    cookie['sid'] = sid\n    return cookie\n",
    ),
    "a safe loader": (
        "safer-variant",
        "import yaml\ndef f(t):\n    return yaml.load(t, Loader=yaml.SafeLoader)\n",
        "import yaml\ndef f(t):\n    return yaml.load(t, Loader=yaml.Loader)\n",
    ),
    "an overriding method": (
        "check",
        "class Page(View):\n    def dispatch(self, user):\n        if not user.staff:\n"
        "            raise PermissionDenied\n        return super().dispatch(user)\n"
        "\n    def get(self):\n        return 1\n",
        "class Page(View):\n    def get(self):\n        return 1\n",
    ),
    "a validating method": (
        "validator",
        "class User(Model):\n    name: str\n\n    @field_validator('name')\n"
        "    def short(cls, v):\n        return v[:9]\n",
        "class User(Model):\n    name: str\n",
    ),
    "the error of a check": (
        "refusing-handler",
        "def f(x):\n    verify(x)\n    save(x)\n",
        "def f(x):\n    try:\n        verify(x)\n    except Exception:\n        pass\n"
        "    save(x)\n",
    ),
    "a path's normal form": (
        "call",
        "import os\ndef f(root, name):\n    return open(os.path.normpath(name))\n",
        "import os\ndef f(root, name):\n    return open(name)\n",
    ),
}


@pytest.mark.parametrize("what", WEAKENED)
def test_a_weakened_protection_is_reported_with_its_line(tmp_path: Path, what: str) -> None:
    rule, before, after = WEAKENED[what]
    report = look(tmp_path, {"app.py": after}, {"app.py": before})
    found = {one.rule.removeprefix("security/removed-"): one for one in report.findings}
    assert rule in found, report
    assert found[rule].evidence in before
    assert "?" in found[rule].message


def test_an_allow_list_that_gains_a_wildcard_is_reported_with_that_line(tmp_path: Path) -> None:
    before = "ALLOWED_HOSTS = [\n    'a.example',\n]\n"
    after = before.replace("]", "    '*',\n]")
    [finding] = look(tmp_path, {"a.py": after}, {"a.py": before}).findings
    assert (finding.rule, finding.evidence) == ("security/removed-entry", "'*',")


def test_a_safe_default_that_is_switched_off_is_reported_with_the_new_line(tmp_path: Path) -> None:
    before = "import ssl\ndef f():\n    ctx = ssl.create_default_context()\n    return ctx\n"
    after = before.replace("    return", "    ctx.check_hostname = False\n    return")
    found = look(tmp_path, {"a.py": after}, {"a.py": before}).findings
    assert ("security/removed-tls", "ctx.check_hostname = False") in {
        (one.rule, one.evidence) for one in found
    }


def test_a_function_that_loses_a_check_while_it_moves_to_another_file(tmp_path: Path) -> None:
    rest = "    y = x + 1\n    return y\n"
    before = f"def f(x):\n    if x < 0:\n        raise Refused(x)\n{rest}"
    report = look(tmp_path, {"b.py": f"def f(x):\n{rest}"}, {"a.py": before, "b.py": ""})
    [finding] = report.findings
    assert (finding.path, finding.rule, finding.evidence) == (
        "a.py", "security/removed-guard", "if x < 0:",
    )  # fmt: skip


def test_a_check_is_known_by_its_definition_in_a_file_that_did_not_change(tmp_path: Path) -> None:
    """The repository's base tells that `admit` refuses; the change has only its caller."""
    repo = Repo(tmp_path / "repo")
    repo.write(
        "rules.py", "def admit(thing):\n    if thing.id < 0:\n        raise Refused(thing)\n"
    )
    repo.write("app.py", "from rules import admit\n\ndef f(x):\n    admit(x)\n    save(x)\n")
    repo.commit("add")
    repo.commit("change", {"app.py": "def f(x):\n    save(x)\n"})
    change = write_snapshot(tmp_path / "change", repo=repo.folder, revision="HEAD")
    [finding] = run_lens(security.review, change).findings
    assert (finding.rule, finding.evidence) == ("security/removed-call", "admit(x)")
