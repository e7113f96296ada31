"""The bugs lens: the hits of the linter that it reports, and those that it leaves out."""

import textwrap
from pathlib import Path

import pytest

from leadhand_teams.review.ruff_rules import diagnostics
from tests.leadhand_teams.review.changes import make_change
from tests.leadhand_teams.review.lenses.bugs_reports import findings, report, rules


def _text(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("fails-when-run", "x = 1\nprint('%s %s' % (x,))\n"),
        ("fails-when-run", "print('%(a)s %(b)s' % {'b': 1})\n"),
        ("fails-when-run", "print('{} {}'.format(1))\n"),
        ("has-no-effect", "print('{0}'.format(1, 2))\n"),
        ("logging-arguments", "import logging\nlogging.info('%s and %s', 1)\n"),
        ("logging-arguments", "import logging\nlogging.info('%s', 1, 2)\n"),
        ("logging-arguments", "import logging\nlogging.info('x', extra={'name': 'n'})\n"),
        ("constant-condition", "x = input()\nif x is 'yes':\n    print(x)\n"),
        ("unused-comparison", "def f(self):\n    self.x == 3\n    return self\n"),
        ("constant-condition", "x = input()\nif x == 'a' or 'b':\n    print(x)\n"),
        ("constant-condition", "x = input()\nif x or True:\n    print(x)\n"),
        ("has-no-effect", "x = input()\nassert (x, 'message')\n"),
        ("has-no-effect", "x = input()\ny = x if x else x\n"),
        ("has-no-effect", "def f(x):\n    if not x:\n        ValueError('no x')\n"),
        ("fails-when-run", "def f():\n    raise NotImplemented\n"),
        ("catches-nothing", "try:\n    print()\nexcept ValueError or KeyError:\n    print(1)\n"),
        ("misleading-strip", "def f(host):\n    return host.rstrip('.local.')\n"),
        ("fails-when-run", "open('x', 'rwb')\n"),
        ("has-no-effect", "import threading\nwith threading.Lock():\n    print()\n"),
        ("fails-when-run", "class A(dict):\n    def f(self):\n        super.f()\n"),
        ("fails-when-run", "dict(a=1, **{'a': 2})\n"),
        ("has-no-effect", "d = dict.fromkeys('ab', [])\n"),
        ("flags-as-count", "import re\nre.sub('a', 'b', 'c', re.IGNORECASE)\n"),
        ("fails-when-run", _text("""
            from dataclasses import dataclass
            @dataclass
            class A:
                x: list[int] = []
            """)),
        ("duplicate-key", "d = {'a': 1, 'b': 2, 'a': 3}\n"),
        ("fails-when-run", "class A:\n    def __init__(self):\n        yield 3\n"),
        ("has-no-effect", "d = {'a': x for x in range(3)}\n"),
        ("dangling-task", _text("""
            import asyncio
            async def f():
                asyncio.create_task(asyncio.sleep(1))
            """)),
        ("jump-in-finally", "def f(g):\n    try:\n        g()\n    finally:\n        return 1\n"),
        ("redefined", "def f():\n    return 1\n\ndef f():\n    return 2\n"),
    ],
)  # fmt: skip
def test_a_bug_that_the_linter_knows_is_found(tmp_path: Path, rule: str, text: str) -> None:
    assert [name for name, _ in rules(tmp_path, text)] == [rule]


@pytest.mark.parametrize(
    "text",
    [
        # switched off on purpose, a fallback
        "if 0 and input():\n    print()\n",
        "import os\nx = os.environ.get('X') or 'default'\n",
        # an affix of one kind of character, or too short to be a word
        "def f(x):\n    return x.strip('()').lstrip('0x')\n",
        # overloads and properties
        "class A:\n    @property\n    def x(self): return 1\n"
        "    @x.setter\n    def x(self, v): ...\n",
        "from typing import overload\n@overload\ndef f(x: int) -> int: ...\n"
        "@overload\ndef f(x: str) -> str: ...\ndef f(x): return x\n",
        # a logger of the project's own, which fills braces
        "from app import logging\nlog = logging.getLogger()\nlog.info('{} found', 3)\n",
        # the last value of a script or cell
        "x = 3\nx == 3\n",
    ],
)  # fmt: skip
def test_code_that_is_written_so_on_purpose_is_left_alone(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, text) == []


