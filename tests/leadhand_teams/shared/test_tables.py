"""Tables as people make them: titles above, totals below, any delimiter and convention."""

import datetime as dt

import pytest

from leadhand_teams.shared.grids import csv_tables, json_tables, text_tables
from leadhand_teams.shared.tables import DataColumn, DataTable


def one(tables: list[DataTable]) -> DataTable:
    (table,) = tables
    return table


def column(table: DataTable, name: str) -> DataColumn:
    found = table.column(name)
    assert found is not None
    return found


GERMAN = """Umsatzbericht 2024

Region;Umsatz (EUR);Datum
Nord;1.234,56;13.04.2025
Süd;2.000,00;01.05.2025

Gesamt;3.234,56;
"""


def test_a_header_below_a_title_is_found_and_the_total_is_not_a_row() -> None:
    table = one(csv_tables("a.csv", GERMAN))
    assert [column.name for column in table.columns] == ["Region", "Umsatz (EUR)", "Datum"]
    assert column(table, "umsatz").numbers == (1234.56, 2000.0)
    assert column(table, "umsatz").unit == "EUR"
    assert column(table, "Datum").dates == (dt.date(2025, 4, 13), dt.date(2025, 5, 1))
    assert table.ref(0) == "a.csv:4"
    assert table.notes == ("Line 7: totals, not counted as data.",)


def test_a_header_may_have_dates_alone_above_figures_whose_rows_have_names() -> None:
    table = one(csv_tables("a.csv", ",31 Dec 2025,31 Dec 2024\nCash,5430,3210\nEquity,26,21\n"))
    assert [column.name for column in table.columns] == ["column 1", "31 Dec 2025", "31 Dec 2024"]
    assert column(table, "31 Dec 2024").numbers == (3210, 21)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_any_delimiter_is_found(mark: str) -> None:
    text = f'name{mark}price\n"a{mark}b"{mark}1.5\nc{mark}2\n'
    table = one(csv_tables("a.csv", text))
    assert column(table, "name").cells == (f"a{mark}b", "c")
    assert column(table, "price").numbers == (1.5, 2)


def test_a_row_after_a_cell_of_two_lines_keeps_its_line() -> None:
    table = one(csv_tables("a.csv", 'a,b\n"x\ny",1\nz,2\n'))
    assert [table.ref(row) for row in range(2)] == ["a.csv:2", "a.csv:4"]


def test_years_name_columns_and_rows_without_a_header_get_numbers() -> None:
    years = one(csv_tables("a.csv", "region,2023,2024\nNorth,1,2\nSouth,3,4\n"))
    assert [column.name for column in years.columns] == ["region", "2023", "2024"]
    bare = one(csv_tables("a.csv", "1,2,3\n4,5,6\n"))
    assert [column.name for column in bare.columns] == ["column 1", "column 2", "column 3"]
    assert len(bare) == 2


def test_two_tables_below_each_other_are_two() -> None:
    text = "region,sales\nN,1\nS,2\n\ncosts\n\nitem,cost\nrent,5\nfood,7\n"
    first, second = csv_tables("a.csv", text)
    assert (len(first), len(second)) == (2, 2)
    assert second.ref(0) == "a.csv:8"


def test_what_can_not_be_read_is_named() -> None:
    text = "name,price\na,1\nb,soon\nc,n/a\nd,4,5\ne,6\nf,7\ng,8\nh,9\n"
    table = one(csv_tables("a.csv", text))
    assert column(table, "price").numbers == (1, None, None, 6, 7, 8, 9)
    assert table.notes == (
        "Line 5: left out, the cells don't fit the header.",
        "price: 1 cell is no number (soon), left empty.",
    )


def test_one_cell_in_five_may_be_none_of_the_columns_kind() -> None:
    table = one(csv_tables("a.csv", "n,price\na,1\nb,2\nc,3\nd,4\ne,soon\n"))
    assert column(table, "price").numbers == (1, 2, 3, 4, None)


def test_the_column_decides_what_comes_first_in_a_date_else_it_is_said() -> None:
    decided = one(csv_tables("a.csv", "n,when\na,3/4/2025\nb,14/3/2025\n"))
    assert column(decided, "when").dates == (dt.date(2025, 4, 3), dt.date(2025, 3, 14))
    assert decided.notes == ()
    open_one = one(csv_tables("a.csv", "n,when\na,3/4/2025\nb,5/6/2025\n"))
    assert column(open_one, "when").dates == (dt.date(2025, 3, 4), dt.date(2025, 5, 6))
    assert "the month is taken to come first" in open_one.notes[0]


def test_the_mark_of_other_columns_decides_else_it_is_said() -> None:
    decided = one(csv_tables("a.csv", 'n,a,b\nx,1.234,"2,5"\ny,5.678,"3,5"\n'))
    assert column(decided, "a").numbers == (1234, 5678)
    open_one = one(csv_tables("a.csv", "n,a\nx,1.234\ny,5.678\n"))
    assert column(open_one, "a").numbers == (1.234, 5.678)
    assert open_one.notes == ("a: 1.234 is read as 1.234.",)


def test_columns_are_found_by_names_that_mean_the_same() -> None:
    table = one(csv_tables("a.csv", "Product,Unit Price (EUR),unitsSold\na,1,2\nb,3,4\n"))
    assert column(table, "unit_price").numbers == (1, 3)
    assert column(table, "units sold").numbers == (2, 4)
    found = table.column("cost", "price")
    assert found is not None
    assert found.unit == "EUR"
    assert table.column("weight") is None


def test_a_markdown_table_is_read_with_its_lines() -> None:
    text = "# Plans\n\n| plan | **price** |\n|---|--:|\n| A | $1 |\n| B | $2 |\n\nAnd text.\n"
    table = one(text_tables("a.md", text))
    assert column(table, "price").numbers == (1, 2)
    assert column(table, "price").unit == "USD"
    assert table.ref(1) == "a.md:6"


def test_json_objects_are_rows_wherever_they_are() -> None:
    document = '{"v": 1, "items": [{"a": 1, "b": "x"},\n {"a": 2.125, "b": null}]}'
    table = one(json_tables("a.json", document))
    assert column(table, "a").numbers == (1, 2.125)
    assert column(table, "b").cells == ("x", None)
    assert table.ref(1) == "a.json:2"
    lines = one(json_tables("a.jsonl", '{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n{"a": '))
    assert column(lines, "a").numbers == (1, 3)
    assert json_tables("a.json", '"[[[["') == []


def test_codes_with_leading_zeros_and_several_units_are_not_lost() -> None:
    table = one(csv_tables("a.csv", "zip,price\n00501,1 EUR\n10115,2 USD\n"))
    assert column(table, "zip").texts == ("00501", "10115")
    assert column(table, "price").unit is None
    assert table.notes == ("price: has several units (EUR and USD).",)
