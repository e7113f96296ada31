"""The bugs lens: names whose definition the change removes although unchanged lines use them."""

from pathlib import Path

import pytest

from leadhand.contracts.answer import Finding
from leadhand_teams.review.reported import ChangeQuotes
from leadhand_teams.review.ruff_rules import diagnostics, names
from tests.leadhand_teams.review.changes import make_change


def seen(tmp_path: Path, before: str, after: str) -> list[Finding]:
    change = make_change(tmp_path, {"m.py": after}, {"m.py": before})
    on = diagnostics(change.files)
    found = [one for file in on for one in names.removed(file, on[file])]
    quotes = ChangeQuotes(change)
    assert all(quotes.quoted(one) is not None for one in found)
    assert {one.rule for one in found} <= {"bugs/definition-removed"}
    return found


@pytest.mark.parametrize(
    ("before", "after", "name", "quote"),
    [
        (
            "import re\nimport os\n\nprint(os.sep)\nprint(re.escape('.'))\n",
            "import os\n\nprint(os.sep)\nprint(re.escape('.'))\n",
            "re",
            "import re",
        ),
        (
            "def total(xs, rate):\n    return sum(xs) * rate\n",
            "def total(xs):\n    return sum(xs) * rate\n",
            "rate",
            "def total(xs, rate):",
        ),
        (
            "def f(xs):\n    acc = 0\n    for x in xs:\n        print(acc, x)\n",
            "def f(xs):\n    acc2 = 0\n    for x in xs:\n        print(acc, x)\n",
            "acc",
            "acc = 0",
        ),
    ],
)
def test_a_removed_definition_that_is_still_used_is_found_at_the_removed_line(
    tmp_path: Path, before: str, after: str, name: str, quote: str
) -> None:
    (one,) = seen(tmp_path, before, after)
    assert f"`{name}` is no longer defined here" in one.message
    assert one.evidence == quote
    assert one.severity == "critical"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import re\nprint(re.escape('.'))\n", "from x import re\nprint(re.escape('.'))\n"),
        ("print(gone)\nx = 1\n", "print(gone)\ny = 2\n"),
        ("from a import *\nrate = 1\nprint(rate)\n", "from a import *\nprint(rate)\n"),
        ("import re\nprint(re.escape('.'))\n", "print('.')\n"),
    ],
)
def test_what_is_defined_elsewhere_or_was_undefined_before_is_left_alone(
    tmp_path: Path, before: str, after: str
) -> None:
    assert seen(tmp_path, before, after) == []
