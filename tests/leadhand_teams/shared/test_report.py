"""The report as Markdown and as a page, and what hostile content can do there: nothing."""

import re

from markdown_it import MarkdownIt

from leadhand_teams.shared.figures import bars
from leadhand_teams.shared.report import (
    CodeBlock,
    Items,
    Markdown,
    QuoteBlock,
    Report,
    Section,
    TableBlock,
)

HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) \x1b[31m"


def report(text: str) -> Report:
    return Report(
        title=text,
        lead=[text],
        about=text,
        sections=[
            Section(
                text,
                [
                    text,
                    Markdown(text),
                    TableBlock([text, "n"], [[text, "1"]], caption=text),
                    QuoteBlock(text, text),
                    Items([text]),
                    CodeBlock(text),
                    bars(text, [(text, 1.0)], alternative=text, unit=text),
                ],
            )
        ],
        missing=[text],
        footer=[text],
    )


def test_nothing_in_a_page_is_markup_that_a_source_wrote() -> None:
    page = report(HOSTILE).html()
    for what in ("<script", "<img", 'href="javascript', "\x1b"):
        assert what not in page


def test_nothing_in_the_markdown_is_markup_that_a_source_wrote() -> None:
    made = report(HOSTILE).markdown()
    shown = MarkdownIt("commonmark").enable("table").render(made)
    for what in ("<script", "<img", "href=", "\x1b"):
        assert what not in shown


def test_links_of_a_models_text_may_only_lead_to_pages() -> None:
    text = "[a](https://example.org) [b](javascript:x) [c](data:text/html,x) ![d](https://e.org/p)"
    page = Report(title="T", lead=[], sections=[Section("", [Markdown(text)])]).html()
    assert re.findall(r'href="([^"]*)"', page) == ["https://example.org"]
    assert "<img" not in page


def test_the_answer_comes_first_unless_something_missing_changes_it() -> None:
    made = Report(title="T", lead=["Yes."], missing=["No file of May."], sections=[])
    assert made.markdown() == "# T\n\nYes.\n\n## Missing\n\n- No file of May.\n"
    first = Report(title="T", lead=["Yes."], missing=["No file of May."], missing_first=True)
    assert first.markdown() == "# T\n\n## Missing\n\n- No file of May.\n\nYes.\n"
    page = first.html()
    assert page.index("No file of May.") < page.index("Yes.")


def test_columns_of_figures_are_aligned_to_the_right_and_long_tables_are_cut() -> None:
    table = TableBlock(["name", "price"], [[f"n{n}", f"{n} EUR"] for n in range(9)], max_rows=3)
    made = Report(title="", lead=[], sections=[Section("", [table])])
    assert "| --- | --: |" in made.markdown()
    assert "6 more rows are not shown." in made.markdown()
    assert made.html().count("<tr>") == 4


def test_a_quote_stands_with_its_place() -> None:
    made = Report(title="", lead=[], sections=[Section("", [QuoteBlock("Two\nlines", "a.txt:3")])])
    assert made.markdown() == "> Two\n> lines\n>\n> `a.txt:3`\n"
