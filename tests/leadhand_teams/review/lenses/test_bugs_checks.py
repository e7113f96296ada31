"""The bugs lens: its own checks of coroutines, loops, handlers and functions not called."""

from pathlib import Path
from tempfile import mkdtemp

import pytest

from leadhand_teams.review.change import Change
from tests.costs import assert_linear
from tests.leadhand_teams.review.changes import make_change
from tests.leadhand_teams.review.lenses.bugs_reports import report, rules


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (4, "async def g(): ...\n\nasync def f():\n    g()\n"),
        (4, "class A:\n    async def g(self): ...\n    def f(self):\n        self.g()\n"),
        (3, "import asyncio\nasync def f():\n    asyncio.sleep(1)\n"),
    ],
)
def test_a_coroutine_that_is_not_awaited_is_found(tmp_path: Path, line: int, text: str) -> None:
    assert rules(tmp_path, text) == [("coroutine-not-awaited", line)]


@pytest.mark.parametrize(
    "text",
    [
        "async def g(): ...\nasync def f():\n    await g()\n    x = g()\n    await x\n",
        "def run(x): ...\n@run\nasync def g(): ...\ndef f():\n    g()\n",
        "async def g(): ...\ndef f(g):\n    g()\n",
        "async def g(): ...\ng = print\ndef f():\n    g()\n",
        "class A:\n    async def g(self): ...\nclass B:\n    def f(self):\n        self.g()\n",
        "async def f():\n    def g(): ...\n    g()\nasync def g(): ...\n",
        "from b import sleep\nasync def f():\n    sleep(1)\n",
    ],
)
def test_a_call_that_may_be_something_else_is_left_alone(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, text) == []


def test_a_list_that_shrinks_under_its_loop_is_found(tmp_path: Path) -> None:
    text = "def f(self):\n    for x in self.xs:\n        if x:\n            self.xs.remove(x)\n"
    assert rules(tmp_path, text) == [("changed-while-iterated", 4)]
    text = "d = {'a': 1}\ndef f():\n    for k in d:\n        del d[k]\n"
    assert rules(tmp_path / "dict", text) == [("changed-while-iterated", 4)]


@pytest.mark.parametrize(
    "text",
    [
        "def f(xs):\n    for x in list(xs):\n        xs.remove(x)\n",
        "def f(xs):\n    for x in xs:\n        if x:\n          xs.remove(x)\n          break\n",
        "def f(xs):\n    for i, x in enumerate(xs):\n        if x:\n            return xs.pop(i)\n",
        "def f(xs, ys):\n    for x in xs:\n        ys.remove(x)\n",
        "def f(xs):\n    for x in xs:\n        if x:\n            xs.remove(x)\n            try:\n"
        "                return int(x)\n            except ValueError:\n                raise\n",
        "def f(headers):\n    for k in headers.keys():\n        del headers[k]\n",
        "class A(dict):\n    def f(self):\n        for k in self.keys():\n"
        "            self.pop(k)\n",
        "def f(xs):\n    for x in xs:\n        xs = xs[:]\n        xs.remove(x)\n",
    ],
)
def test_a_loop_that_ends_or_iterates_over_a_copy_is_left_alone(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, text) == []


def test_a_method_that_is_named_and_not_called_is_found(tmp_path: Path) -> None:
    text = "class A:\n    def close(self): ...\n    def __exit__(self, *_):\n        self.close\n"
    assert rules(tmp_path, text) == [("function-not-called", 4)]


def test_a_property_that_is_read_for_its_effect_is_left_alone(tmp_path: Path) -> None:
    text = (
        "class A:\n    @property\n    def ready(self): ...\n    def f(self):\n        self.ready\n"
    )
    assert rules(tmp_path, text) == []
    text = "def f(): ...\ndef g():\n    return [\n        f\n    ]\n"
    assert rules(tmp_path / "list", text) == []


@pytest.mark.parametrize(
    ("begin", "again", "end"),
    [
        ("", "a", ""),
        ("for ", "in ", ""),
        ("", ".remove(", ""),
        ("", "a.", "remove"),
        ("", "from a import (", ""),
        ("", " ", "x"),
    ],
    ids=["word", "loop", "call", "chain", "import", "indent"],
)
def test_a_line_made_to_exhaust_the_patterns_is_read_in_linear_time(
    tmp_path: Path, begin: str, again: str, end: str
) -> None:
    def change_of(times: int) -> Change:
        folder = Path(mkdtemp(dir=tmp_path))
        line = begin + again * times + end
        return make_change(folder, {"a.py": f'async def f(): ...\nx = """\n{line}\n"""\n'})

    def read(change: Change) -> None:
        assert report(change).findings == ()

    assert_linear(read, change_of, 1_500)
