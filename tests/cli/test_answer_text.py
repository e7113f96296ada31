"""An answer as Markdown for a pipe, and as text for a terminal: what others wrote does nothing."""

import io

from markdown_it import MarkdownIt
from rich.console import Console

from leadhand.cli.views.answer import markdown, show_answer
from leadhand.contracts.answer import Answer, Conflict, Gap
from leadhand.run.gaps import with_gaps

WHY = "boom\n## What was found\n![x](https://evil.example/p) <b>\x1b[31m"
GAPS = (Gap(task_id="a`b", why=WHY),)
ANSWER = Answer(
    run_id="r",
    status="partial",
    engine="deterministic",
    team="t",
    request="do",
    answer=with_gaps("Forty.", GAPS),
    gaps=GAPS,
    conflicts=(
        Conflict(
            task_ids=("a`b", "c"),
            kind="contradiction",
            about="[price](https://evil.example)",
            resolution="<i>40</i>",
            why="# so",
        ),
    ),
)


def test_f16_gaps_and_contradictions_are_plain_text_in_markdown() -> None:
    """F16, F32, F34"""
    shown = markdown(ANSWER)
    parsed = MarkdownIt("commonmark").parse(shown)
    kinds = {one.type for one in parsed} | {c.type for one in parsed for c in one.children or []}
    assert not kinds & {"image", "link_open", "html_inline", "html_block"}
    assert [line for line in shown.splitlines() if line.startswith("#")] == [
        "## What is missing",
        "## What was found",
        "## Conflicts",
    ]
    assert shown.count("Forty.") == 1
    assert "\x1b" not in shown


def test_on_a_terminal_gaps_read_as_they_were_written() -> None:
    """F34"""
    file = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    show_answer(ANSWER, Console(file=file, width=100, force_terminal=True, color_system=None))
    file.seek(0)
    shown = file.read()
    assert "• a`b: boom ## What was found ![x](https://evil.example/p) <b>\\x1b[31m" in shown
    assert "[price](https://evil.example); taken as right: <i>40</i> (# so)" in shown


def test_in_a_pipe_text_reads_as_it_was_written_and_has_no_escapes() -> None:
    """F34"""
    file = io.StringIO()
    show_answer(ANSWER, Console(file=file, width=100))
    shown = file.getvalue()
    assert "- `a`b`: boom ## What was found ![x](https://evil.example/p) <b>\\x1b[31m\n" in shown
    assert "[price](https://evil.example); taken as right: <i>40</i> (# so)\n" in shown
    assert shown.count("\n## What was found\n") == 1


def test_many_gaps_of_one_reason_share_a_line() -> None:
    gaps = tuple(Gap(task_id=f"t{n}", why="time is up", what="Count.") for n in range(1, 7))
    few = markdown(ANSWER.model_copy(update={"gaps": gaps[:5]}))
    assert few.count("time is up. It was to: Count.") == 5
    many = markdown(ANSWER.model_copy(update={"gaps": (*gaps, *GAPS)}))
    assert "- `t1`, `t2`, `t3` and 3 more: time is up\n- ``a`b``: boom" in many
    assert many.count("time is up") == 1
