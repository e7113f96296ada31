"""The security lens: untrusted data that reaches dangerous places, and what it leaves alone."""

from pathlib import Path

import pytest

from tests.leadhand_teams.review.lenses.security_reports import look, rules

_FLASK = "from flask import *\nfrom flask import Flask, request, redirect\napp = Flask(__name__)\n"


BAD: dict[str, tuple[str, str]] = {
    "a command with a parameter pasted in": (
        "shell-unquoted",
        "import os\ndef f(name):\n    os.system('ls ' + name)\n",
    ),
    "a command by an alias, built by an f-string over two lines": (
        "shell-unquoted",
        "import subprocess as sp\ndef f(name):\n    c = f'ls {name}'\n    sp.run(c, shell=True)\n",
    ),
    "a whole command that a caller passes": (
        "shell-unquoted",
        "import subprocess\ndef f(command):\n    subprocess.run(command, shell=True)\n",
    ),
    "a parameter as code": ("code-from-parameter", "def f(rule, row):\n    return eval(rule)\n"),
    "a parameter that is unpickled": (
        "code-from-parameter",
        "import pickle\ndef f(blob):\n    return pickle.loads(blob)\n",
    ),
    "typed input as code": ("code-injection", "def f():\n    return eval(input())\n"),
    "a quoted value in SQL": (
        "sql-injection",
        "def f(db, name):\n    db.execute(\"SELECT * FROM t WHERE n = '%s'\" % name)\n",
    ),
    "SQL grown by an augmented assignment": (
        "sql-injection",
        "def f(db, n):\n    q = 'SELECT a FROM t WHERE n = '\n    q += n\n    db.execute(q)\n",
    ),
    "SQL by str.format with a name": (
        "sql-injection",
        "def f(db, n):\n    db.execute('DELETE FROM t WHERE n = {who}'.format(who=n))\n",
    ),
    "SQL in a loop over request data": (
        "sql-injection",
        "from flask import request\ndef f(db):\n    for n in request.args.getlist('n'):\n"
        "        db.execute(f\"SELECT a FROM t WHERE n = '{n}'\")\n",
    ),
    "a template from the request": (
        "template-injection",
        "from flask import request, render_template_string as r\ndef f():\n"
        "    return r('Hi ' + request.args['n'])\n",
    ),
    "a file named by the request": (
        "path-traversal",
        "import os\nfrom flask import request\ndef f():\n"
        "    return open(os.path.join('/data', request.args['f'])).read()\n",
    ),
    "an upload kept under its own name": (
        "path-traversal",
        "from flask import request\ndef f():\n    up = request.files['f']\n"
        "    up.save('/data/' + up.filename)\n",
    ),
    "a pickle from a cookie": (
        "unpickle-untrusted",
        "import pickle\nfrom flask import request\ndef f():\n"
        "    return pickle.loads(request.cookies['c'].encode())\n",
    ),
    "YAML with the unsafe loader": (
        "yaml-load",
        "import yaml\ndef f(text):\n    return yaml.load(text, Loader=yaml.Loader)\n",
    ),
    "XML of the request with entities": (
        "xml-untrusted",
        "from lxml import etree\nfrom flask import request\ndef f():\n"
        "    return etree.fromstring(request.data)\n",
    ),
    "a page made of request input": (
        "cross-site-scripting",
        f"{_FLASK}@app.route('/hi')\ndef f():\n    return '<b>' + request.args['n']\n",
    ),
    "a URL variable in a page": (
        "cross-site-scripting",
        f"{_FLASK}@app.route('/hi/<name>')\ndef f(name):\n    return f'<b>{{name}}</b>'\n",
    ),
    "a redirect to where the request says": (
        "open-redirect",
        f"{_FLASK}@app.route('/go')\ndef f():\n    return redirect(request.args['to'])\n",
    ),
    "a fetch of what the request says": (
        "request-forgery",
        "import requests\nfrom flask import request\ndef f():\n"
        "    return requests.get(request.args['u']).text\n",
    ),
    "a tar archive extracted without a filter": (
        "archive-extraction",
        "import tarfile\ndef f(p):\n    with tarfile.open(p) as t:\n        t.extractall('/x')\n",
    ),
    "an LDAP filter with a value pasted in": (
        "ldap-injection",
        "import ldap\ndef f(c, n):\n    c.search_s('dc=x', ldap.SCOPE_BASE, f'(uid={n})')\n",
    ),
}  # fmt: skip

