"""Small changes of behaviour: what is asked about, and what has its reasons."""

from pathlib import Path

import pytest

from leadhand_teams.review.lenses import bugs
from leadhand_teams.review.rules import rules
from tests.leadhand_teams.review.changes import make_change, quoted_report

CHANGED: dict[str, tuple[str, str, str]] = {
    "an await": (
        "await-dropped",
        "async def f(x):\n    await x.save()\n    return x\n",
        "async def f(x):\n    x.save()\n    return x\n",
    ),
    "an await inside of a call": (
        "await-dropped",
        "async def f(x):\n    return dict(await x.rows())\n",
        "async def f(x):\n    return dict(x.rows())\n",
    ),
    "a lock replaced by nothing": (
        "lock-dropped",
        "def f(self, x):\n    with self._lock:\n        self.total += x\n",
        "def f(self, x):\n    if True:\n        self.total += x\n",
    ),
    "one of two blocks": (
        "lock-dropped",
        "def f(db, x):\n    with db.transaction(), timing(x):\n        x.move()\n",
        "def f(db, x):\n    with timing(x):\n        x.move()\n",
    ),
    "a lock that is acquired": (
        "lock-dropped",
        "def f(x):\n    guard.acquire()\n    try:\n        x.move()\n    finally:\n"
        "        guard.release()\n",
        "def f(x):\n    x.move()\n",
    ),
    "a block of another kind": (
        "context-dropped",
        "def f(x):\n    with localcontext(prec=50):\n        x.sum()\n        x.save()\n",
        "def f(x):\n    x.sum()\n    x.save()\n",
    ),
    "an open file": (
        "not-closed",
        "def f(path):\n    with open(path) as file:\n        head = file.readline()\n"
        "        return head.strip()\n",
        "def f(path):\n    file = open(path)\n    head = file.readline()\n"
        "    return head.strip()\n",
    ),
    "a connection that was closed at the end": (
        "not-closed",
        "def f(pool):\n    one = pool.connect()\n    try:\n        return one.rows()\n"
        "    finally:\n        one.close()\n",
        "def f(pool):\n    one = pool.connect()\n    return one.rows()\n",
    ),
    "an exception that is caught": (
        "exception-exchanged",
        "def f(x):\n    try:\n        return int(x)\n    except ValueError:\n        return 0\n",
        "def f(x):\n    try:\n        return int(x)\n    except TypeError:\n        return 0\n",
    ),
    "an exception that is caught of one class for another's": (
        "exception-exchanged",
        "def f(slug):\n    try:\n        return Queue.objects.get(slug=slug)\n"
        "    except Queue.DoesNotExist:\n        return None\n",
        "def f(slug):\n    try:\n        return Queue.objects.get(slug=slug)\n"
        "    except Ticket.DoesNotExist:\n        return None\n",
    ),
    "an exception that is raised": (
        "exception-exchanged",
        "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x\n",
        "def f(x):\n    if x < 0:\n        raise KeyError(x)\n    return x\n",
    ),
    "the end of a slice": (
        "moved-by-one",
        "def page(rows, n, size):\n    return rows[n * size : (n + 1) * size]\n",
        "def page(rows, n, size):\n    return rows[n * size : (n + 1) * size - 1]\n",
    ),
    "the end of a range": (
        "moved-by-one",
        "def f(x):\n    for n in range(1, x + 1):\n        print(n)\n",
        "def f(x):\n    for n in range(1, x):\n        print(n)\n",
    ),
    "a bound with or without its end": (
        "moved-by-one",
        "def f(x, y):\n    while x < y:\n        x += step(x)\n",
        "def f(x, y):\n    while x <= y:\n        x += step(x)\n",
    ),
    "a comparison the other way": (
        "condition-turned",
        "def f(x, y):\n    if x.age > y.age:\n        return x\n    return y\n",
        "def f(x, y):\n    if x.age < y.age:\n        return x\n    return y\n",
    ),
    "all instead of one": (
        "condition-turned",
        "def f(x):\n    if x.late or x.lost:\n        x.warn()\n",
        "def f(x):\n    if x.late and x.lost:\n        x.warn()\n",
    ),
    "a negation": (
        "condition-turned",
        "def f(x):\n    if not x.done:\n        x.run()\n",
        "def f(x):\n    if x.done:\n        x.run()\n",
    ),
    "a case of its own": (
        "case-dropped",
        "def f(x):\n    if x.name == '':\n        x.name = 'unnamed'\n    return x.name.upper()\n",
        "def f(x):\n    return x.name.upper()\n",
    ),
    "a handler": (
        "handler-dropped",
        "def f(x):\n    try:\n        return x.rate()\n    except ZeroDivisionError:\n"
        "        return 0\n",
        "def f(x):\n    return x.rate()\n",
    ),
    "an argument": (
        "argument-dropped",
        "def f(x):\n    x.find(\n        x.name,\n        exact=True,\n    )\n",
        "def f(x):\n    x.find(\n        x.name,\n    )\n",
    ),
    "a statement": (
        "statement-dropped",
        "def f(x):\n    x.buffer = None\n    return x.read(x.buffer)\n",
        "def f(x):\n    return x.read(x.buffer)\n",
    ),
    "a constant condition": (
        "condition-constant",
        "def f(x):\n    if x.ready:\n        x.run()\n",
        "def f(x):\n    if True:\n        x.run()\n",
    ),
}

