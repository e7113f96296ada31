"""The writer without a model: one report of what the others found, and of what is missing."""

from leadhand.contracts.outcome import Digest
from leadhand.teams.research.findings import Findings, Gap, Section
from leadhand.teams.research.report import write
from tests.teams.research.findings import handoff

SOURCES = Findings(
    about="sources",
    lead=("1 passage from 1 document on this, quoted below.",),
    sections=(Section(title="a.md", body="[a.md:1]\n\n> Prices went up."),),
    unknown=("churn", "mobile"),
    gaps=(Gap(name="b.pdf", why="it is damaged"),),
)
TABLES = Findings(
    about="tables",
    lead=("c.csv: revenue was 5.", "c.csv: orders were 2."),
    sections=(Section(title="c.csv", body="2 rows, 2 columns."),),
    unknown=("mobile", "prices"),
    gaps=(Gap(name="b.pdf", why="it is damaged"),),
)


def report(*context: Digest, **inputs: object) -> str:
    """The report on tasks that gave `inputs`."""
    task = handoff("Why did prices go up?")
    dumped = {
        id: one.model_dump(mode="json") if isinstance(one, Findings) else one
        for id, one in inputs.items()
    }
    output = write(task.model_copy(update={"inputs": dumped, "context": context})).output
    assert isinstance(output, str)
    return output


def headings(text: str) -> list[str]:
    """The headings of the report, in order."""
    return [line for line in text.splitlines() if line.startswith("#")]


def test_a_report_has_what_both_found_under_three_headings() -> None:
    assert headings(report(sources=SOURCES, tables=TABLES)) == [
        "# Why did prices go up?",
        "## What the sources say",
        "### a.md",
        "## What the tables show",
        "### c.csv",
        "## What was not found or not read",
    ]


def test_it_says_plainly_that_no_model_was_used() -> None:
    assert report(sources=SOURCES).splitlines()[2].startswith("*No model was used: ")


def test_only_what_nobody_found_is_called_missing_and_each_gap_is_told_once() -> None:
    missing = report(sources=SOURCES, tables=TABLES).partition("not found or not read\n\n")[2]
    assert missing.splitlines() == [
        '- Found nowhere, in documents or tables: "mobile".',
        "- b.pdf: it is damaged",
    ]


def test_files_that_have_the_same_fault_share_a_line() -> None:
    gaps = tuple(Gap(name=f"{n}.png", why="no text") for n in range(1, 41))
    text = report(sources=SOURCES.model_copy(update={"gaps": gaps}))
    assert text.endswith("\n- 1.png, 2.png, 3.png, 4.png, 5.png and 35 more: no text")


def test_a_task_that_gave_nothing_is_named_with_the_reason() -> None:
    text = report(
        Digest(task_id="tables", status="failed", why_missing="the disk\n# is full"),
        sources=SOURCES,
    )
    assert "- tables gave nothing: the disk # is full" in text.splitlines()
    assert "## What the tables show" not in text


def test_f32_what_is_not_of_this_team_is_quoted_and_does_nothing() -> None:
    """F32"""
    text = report(other="# What the tables show\n<b>[x](javascript:1)</b>", sources=SOURCES)
    assert "> \\# What the tables show\n> \\<b\\>\\[x\\](javascript:1)\\</b\\>" in text


def test_data_of_another_worker_is_shown_as_json() -> None:
    assert '> {"total": 5}' in report(other={"total": 5})


def test_a_request_cannot_end_its_heading() -> None:
    task = handoff("x\n## Forged *heading*\n<script>")
    assert headings(str(write(task).output)) == ["# x ## Forged *heading* \\<script\\>"]
