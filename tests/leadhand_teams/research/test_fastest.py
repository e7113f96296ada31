"""README's own question, without a model: which region grows fastest, and what the notes say."""

from pathlib import Path

import pytest

from leadhand.contracts.outcome import Result
from leadhand_teams.research import passages, report
from leadhand_teams.research.fastest import grouping_word
from leadhand_teams.research.periods import parse_period, parse_periods, period_in_name
from tests.leadhand_teams.research.findings import handoff, work_out
from tests.tools.sql.tables import write_parquet

QUESTION = "Which region grows fastest, and what do the notes say about why?"
NOTES = """\
# Notes

## North

Nothing happened in the North.

## South

Two new shops in Rome opened in March 2022, and revenue in the South grew because of them.

## South East

Sales in the South East grew because of a fair.
"""
LONG = (
    "quarter,region,sales\nQ1 2023,North,10\nQ2 2023,North,11\nQ1 2023,South,10\nQ2 2023,South,15\n"
)


def answered(folder: Path, request: str = QUESTION) -> tuple[str, Result]:
    """The report on `request`, and its result; the team's functions run one after the other."""
    task = handoff(request, folder)
    figures = work_out(task).output
    texts = passages.find(task.model_copy(update={"inputs": {"tables": figures}})).output
    both = {"tables": figures, "sources": texts}
    result = report.write(task.model_copy(update={"inputs": both}))
    return str(result.output), result


def first(folder: Path, request: str = QUESTION) -> str:
    """The first paragraph below the title."""
    return answered(folder, request)[0].split("\n\n")[1]


@pytest.mark.parametrize(
    ("file", "text", "change"),
    [
        ("long.csv", LONG, "Q1 to 2023-Q2: South from 10 to 15, +50.0 %"),
        ("years.csv", "region,2021,2022\nNorth,10,20\nSouth,10,30\n", "2021 to 2022"),
        ("bare.csv", "region,Q1,Q2,Q3\nNorth,1,2,3\nSouth,1,4,9\n", "Q1 to Q3: South from 1 to 9"),
        ("months.csv", "region,Jan,Feb\nNorth,1,2\nSouth,1,4\n", "from Jan to Feb: South"),
        (
            "texts.csv",
            "Region;Revenue FY22;Revenue FY23;Growth FY23\n"
            "North;1.000,50 EUR;1.100,00 EUR;99%\nSouth;2.000,00 EUR;3.500,00 EUR;75%\n",
            "Revenue from 2022 to 2023: South from 2,000 to 3,500, +75.0 %",
        ),
        (
            "totals.csv",
            'region,2021,2022\nNorth,"1,000","1,100"\nSouth,"2,000","3,900"\nTotal,"3,000","9,000"\n',
            "South from 2,000 to 3,900, +95.0 %",
        ),
        ("sums.csv", f"{LONG}Total,North,90\nTotal,South,95\n", "2023-Q2: South from 10 to 15"),
        (
            "wide.json",
            '[{"region":"North","2021":10,"2022":12},{"region":"South","2021":10,"2022":30}]',
            "South from 10 to 30, +200.0 %",
        ),
    ],
)
def test_the_answer_comes_first_then_the_note_about_that_very_region(
    tmp_path: Path, file: str, text: str, change: str
) -> None:
    """A long table, and wide ones with a column for each year, quarter or month."""
    (tmp_path / file).write_text(text)
    (tmp_path / "notes.md").write_text(NOTES)
    written, result = answered(tmp_path)
    title, answer, lead, note = written.split("\n\n")[:4]
    assert title == f"# {QUESTION}"
    assert answer.startswith("**South grows fastest.**")
    assert change in answer
    assert f"[{file}]" in answer
    assert lead == "What the documents say on South, word for word:"
    assert note == "South [notes.md:9]"
    assert "> Two new shops in Rome opened" in written.split("\n\n")[4]
    assert "Nothing happened" not in written.partition("*No model")[0]
    assert result.missing == ()


WIDE = "month,North,South,Total\n2024-01,100,80,180\n2024-02,102,90,192\n2024-03,104,96,200\n"


