"""What the performance lens reports about calls that block the event loop."""

import textwrap
from pathlib import Path

import pytest

from leadhand.contracts.answer import LensReport
from leadhand_teams.review.change import Change
from leadhand_teams.review.lenses import performance
from leadhand_teams.review.reported import ChangeQuotes
from tests.leadhand_teams.review.changes import make_change, run_lens


def report(change: Change) -> LensReport:
    found = run_lens(performance.review, change)
    quotes = ChangeQuotes(change)
    assert all(quotes.quoted(one) is not None for one in found.findings)
    return found


def rules(
    folder: Path, text: str, before: str | None = None, *, path: str = "pkg/mod.py"
) -> list[tuple[str, int]]:
    old = {path: textwrap.dedent(before).lstrip("\n")} if before is not None else None
    change = make_change(folder, {path: textwrap.dedent(text).lstrip("\n")}, old)
    return [(one.rule, one.line) for one in report(change).findings]


@pytest.mark.parametrize(
    "text",
    [
        "import time\nasync def f():\n    time.sleep(1)\n",
        "from time import sleep as nap\nasync def f():\n    nap(1)\n",
        "import requests as r\nasync def f(url):\n    return r.get(url).text\n",
        "import subprocess\nasync def f():\n    subprocess.run(['ls'])\n",
        "import urllib.request\nasync def f(u):\n    return urllib.request.urlopen(u)\n",
        "import os\nasync def f(u):\n    os.system('ls')\n",
        "import asyncio\nasync def f():\n    return input('name? ')\n",
    ],
)
def test_a_blocking_call_in_a_coroutine_function_is_found(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, text) == [("performance/blocking-call-in-async", 3)]


@pytest.mark.parametrize(
    "text",
    [
        "import time\ndef f():\n    time.sleep(1)\nasync def g(): ...\n",
        "import time\nasync def f():\n    def g():\n        time.sleep(1)\n    return g\n",
        "import time, asyncio\nasync def f():\n    await asyncio.to_thread(time.sleep, 1)\n",
        "import time, asyncio\nasync def f(run):\n    await run(lambda: time.sleep(1))\n",
        "from asyncio import sleep\nasync def f():\n    await sleep(1)\n",
        "import time\nasync def f():\n    time.sleep(0)\n",
        "async def f(requests):\n    return requests.get('x')\n",
        "import requests\nrequests = requests\nasync def f():\n    return requests.get('x')\n",
        "from .client import requests\nasync def f():\n    return requests.get('x')\n",
        "async def f(d):\n    return d.get('x')\n",
        "def input(): ...\nasync def f():\n    return input()\n",
    ],
)
def test_what_runs_elsewhere_or_does_not_block_is_left_alone(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, text) == []


def test_tests_and_lines_that_the_change_does_not_add_are_left_alone(tmp_path: Path) -> None:
    text = "import time\nasync def f():\n    time.sleep(1)\n"
    assert rules(tmp_path / "test", text, path="tests/test_mod.py") == []
    assert rules(tmp_path / "old", text + "x = 1\n", text) == []


def test_the_message_names_the_call_and_its_function(tmp_path: Path) -> None:
    change = make_change(tmp_path, {"a.py": "import time\nasync def f():\n    time.sleep(1)\n"})
    (one,) = report(change).findings
    assert "`time.sleep` blocks inside the coroutine function `f`." in one.message


def test_a_file_that_does_not_parse_costs_only_itself(tmp_path: Path) -> None:
    texts = {
        "a.py": "import time\nasync def f(:\n    time.sleep(1)\n",
        "b.py": "import time\nasync def f():\n    time.sleep(1)\n",
    }
    seen = report(make_change(tmp_path, texts))
    assert [one.path for one in seen.findings] == ["b.py"]
