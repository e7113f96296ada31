"""What is missing stands in an answer's text as text, whatever a worker said of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from leadhand.contracts.answer import FOUND_HEADING, MISSING_HEADING, Gap
from leadhand.contracts.task import Task
from leadhand.contracts.team import Team, Worker
from leadhand.run.gaps import gaps_of, with_gaps, without_gaps
from leadhand.state.fold import RunState, TaskState
from tests.plans.samples import nothing

HOSTILE = (
    "boom\n\n## What is missing\n\n- `t9`: nothing at all",
    "boom\n## What was found\n\nAll is well.",
    "see ![x](https://evil.example/pixel.png) and [the fix](javascript:alert(1))",
    "<img src=https://evil.example/p onerror=alert(1)> <script>alert(1)</script>",
    "[t1]: https://evil.example\n[t1]",
    "a\u2028# b\u2029- c\x85> d\x0b***\x0c---",
    "```\nfence\n```",
    "`open and https://evil.example/x www.evil.example @octocat",
    "&#x23; &lt;b&gt; &amp;",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "# heading",
    "1. one\n2. two",
    "",
)
ACTING = {
    *("heading_open", "image", "link_open", "html_block", "html_inline", "table_open"),
    *("fence", "code_block", "hr", "blockquote_open", "ordered_list_open"),
}


def tokens(markdown: str) -> list[Token]:
    """Everything that a renderer makes of it."""
    parsed = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    return parsed + [child for one in parsed for child in one.children or []]


def gaps(*whys: str) -> tuple[Gap, ...]:
    return tuple(Gap(task_id=f"t{n}", why=why) for n, why in enumerate(whys, 1))


@pytest.mark.parametrize("why", HOSTILE)
def test_a_workers_words_on_a_gap_are_one_line_that_does_nothing(why: str) -> None:
    """F16, F32"""
    part = with_gaps("", gaps(why, "the file is gone"))
    assert part.count("\n") == 3
    made = [one.type for one in tokens(part)]
    assert [kind for kind in made if kind in ACTING] == ["heading_open"]
    assert (made.count("list_item_open"), made.count("bullet_list_open")) == (2, 1)


def test_a_forged_heading_is_no_heading_of_the_answer() -> None:
    """F16: not even beside the text that was really found."""
    whole = with_gaps("Forty [t2].", gaps(HOSTILE[0], HOSTILE[1]))
    assert [line for line in whole.split("\n") if line.startswith("#")] == [
        MISSING_HEADING,
        FOUND_HEADING,
    ]
    headings = [
        after.content
        for one, after in zip(tokens(whole), tokens(whole)[1:], strict=False)
        if one.type == "heading_open"
    ]
    assert headings == ["What is missing", "What was found"]


@pytest.mark.parametrize("id", ["a`b", "``", "a\n## b", "a](https://evil.example)[", "<b>"])
def test_the_name_of_a_task_is_code_whatever_it_holds(id: str) -> None:
    """F16, F32"""
    part = with_gaps("", (Gap(task_id=id, why="burnt"),))
    assert part.startswith(f"{MISSING_HEADING}\n\n- `")
    made = tokens(part)
    (name,) = [one.content for one in made if one.type == "code_inline"]
    assert name == " ".join(id.split())
    assert [one.type for one in made if one.type in ACTING] == ["heading_open"]


def test_an_ordinary_message_reads_as_it_was_written() -> None:
    said = "tool_error: search_docs: no such file 'a_b.txt' (attempt 3, 40 % done)"
    assert with_gaps("", gaps(said)) == f"{MISSING_HEADING}\n\n- `t1`: {said}"


def test_a_gap_says_what_its_task_was_to_do_as_plain_text() -> None:
    """F16, F32"""
    lost = Gap(task_id="t2", why="ConnectionError: it is away", what="Look up the price.")
    said = "- `t2`: ConnectionError: it is away. It was to: Look up the price."
    assert with_gaps("", (lost,)) == f"{MISSING_HEADING}\n\n{said}"
    asking = Gap(task_id="t2", why="which price?", what="Look <b>it</b> up\n\n# now")
    made = tokens(with_gaps("", (asking,)))
    assert [one.type for one in made if one.type in ACTING] == ["heading_open"]
    assert "which price? It was to: Look <b>it</b> up # now" in "".join(
        one.content for one in made if one.type == "text"
    )


def test_a_long_intent_is_cut_to_a_line() -> None:
    state = RunState()
    state.tasks["a"] = TaskState(Task(id="a", worker="w", intent="look\n up " * 50), "w")
    (gap,) = gaps_of(state, Team("t", workers=(Worker("w", "d", run=nothing),)))
    assert (len(gap.what), gap.what[:12], gap.what[-1]) == (160, "look up look", "…")


def test_an_answer_of_another_version_gives_its_text_back() -> None:
    kept = f"Forty.\n\n{FOUND_HEADING}\n\nMore."
    whole = f"{MISSING_HEADING}\n\n- `t1`: said otherwise\n\n{FOUND_HEADING}\n\n{kept}"
    assert without_gaps(whole, gaps("burnt")) == kept


TEXTS = st.text(alphabet="ab`*_[]()<>!#+-=.|~&:@\\/ \n\r\x0b\u20281", max_size=40)


@given(TEXTS.filter(str.strip), st.lists(st.tuples(TEXTS.filter(bool), TEXTS, TEXTS), max_size=3))
def test_without_gaps_is_the_inverse_of_with_gaps(
    text: str, given: list[tuple[str, str, str]]
) -> None:
    lacking = tuple(Gap(task_id=id, why=why, what=what) for id, why, what in given)
    assert without_gaps(with_gaps(text, lacking), lacking) == text


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_whatever_is_said_there_is_one_list_of_gaps_and_nothing_else(whys: list[str]) -> None:
    """F16, F32"""
    made = [one.type for one in tokens(with_gaps("", gaps(*whys)))]
    assert [kind for kind in made if kind in ACTING] == ["heading_open"]
    assert made.count("list_item_open") == len(whys)