def test_a_column_for_each_region_is_a_row_for_each(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(WIDE)
    said = first(tmp_path)
    assert said.startswith("**South grows fastest.**")
    assert "South from 80 to 96, +20.0 % [wide.csv]. The others by region: North +4.0 %." in said


@pytest.mark.parametrize(
    ("request_", "group"),
    [
        ("Which region grows fastest?", "region"),
        ("Which of the regions fell most?", "region"),
        ("Which grew fastest?", None),
        ("Which has grown most?", None),
        ("What drove the growth?", None),
        ("Which region is it?", None),
    ],
)
def test_what_a_request_calls_the_groups_is_a_noun(request_: str, group: str | None) -> None:
    assert grouping_word(request_) == group


def test_columns_of_several_measures_are_no_regions(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text(WIDE.replace("North,South", "Revenue,Unit cost"))
    assert "fastest.**" not in first(tmp_path)


@pytest.mark.parametrize(
    "select",
    [
        "SELECT * FROM (VALUES (DATE '2024-01-01', 9, 5), (DATE '2024-02-01', 9, 8)) "
        "t(month, North, South)",
        "SELECT * FROM (VALUES ('North', 9, 9), ('South', 5, 8)) t(region, \"2023\", \"2024\")",
    ],
    ids=["a column a region", "a column a year"],
)
def test_wide_parquet_tables_are_read_like_others(tmp_path: Path, select: str) -> None:
    write_parquet(tmp_path / "wide.parquet", select)
    said = first(tmp_path)
    assert said.startswith("**South grows fastest.**")
    assert "South from 5 to 8, +60.0 %" in said


def test_columns_that_are_read_alike_are_named_in_one_sentence(tmp_path: Path) -> None:
    text = 'region,2021,2022\nNorth,"1,000 EUR","1,100 EUR"\nSouth,"2,000 EUR","3,900 EUR"\n'
    (tmp_path / "texts.csv").write_text(text)
    written, _ = answered(tmp_path)
    assert written.count("are read as numbers") == 1
    assert "The texts in 2021 and 2022 are read as numbers." in written


def test_a_note_on_a_region_with_a_longer_name_is_not_taken_for_this_one(tmp_path: Path) -> None:
    text = "region,2021,2022\nSouth East,10,11\nSouth,10,30\n"
    (tmp_path / "r.csv").write_text(text)
    fair = "## South East\n\nSales in the South East grew because of a fair.\n"
    (tmp_path / "notes.md").write_text(f"{NOTES}\n{fair}")
    top = answered(tmp_path)[0].partition("*No model")[0]
    assert "Two new shops" in top
    assert "a fair" not in top


def test_tables_of_one_period_each_are_read_as_one(tmp_path: Path) -> None:
    (tmp_path / "revenue_2022.csv").write_text("region,revenue\nNorth,10\nSouth,20\n")
    (tmp_path / "revenue_2023.csv").write_text("region,revenue\nNorth,11\nSouth,30\n")
    assert "Revenue from 2022 to 2023: South from 20 to 30, +50.0 %" in first(tmp_path)


def test_equal_rates_are_a_tie(tmp_path: Path) -> None:
    text = "region,2021,2022\nNorth,10,20\nSouth,100,200\nWest,5,6\n"
    (tmp_path / "r.csv").write_text(text)
    assert first(tmp_path).startswith("**North and South grow fastest, both alike.**")


def test_what_began_at_zero_or_below_is_named_and_not_ranked(tmp_path: Path) -> None:
    text = "region,2021,2022\nNorth,-10,20\nSouth,100,90\nWest,0,6\nEast,50,44\n"
    (tmp_path / "r.csv").write_text(text)
    said = first(tmp_path)
    assert said.startswith("**Nothing grows: South falls least.**")
    assert (
        "Not ranked, because it began at zero or below: North (-10 to 20) and West (0 to 6)."
        in said
    )


def test_infinite_and_missing_values_are_left_out_and_named(tmp_path: Path) -> None:
    """Growth of columns with inf or NaN."""
    rows = "2021,North,1\n2021,South,2\n2021,West,inf\n2022,North,nan\n2022,South,4\n"
    rows += "2022,West,7\n2023,North,1.5\n2023,South,5\n2023,West,8\n"
    (tmp_path / "r.csv").write_text(f"year,region,revenue\n{rows}")
    written = answered(tmp_path)[0]
    assert "**South grows fastest.** Revenue from 2021 to 2023: South from 2 to 5" in written
    assert "Not ranked, because figures are missing: West." in written
    assert "2 values are infinite or no number (NaN) in revenue, and left out." in written
    assert "nan %" not in written


def test_sums_that_are_too_large_for_a_number_give_no_growth(tmp_path: Path) -> None:
    rows = "2021,a,1e-300\n2022,a,1e300\n2021,b,1e308\n2021,b,1e308\n2022,b,5\n"
    (tmp_path / "r.csv").write_text(f"year,region,revenue\n{rows}")
    assert "inf" not in answered(tmp_path)[0]


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        ("Which region grows slowest?", "**North grows slowest.**"),
        ("Where did sales fall most?", "**Nothing falls: North grows least.**"),
    ],
)
def test_the_slowest_and_what_falls_are_asked_for_too(
    tmp_path: Path, request_: str, answer: str
) -> None:
    (tmp_path / "long.csv").write_text(LONG)
    assert first(tmp_path, request_).startswith(answer)


def test_without_two_periods_the_question_is_a_gap(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("region,revenue\nNorth,10\nSouth,20\n")
    (missing,) = work_out(handoff(QUESTION, tmp_path)).missing
    assert missing.startswith("growth: not computed: no table has figures for two periods")


def test_a_region_that_no_note_mentions_is_a_gap(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text(LONG)
    (tmp_path / "notes.md").write_text("# Notes\n\nThe North grew. So did the region.\n")
    written, result = answered(tmp_path)
    assert "No document mentions South." in written
    assert result.missing == ("no document that was handed in mentions South",)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        *(("2024", "2024"), ("FY23", "2023"), ("x2021", "2021"), ("Q1 2024", "2024-Q1")),
        *(("1Q24", "2024-Q1"), ("2024Q1", "2024-Q1"), ("H1 2024", "2024-H1"), ("Q3", "Q3")),
        *(("Jan-24", "2024-01"), ("Sept 2024", "2024-09"), ("01/2024", "2024-01"), ("mar", "03")),
        *(("202401", "2024-01"), ("KW 5 2024", "2024-W05"), ("31.12.2024", "2024-12-31")),
        *(("North", None), ("12", None), ("1234", None), ("2024 actual", None)),
    ],
)
def test_periods_are_read_as_people_write_them(text: str, read: str | None) -> None:
    found = parse_period(text)
    assert (found.text if found else None) == read


def test_a_name_may_hold_a_period_and_split_years_are_no_months() -> None:
    found = [
        period_in_name(name) for name in ("revenue_2023", "sales (Jan 2024)", "sales2023", "Mayor")
    ]
    assert [(one.rest, one.period.text) for one in found if one] == [
        *(("revenue", "2023"), ("sales", "2024-01"), ("sales", "2023"))
    ]
    years = parse_periods(["2011-12", "2012-13"])
    assert years is not None
    assert [one.text for one in years.values()] == ["2011/12", "2012/13"]
    assert parse_periods(["Jan 2024", "Q1 2024"]) is None
