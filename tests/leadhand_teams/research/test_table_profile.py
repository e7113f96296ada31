"""Profiles of tables without a model: columns, rankings, growth."""

from pathlib import Path

import pytest

from leadhand.tools.sql import SqlTools
from leadhand_teams.research.growth import Growth, PeriodTotal
from leadhand_teams.research.roles import ColumnProfile
from leadhand_teams.research.table_profile import RankedRow, TableProfile, profile_table
from leadhand_teams.research.table_readings import read_table
from tests.tools.sql.tables import SALES, tools_over, write_parquet


def profile(tools: SqlTools) -> list[TableProfile]:
    """The profiles of all its tables."""
    return [profile_table(tools, table) for table in tools.tables]


def profile_of(folder: Path, table: str) -> TableProfile:
    with tools_over(folder, data_csv=table) as tools:
        (found,) = tools.tables
        return profile_table(tools, read_table(tools, found).table)


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> TableProfile:
    return profile_of(tmp_path_factory.mktemp("in"), SALES)


def test_each_column_is_counted(sales: TableProfile) -> None:
    columns = {column.name: column for column in sales.columns}
    assert columns["region"] == ColumnProfile(
        "region", "VARCHAR", 0, 2, "North", "South", None, 5.0, (("North", 3), ("South", 3))
    )
    revenue = columns["revenue"]
    assert (revenue.nulls, revenue.distinct, revenue.top) == (1, 5, ())
    assert (revenue.minimum, revenue.maximum) == ("45.0", "130.0")
    assert revenue.mean == pytest.approx(97.1)
    assert columns["year"].top == (("2022", 4), ("2023", 2))
    assert sales.left_out == ()


def test_measures_are_ranked_and_keys_and_years_are_not(sales: TableProfile) -> None:
    assert [ranking.measure for ranking in sales.rankings] == ["revenue", "unit_price"]
    revenue = sales.rankings[0]
    assert revenue.labelled_by == ("region", "year", "quarter")
    assert revenue.top[:2] == (
        RankedRow("North, 2022-Q2", 130.0),
        RankedRow("North, 2023-Q1", 120.0),
    )
    assert len(revenue.top) == 5
    assert revenue.bottom == ()


def test_no_row_is_both_at_the_top_and_at_the_bottom(tmp_path: Path) -> None:
    rows = "\n".join(f"item {n:02},{n * n}" for n in range(1, 9))
    (ranking,) = profile_of(tmp_path, f"name,size\n{rows}\n").rankings
    assert [row.value for row in ranking.top] == [64, 49, 36, 25, 16]
    assert [row.value for row in ranking.bottom] == [1, 4, 9]
    assert ranking.bottom[0].label == "item 01"


def test_growth_goes_from_period_to_period_and_stops_at_gaps(sales: TableProfile) -> None:
    whole = sales.growths[0]
    assert (whole.measure, whole.aggregate, whole.group, whole.grain) == (
        "revenue",
        "sum",
        None,
        "quarter",
    )
    assert whole.periods == (
        PeriodTotal("2022-Q1", 190.5, None),
        PeriodTotal("2022-Q2", 130.0, (130 - 190.5) / 190.5 * 100),
        PeriodTotal("2023-Q1", 165.0, None),
    )
    # Four quarters lie between the first and the last.
    assert whole.compound_percent == pytest.approx(((165 / 190.5) ** (1 / 4) - 1) * 100)
    assert [growth.group for growth in sales.growths] == [
        None,
        ("region", "North"),
        ("region", "South"),
    ] * 2
    assert {growth.aggregate for growth in sales.growths if growth.measure == "unit_price"} == {
        "mean"
    }