def test_only_lines_that_the_change_adds_count(tmp_path: Path) -> None:
    before = "print('{} {}'.format(1))\n"
    assert rules(tmp_path, before + "x = 1\n", before) == []
    after = before + "print('{} {} {}'.format(1))\n"
    assert rules(tmp_path / "next", after, before) == [("fails-when-run", 2)]


def test_a_finding_quotes_the_line_and_names_what_is_wrong(tmp_path: Path) -> None:
    (one,) = findings(tmp_path, "x = 1\nprint('{} {}'.format(x))  \n")
    assert (one.line, one.evidence) == (2, "print('{} {}'.format(x))")
    assert "missing argument(s) for placeholder(s): 1" in one.message
    assert one.suggestion
    assert one.confidence == 0


def test_a_message_of_ruff_ends_with_one_mark(tmp_path: Path) -> None:
    (one,) = findings(tmp_path, "x = {}\nx['a']: 3\n")
    assert "Did you mean to assign (using `=`)? The code does not" in one.message


def test_f26_a_suppression_is_reported_and_hides_nothing(tmp_path: Path) -> None:
    """F26: the message names suppressions in the reviewed code."""
    (one,) = findings(tmp_path, "# ruff: noqa\nprint(undefined)  # noqa: F821\n")
    assert one.rule == "bugs/undefined-name"
    assert "The line is marked `# noqa: F821`." in one.message


def test_a_test_that_never_runs_because_of_a_duplicate_is_found(tmp_path: Path) -> None:
    text = "def test_a():\n    assert 1\n\ndef test_a():\n    assert 2\n"
    (one,) = findings(tmp_path, text, path="tests/test_mod.py")
    assert (one.rule, one.line) == ("bugs/redefined", 4)
    assert "line 1" in one.message


def test_what_a_test_does_on_purpose_is_left_alone(tmp_path: Path) -> None:
    text = _text("""
        import pytest
        def test_error():
            with pytest.raises(TypeError):
                'a' == 3
            with pytest.raises(NameError):
                missing
            assert 1 is 1
        """)
    assert rules(tmp_path, text, path="tests/test_mod.py") == []


def test_a_comparison_in_place_of_an_assertion_is_found_in_a_test(tmp_path: Path) -> None:
    text = "def test_status(client):\n    client.get('/').status == 200\n"
    assert rules(tmp_path, text, path="tests/test_mod.py") == [("unused-comparison", 2)]


def test_a_deeply_nested_file_does_not_lose_the_others(tmp_path: Path) -> None:
    deep = "x = " + "-" * 50_000 + "1\n"
    seen = report(make_change(tmp_path, {"a.py": deep, "b.py": "print(undefined)\n"}))
    assert [(one.path, one.rule) for one in seen.findings] == [
        ("a.py", "bugs/syntax-error"),
        ("b.py", "bugs/undefined-name"),
    ]


def test_what_ruff_says_is_kept_for_other_processes_and_read_only_if_it_is_whole(tmp_path: Path):
    texts = {f"m{n}.py": f"raise NotImplemented\nprint({n} is {n})\n" for n in range(3)}
    change = make_change(tmp_path, texts)
    said = diagnostics(change.files)
    (kept,) = change.folder.glob("ruff-*.json")
    whole = kept.read_bytes()
    for text in (whole, whole[:-20], b""):
        kept.write_bytes(text)
        for file in change.files:  # of which the process remembers only the last two
            diagnostics([file])
        assert diagnostics(change.files) == said
        assert kept.read_bytes() == whole