QUIET: dict[str, tuple[str, str]] = {
    "a function that is no coroutine any more": (
        "async def f(x):\n    await x.save()\n",
        "def f(x):\n    x.save()\n",
    ),
    "a coroutine that is awaited later": (
        "async def f(x, y):\n    a = await x.load()\n    b = await y.load()\n    return a, b\n",
        "async def f(x, y):\n    a = x.load()\n    b = y.load()\n    return await gather(a, b)\n",
    ),
    "another lock": (
        "def f(self, x):\n    with self._lock:\n        self.total += x\n",
        "def f(self, x):\n    with self._guard:\n        self.total += x\n",
    ),
    "a block that is entered elsewhere": (
        "def f(x):\n    with x.lock:\n        x.move()\n\ndef g(x):\n    f(x)\n",
        "def f(x):\n    x.move()\n\ndef g(x):\n    with x.lock:\n        f(x)\n",
    ),
    "a file that is closed by hand": (
        "def f(path):\n    with open(path) as file:\n        return file.read()\n",
        "def f(path):\n    file = open(path)\n    try:\n        return file.read()\n"
        "    finally:\n        file.close()\n",
    ),
    "an exception of the same kind": (
        "def f(x):\n    try:\n        return x[0]\n    except IndexError:\n        return 0\n",
        "def f(x):\n    try:\n        return x[0]\n    except LookupError:\n        return 0\n",
    ),
    "an exception of one's own": (
        "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x\n",
        "class Negative(Exception):\n    pass\n\n"
        "def f(x):\n    if x < 0:\n        raise Negative(x)\n    return x\n",
    ),
    "branches that changed places": (
        "def f(x):\n    if x.new:\n        x.add()\n    else:\n        x.move()\n",
        "def f(x):\n    if not x.new:\n        x.move()\n    else:\n        x.add()\n",
    ),
    "positions that all move on": (
        "def f(a):\n    return g(a[0], a[1], a[2])\n",
        "def f(a):\n    return g(a[1], a[2], a[3])\n",
    ),
    "a number that is no position": (
        "def f(x):\n    return fetch(x, retries=1)\n",
        "def f(x):\n    return fetch(x, retries=2)\n",
    ),
    "a statement that is there twice": (
        "def f(x):\n    x.size = 0\n    x.name = ''\n    x.size = 0\n",
        "def f(x):\n    x.name = ''\n    x.size = 0\n",
    ),
    "a case that something else takes over": (
        "def f(x):\n    if not x.name:\n        return ''\n    return x.name.upper()\n",
        "def f(x):\n    name = x.name or ''\n    return name.upper()\n\n"
        "def g(x):\n    return f(x)\n",
    ),
    "a function with another body": (
        "def f(x):\n    if x.a == 1:\n        x.b()\n    return x.c[0]\n",
        "def f(x):\n    y = first(x)\n    z = second(y)\n    if x.a != 1:\n        log(y)\n"
        "        store(z)\n    y.done()\n    z.done()\n    return z.c[1]\n",
    ),
}


ASKED = {rule.id for rule in rules() if rule.family == "bugs/behaviour"}


def _questions(folder: Path, before: str, after: str, path: str = "app.py") -> dict[str, str]:
    """Rule -> message of what is asked about a change of one file."""
    change = make_change(folder, {path: after}, {path: before})
    found = quoted_report(bugs.review, change).findings
    return {one.rule.removeprefix("bugs/"): one.message for one in found if one.rule in ASKED}


@pytest.mark.parametrize("name", CHANGED)
def test_changed_behaviour_is_asked_about(tmp_path: Path, name: str) -> None:
    rule, before, after = CHANGED[name]
    questions = _questions(tmp_path, before, after)
    assert questions.keys() == {rule}
    assert "?" in questions[rule]


@pytest.mark.parametrize("name", QUIET)
def test_what_has_its_reason_is_not_asked_about(tmp_path: Path, name: str) -> None:
    assert not _questions(tmp_path, *QUIET[name])


def test_tests_may_change_what_they_expect(tmp_path: Path) -> None:
    before, after = "def test_f():\n    assert f() < 3\n", "def test_f():\n    assert f() <= 3\n"
    assert not _questions(tmp_path, before, after, "tests/test_f.py")