GOOD: dict[str, str] = {
    "a list of arguments": "import subprocess\ndef f(n):\n    subprocess.run(['ls', n])\n",
    "a quoted part of a command": (
        "import os, shlex\ndef f(n):\n    os.system('ls ' + shlex.quote(n))\n"
    ),
    "a constant command": "import os\nDIR = '/x'\ndef f():\n    os.system('ls ' + DIR)\n",
    "a number in a command": "import os\ndef f(n: int):\n    os.system(f'kill {n}')\n",
    "a converted value in SQL": (
        "def f(db, n):\n    db.execute('SELECT a FROM t WHERE n = %d' % int(n))\n"
    ),
    "SQL with parameters": (
        "def f(db, n):\n    db.execute('SELECT a FROM t WHERE n = %s', (n,))\n"
    ),
    "placeholders joined": (
        "def f(db, ns):\n    marks = ','.join('?' for _ in ns)\n"
        "    db.execute(f'SELECT a FROM t WHERE n IN ({marks})', ns)\n"
    ),
    "a table's name, which can't be a parameter": (
        "def f(db, table):\n    db.execute(f'SELECT a FROM {table}')\n"
    ),
    "a library that opens a path of its caller": "def f(path):\n    return open(path).read()\n",
    "a path checked to be inside": (
        "from pathlib import Path\nfrom flask import request\nROOT = Path('/data')\ndef f():\n"
        "    p = (ROOT / request.args['f']).resolve()\n    if not p.is_relative_to(ROOT):\n"
        "        raise ValueError\n    return p.read_text()\n"
    ),
    "a value from an allow-list": (
        "import os\nfrom flask import request\ndef f():\n    n = request.args['n']\n"
        "    if n not in ('a', 'b'):\n        return None\n    os.system('run ' + n)\n"
    ),
    "a name made secure": (
        "from flask import request\nfrom werkzeug.utils import secure_filename\ndef f():\n"
        "    up = request.files['f']\n    up.save('/data/' + secure_filename(up.filename))\n"
    ),
    "an escaped value in a page": (
        f"{_FLASK}from markupsafe import escape\n@app.route('/hi')\ndef f():\n"
        "    return '<b>' + escape(request.args['n'])\n"
    ),
    "a redirect within the site": (
        f"{_FLASK}@app.route('/go')\ndef f():\n    return redirect('/u/' + request.args['n'])\n"
    ),
    "a redirect back to where the visitor was": (
        f"{_FLASK}@app.route('/go')\ndef f():\n"
        "    return redirect(request.headers.get('Referer') or '/')\n"
    ),
    "columns that are keys of the program's own": (
        "def f(db, n):\n    row = {'a': n}\n    names = ','.join(row.keys())\n"
        "    db.execute(f\"SELECT {names} FROM t WHERE b = 'c'\")\n"
    ),
    "a pickle made and read here": (
        "import pickle\ndef f(x):\n    data = pickle.dumps(x)\n    return pickle.loads(data)\n"
    ),
    "YAML with the safe loader": (
        "import yaml\ndef f(t):\n    return yaml.load(t, Loader=yaml.SafeLoader)\n"
    ),
    "YAML with the safe loader under another name": (
        "import yaml\n_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)\n"
        "def f(t):\n    return yaml.load(t, Loader=_LOADER)\n"
    ),
    "a tar archive with a filter": (
        "import tarfile\ndef f(p):\n    tarfile.open(p).extractall('/x', filter='data')\n"
    ),
    "a method of the same name on something else": (
        "def f(model, text):\n    model.eval(text)\n    text.compile('x')\n"
    ),
    "a value that only one branch cleans, then replaced": (
        "import os\ndef f(n):\n    if n:\n        n = 'a'\n    else:\n        n = 'b'\n"
        "    os.system('run ' + n)\n"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_untrusted_data_in_a_dangerous_place_is_found(tmp_path: Path, case: str) -> None:
    rule, code = BAD[case]
    assert rule in rules(tmp_path, code)


@pytest.mark.parametrize("case", GOOD)
def test_constant_checked_and_escaped_data_is_left_alone(tmp_path: Path, case: str) -> None:
    assert rules(tmp_path, GOOD[case]) == set()


def test_only_what_the_change_touches_is_reported(tmp_path: Path) -> None:
    """An old weakness next to a changed line is not this change's."""
    old = "import os\ndef f(n):\n    os.system('ls ' + n)\n\ndef g():\n    return 1\n"
    assert look(tmp_path, {"a.py": old.replace("1", "2")}, {"a.py": old}).findings == ()


def test_a_hole_that_was_there_before_is_not_reported_again(tmp_path: Path) -> None:
    old = "import os\ndef f(name):\n    os.system('ls ' + name)\n"
    new = old.replace("+ name)", "+ name)  # noqa: S605")
    assert look(tmp_path, {"a.py": new}, {"a.py": old}).findings == ()


def test_a_changed_line_that_feeds_an_old_sink_is_reported_where_it_stands(tmp_path: Path) -> None:
    old = "import os, shlex\ndef f(n):\n    c = 'ls ' + shlex.quote(n)\n    os.system(c)\n"
    new = old.replace("shlex.quote(n)", "n")
    report = look(tmp_path, {"a.py": new}, {"a.py": old})
    unquoted, removed = report.findings
    assert (unquoted.rule, unquoted.line) == ("security/shell-unquoted", 3)
    assert unquoted.evidence == "c = 'ls ' + n"
    assert (removed.rule, removed.line) == ("security/removed-call", 3)


def test_every_finding_quotes_a_line_that_the_change_adds(tmp_path: Path) -> None:
    code = "\n".join(code for _, code in BAD.values())
    report = look(tmp_path, {"app.py": code})
    lines = code.split("\n")
    assert report.findings
    assert all(one.evidence in lines[one.line - 1] for one in report.findings)
    assert {one.category for one in report.findings} == {"security"}
    assert all(one.confidence == 0 for one in report.findings)


def test_code_nested_too_deeply_loses_only_its_own_file(tmp_path: Path) -> None:
    """Hostile input must not end the lens (F27: nothing of it is run either)."""
    deep = "import os\ndef f(n):\n    os.system(" + "n." * 3000 + "x)\n"
    bad = BAD["a command with a parameter pasted in"][1]
    report = look(tmp_path, {"deep.py": deep, "plain.py": bad})
    assert [one.path for one in report.findings] == ["plain.py"]
    assert [one.path for one in report.not_assessed] == ["deep.py"]


def test_a_file_that_does_not_parse_is_named(tmp_path: Path) -> None:
    report = look(tmp_path, {"a.py": "import os\nos.system(\n"})
    assert [(one.path, "parse" in one.why) for one in report.not_assessed] == [("a.py", True)]


def test_code_of_tests_is_only_checked_for_secrets(tmp_path: Path) -> None:
    bad = BAD["a command with a parameter pasted in"][1]
    assert look(tmp_path, {"tests/test_a.py": bad}).findings == ()
