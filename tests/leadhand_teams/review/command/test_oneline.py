"""A review as one line a finding, and as reviewdog's diagnostics."""

import json

import pytest

from leadhand_teams.review import DocumentFormat
from leadhand_teams.review.command.rendering import rendered
from tests.leadhand_teams.review.command.reviews import finding, report
from tests.leadhand_teams.review.command.test_formats import hostile


def test_each_finding_is_a_line_that_editors_open_and_a_diagnostic_of_reviewdog() -> None:
    at = finding(id="a", line=8, evidence="yaml.load(request.data)", message="Two\nlines.")
    look = finding(id="b", line=3, severity="warning", rule="security/removed-check")
    code = {"a": "     7 | def load():\n+    8 |     é = yaml.load(request.data)"}
    made = report(at, look=(look,), code=code)
    assert rendered(made, "oneline").splitlines() == [
        "src/app.py:8:9: security/yaml-load Two lines.",
        f"src/app.py:3:1: security/removed-check needs a look: {look.message}",
    ]
    first, second = json.loads(rendered(made, "rdjson"))["diagnostics"]
    # Columns of reviewdog count bytes.
    start = {"line": 8, "column": 10}
    assert first["location"] == {"path": "src/app.py", "range": {"start": start}}
    assert (first["severity"], first["code"]["value"]) == ("ERROR", "security/yaml-load")
    assert (second["severity"], second["message"][:13]) == ("INFO", "needs a look:")


@pytest.mark.parametrize("format", ["oneline", "rdjson"])
def test_f34_nothing_in_a_line_is_a_control_character(format: DocumentFormat) -> None:
    text = rendered(hostile("a\x1b[31m\nb\u202e:"), format)
    assert all(line.isprintable() for line in text.splitlines())