@pytest.mark.parametrize(
    ("table", "grain", "periods"),
    [
        ("year,v\n2021,1\n2022,2\n2022,3\n", "year", ["2021", "2022"]),
        ("fiscalYear,v\n2021,1\n2022,2\n", "year", ["2021", "2022"]),
        ("year,month,v\n2021,12,1\n2022,1,2\n", "month", ["2021-12", "2022-01"]),
        ("year,quarter,v\n2021,Q4,1\n2022,Q1,2\n", "quarter", ["2021-Q4", "2022-Q1"]),
        ("month,v\n2021-12,1\n2022-01,2\n", "month", ["2021-12", "2022-01"]),
        ("quarter,v\n2021 Q4,1\n2022 Q1,2\n", "quarter", ["2021-Q4", "2022-Q1"]),
        ("day,v\n2021-12-31,1\n2022-01-01,2\n2022-01-05,2\n", "month", ["2021-12", "2022-01"]),
        ("day,v\n2021-12-30,1\n2021-12-31,2\n", "day", ["2021-12-30", "2021-12-31"]),
        ("at,v\n2019-12-30 10:00:00,1\n2021-01-01 11:00:00,2\n", "year", ["2019", "2021"]),
    ],
)
def test_periods_are_found_in_years_quarters_months_dates_and_moments(
    tmp_path: Path, table: str, grain: str, periods: list[str]
) -> None:
    (growth,) = profile_of(tmp_path, table).growths
    assert growth.grain == grain
    assert [period.period for period in growth.periods] == periods


def growth_of(folder: Path, *values: object) -> Growth:
    rows = "\n".join(f"{2000 + n},{value}" for n, value in enumerate(values))
    (growth,) = profile_of(folder, f"year,v\n{rows}\n").growths
    return growth


def test_growth_is_compounded_over_the_years(tmp_path: Path) -> None:
    growth = growth_of(tmp_path, 100, 110, 121)
    assert growth.compound_percent == pytest.approx(10)
    assert [period.change_percent for period in growth.periods] == [None, *[pytest.approx(10)] * 2]


def test_there_is_no_growth_in_percent_from_zero_or_below(tmp_path: Path) -> None:
    growth = growth_of(tmp_path, 0, 50, -25, -50)
    assert [period.change_percent for period in growth.periods] == [None, None, -150, -100]
    assert growth.compound_percent is None


def test_odd_names_nested_values_and_empty_tables_have_a_profile_too(tmp_path: Path) -> None:
    with tools_over(
        tmp_path,
        empty_csv="a,b\n",
        nested_json='[{"a": [1], "b": {"x": 1}, "c": null}, {"a": [2]}]',
        odd_csv='select,"we""ird; name --",\U0001f600\nx,1.5,1e308\ny,inf,1e308\n',
    ) as tools:
        empty, nested, odd = profile(tools)
        assert [found.left_out for found in (empty, nested, odd)] == [(), (), ()]
    assert [(column.distinct, column.minimum) for column in empty.columns] == [(0, None)] * 2
    assert [column.nulls for column in nested.columns] == [0, 1, 2]
    assert [ranking.measure for ranking in odd.rankings] == ['we"ird; name --']
    assert odd.rankings[0].top == (RankedRow("x", 1.5),)


def test_the_figures_of_a_big_table_are_complete(tmp_path: Path) -> None:
    write_parquet(
        tmp_path / "big.parquet",
        "SELECT DATE '2020-01-01' + (r % 1000)::INT AS day, 'k' || r % 9 AS kind, "
        "r * 0.5 AS amount, r AS id FROM range(1200000) t(r)",
    )
    with tools_over(tmp_path) as tools:
        (found,) = profile(tools)
    assert found.left_out == ()
    columns = {column.name: column for column in found.columns}
    assert columns["kind"].distinct in range(8, 11)
    assert [ranking.top[0].value for ranking in found.rankings] == [599_999.5]
    assert found.growths[0].grain == "year"
    assert sum(period.value for period in found.growths[0].periods) == pytest.approx(
        0.5 * sum(range(1_200_000))
    )


def test_what_takes_too_long_is_left_out_and_named(tmp_path: Path) -> None:
    with tools_over(tmp_path, query_timeout_s=0.001, sales_csv=SALES) as tools:
        (found,) = profile(tools)
    assert found.columns == ()
    assert found.left_out == ("all figures: it was not done after 0.001 s and was stopped",)
