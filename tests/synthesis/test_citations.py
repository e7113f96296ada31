"""Citations: those of tasks with a result stay, the others go, and no other bracket is touched."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadhand.synthesis.citations import check_citations
from tests.costs import assert_linear

KNOWN = ("t1", "t2", "t3", "t4")
GIVEN = ("t1", "t2", "t3")


@pytest.mark.parametrize(
    ("text", "kept", "cited", "removed"),
    [
        ("It grew [t1].", "It grew [t1].", ("t1",), 0),
        ("It grew [t2, t1], and again [t2].", "It grew [t2, t1], and again [t2].", ("t2", "t1"), 0),
        ("It grew [t9].", "It grew.", (), 1),
        ("It grew [t9] a lot.", "It grew a lot.", (), 1),
        ("It grew [t4].", "It grew.", (), 1),
        ("It grew [t1, t9, t3].", "It grew [t1, t3].", ("t1", "t3"), 1),
        ("It grew [t1; t9].", "It grew [t1].", ("t1",), 1),
        ("It grew [t1][t9].", "It grew [t1].", ("t1",), 1),
        ("It grew [t9][t1].", "It grew [t1].", ("t1",), 1),
        ("It grew ([t9]).", "It grew.", (), 1),
        ("It grew ([t1], [t9]).", "It grew ([t1]).", ("t1",), 1),
        ("It grew [t1], [t8], [t9].", "It grew [t1].", ("t1",), 2),
        ("[t9] It grew.\n- [t9] a lot", "It grew.\n- a lot", (), 2),
        ("[t9]: it grew", "it grew", (), 1),
        ("It grew [T1] [task 7].", "It grew [T1].", ("t1",), 1),
        ("It grew[t1] or not[t4].", "It grew[t1] or not.", ("t1",), 1),
    ],
)
def test_a_citation_of_a_task_without_a_result_is_removed_and_counted(
    text: str, kept: str, cited: tuple[str, ...], removed: int
) -> None:
    found = check_citations(text, known=KNOWN, given=GIVEN)
    assert (found.text, found.cited, found.removed) == (kept, cited, removed)


@pytest.mark.parametrize(
    "text",
    [
        "`rows[t9]` and `[t9]`",
        "``a ` [t9]`` b",
        "```python\nx = [t9]\n```",
        "~~~\n[t9]\n",
        "- item\n    ```\n    [t9]\n    ```",
        "[t9](https://example.com/a)",
        "![t9](chart.png)",
        "[the text][t9]",
        "a note[^1]\n\n[^1]: [see there](x.md)",
        "[t9]: https://example.com/a",
        "https://example.com/?q=[t9]",
        "rows[0], rows[i], f(x)[t9]",
        "- [ ] open\n- [x] done",
        "he said so [sic], in [2024], [our emphasis] [...] [see t9]",
        "the set [a-z] and [] and [\n]",
    ],
)
def test_brackets_that_are_no_citation_stay_as_they_are(text: str) -> None:
    found = check_citations(text, known=KNOWN, given=GIVEN)
    assert (found.text, found.removed) == (text, 0)


def test_a_wrong_citation_is_known_by_the_look_of_the_plans_own_ids() -> None:
    known = ("prices", "market-size")
    text = "Up [prices], down [costs], flat [prices, costs] [market-share] [Note] [3]"
    found = check_citations(text, known=known, given=known)
    assert found.text == "Up [prices], down, flat [prices] [Note] [3]"
    usage = (
        "Call it as sort [options] then [file] with any [other] words, said teh [sic] author [sic]."
    )
    assert check_citations(usage, known=known, given=known).text == usage
    assert (found.cited, found.removed) == (("prices",), 3)


def test_ids_with_spaces_and_commas_can_be_cited() -> None:
    found = check_citations(
        "Yes [costs, all of them].", known=["costs, all of them", "b"], given=["b"]
    )
    assert (found.text, found.removed) == ("Yes.", 1)


@given(st.text(alphabet="t19[](), `~\n:^x.\0", max_size=60))
@settings(max_examples=50)
def test_checking_a_checked_text_changes_nothing(text: str) -> None:
    once = check_citations(text, known=KNOWN, given=GIVEN)
    assert set(once.cited) <= set(GIVEN)
    assert len(once.text) <= len(text)
    if not once.removed:
        assert once.text == text.replace("\0", "")


@pytest.mark.parametrize("unit", ["`", "[", "[t9]", "[t1", "```\n", " ", "](", "[a](", "``` `` ` "])
def test_hostile_text_takes_time_in_proportion_to_its_length(unit: str) -> None:
    def text_of(length: int) -> str:
        return unit * (length // len(unit))

    assert_linear(lambda text: check_citations(text, known=KNOWN, given=GIVEN), text_of)
