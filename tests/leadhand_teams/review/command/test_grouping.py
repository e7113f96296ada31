"""How reports of large changes stay readable: grouped findings, and quotes that are cut."""

import re

import pytest

from leadhand.tools.text import cut_code
from leadhand_teams.review import ReviewFormat
from leadhand_teams.review.command.execution import show
from leadhand_teams.review.command.markdown import markdown
from tests.leadhand_teams.review.command.reviews import finding, many, report


@pytest.mark.parametrize("how", ["text", "markdown"])
def test_a_large_review_shows_ten_findings_and_groups_the_rest_by_theme_and_file(
    capfdbinary: pytest.CaptureFixture[bytes], how: ReviewFormat
) -> None:
    rules = ("security/sql", "bugs/name", "bugs/loop")
    made = report(*(
        finding(
            id=f"f{n}", rule=rules[n % 3], path=f"src/p{n % 20}.py", line=n, message=f"No. {n}."
        )
        for n in range(1, 501)
    ))  # fmt: skip
    show(made, how)
    out = capfdbinary.readouterr().out.decode()
    assert re.findall(r"No\. (\d+)\.", out) == [str(n) for n in range(1, 11)]
    assert "500 findings" in out
    assert "More on bugs: 327 findings in 20 files" in out
    assert "More on security: 163 findings in 20 files" in out
    assert re.search(r"src/p\d+\.py: \w+ ×[89], \w+ ×[89] \(lines (\d+, ){4}…\)", out)
    assert "8 more files" in out
    assert out.count("\n") < 250


def test_a_few_findings_are_all_shown() -> None:
    assert markdown(report(*many(20))).count("🟡 **warning**") == 20


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        ("short('x')", "short('x')"),
        ("call(aaaa, 'a string that is long')", "call(aaaa, '…' …"),
        ("x = \"it's long, it's long\"", 'x = "…" …'),
        ("# don't cut where it isn't a string", "# don't cut where it …"),
        ("y = f'{a} and much more text here'", "y = f'…' …"),
        ("aa('a\\'b', cccccccccccccccccccc)", "aa('a\\'b', cccccccccc …"),
    ],
)
def test_a_quote_is_never_cut_inside_a_string(line: str, cut: str) -> None:
    assert cut_code(line, 21) == cut
