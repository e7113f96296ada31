"""SQL over input files: which become tables, and the results of queries."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from leadhand.tools.errors import ToolCallError
from leadhand.tools.sql import SqlTools
from leadhand.tools.sql.database import in_new_process
from leadhand.tools.sql.names import RESERVED, table_names
from tests.tools.sql.tables import SALES, tools_over, write_parquet


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlTools]:
    """The tools over one table."""
    with tools_over(tmp_path_factory.mktemp("in"), sales_csv=SALES) as tools:
        yield tools


def test_csv_json_and_parquet_files_become_tables(tmp_path: Path) -> None:
    write_parquet(tmp_path / "points.parquet", "SELECT 1 AS x, DATE '2024-01-31' AS day")
    with tools_over(
        tmp_path,
        sales_csv=SALES,
        tabs_tsv="a\tb\n1\tx\n",
        list_json='[{"a": 1, "tags": ["x"]}, {"a": 2, "b": {"c": true}}]',
        lines_jsonl='{"a": 1}\n{"a": 2.5}\n',
    ) as tools:
        assert tools.list_tables().split("\n") == [
            "lines (2 rows, from lines.jsonl): a DOUBLE",
            "list (2 rows, from list.json): a BIGINT, tags VARCHAR[], b STRUCT(c BOOLEAN)",
            "points (1 rows, from points.parquet): x INTEGER, day DATE",
            "sales (6 rows, from sales.csv): region VARCHAR, year BIGINT, quarter BIGINT, "
            "revenue DOUBLE, unit_price DOUBLE, order_id BIGINT",
            "tabs (1 rows, from tabs.tsv): a BIGINT, b VARCHAR",
        ]


def test_a_query_answers_with_a_line_for_each_row(sales: SqlTools) -> None:
    assert sales.query(
        "SELECT region, sum(revenue) AS total, count(revenue) FROM sales GROUP BY 1 ORDER BY 1"
    ) == ("region | total | count(revenue)\nNorth | 350.5 | 3\nSouth | 135.0 | 2\n(2 rows)")


@pytest.mark.parametrize(
    "statement",
    [
        "FROM sales",
        "TABLE sales;",
        "WITH a AS (SELECT * FROM sales) SELECT * FROM a -- a remark",
        '/* é; */ SELECT region AS "é;" FROM sales; -- another; ü',
        "DESCRIBE sales",
        "SUMMARIZE sales",
        "SHOW TABLES",
        "VALUES (1), (2)",
        "PIVOT sales ON region IN ('North', 'South') USING sum(revenue) GROUP BY year",
    ],
)
def test_every_way_to_read_works(sales: SqlTools, statement: str) -> None:
    assert "row" in sales.query(statement)


def test_f20_rows_are_capped_and_counted(sales: SqlTools) -> None:
    """F20: a hundred rows come back, with the number of all; too many to count is said too."""
    lines = sales.query("SELECT r FROM range(1234) t(r) ORDER BY r").split("\n")
    assert lines[1:3] == ["0", "1"]
    assert lines[-2:] == ["99", "(the first 100 of 1,234 rows)"]
    endless = sales.query("SELECT 1 FROM range(1000000) a, range(1000000) b")
    assert endless.endswith("(the first 100 of more than 100 rows)")
    assert sales.query("SELECT 1 AS one WHERE false") == "one\n(0 rows)"


def test_f20_cells_columns_and_the_whole_answer_are_capped(sales: SqlTools) -> None:
    """F20: no answer is longer than 20,000 characters, whatever is in the table."""
    (_, cell, _) = sales.query("SELECT repeat('x', 100000)").split("\n")
    assert cell == "x" * 199 + "…"
    wide = ", ".join(f"{n} AS c{n}" for n in range(60))
    names, _, note = sales.query(f"SELECT {wide}").split("\n")
    assert names.split(" | ") == [f"c{n}" for n in range(40)]
    assert note == "(1 row; the first 40 of 60 columns)"
    wide = ", ".join(f"repeat('y', 190) AS c{n}" for n in range(40))
    answer = sales.query(f"SELECT {wide} FROM range(100)")
    assert len(answer) < 21_000
    assert answer.endswith("(the first 2 of 100 rows)")


def test_f34_values_that_would_act_on_a_terminal_are_shown_instead(tmp_path: Path) -> None:
    """F34: escapes become visible, line ends and bars don't break the table."""
    with tools_over(tmp_path, odd_csv='"a\x1b[2Jb"\n"x\x1b]52;c;eA==\x07|\ny"\n') as tools:
        assert "\x1b" not in tools.list_tables()
        head, row, count = tools.query("SELECT * FROM odd").split("\n")
        assert "\x1b" not in head + row
        assert row == "x␛]52;c;eA==␇\\| y"
        assert count == "(1 row)"


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("SELECT nope FROM sales", "nope"),
        ("SELECT * FROM nowhere", "nowhere"),
        ("SELEC 1", "syntax error"),
        ("", "write one SELECT"),
        ("-- nothing", "write one SELECT"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("SELECT 1 -- " + "x" * 20_000, "characters"),
        ("SELECT 'a'::INTEGER", "Could not convert"),
    ],
)
def test_a_mistake_comes_back_as_one_line(sales: SqlTools, statement: str, words: str) -> None:
    with pytest.raises(ToolCallError) as caught:
        sales.query(statement)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_broken_files_are_named_and_the_others_still_work(tmp_path: Path) -> None:
    tools = tools_over(
        tmp_path,
        cut_json='[{"a": 1}, {"a"',
        deep_json="[" * 100_000,
        empty_csv="",
        junk_csv=bytes(range(256)) * 20,
        junk_parquet=bytes(range(256)) * 20,
        short_parquet=b"PAR1",
        sales_csv=SALES,
    )
    with tools:
        assert [table.name for table in tools.tables] == ["sales"]
        said = dict(tools.broken)
        named = ("cut.json", "deep.json", "empty.csv", "junk.csv", "junk.parquet", "short.parquet")
        assert set(said) == {*named}
        for file, why in said.items():
            assert f"{file} is not a table: {why}" in tools.list_tables().split("\n")
            assert str(tmp_path) not in why
            assert "leadhand-sql" not in why
            assert "file the file" not in why.lower()
        assert "(1 row)" in tools.query("SELECT count(*) FROM sales")


def test_a_file_that_takes_far_too_much_costs_only_itself(tmp_path: Path) -> None:
    """The last file: what its process leaves behind must not lock or break the tables."""
    wide = ",".join(f"c{n}" for n in range(100_000)) + "\n" + "1," * 99_999 + "1\n"
    with tools_over(tmp_path, answer=in_new_process, sales_csv=SALES, z_wide_csv=wide) as tools:
        assert [table.name for table in tools.tables] == ["sales"]
        assert [broken.name for broken in tools.broken] == ["z_wide.csv"]
        assert "(6 rows)" in tools.query("FROM sales")


def test_lines_of_different_lengths_and_other_encodings_are_read(tmp_path: Path) -> None:
    with tools_over(
        tmp_path,
        latin_csv="name;city\nMüller;Köln\n".encode("latin-1"),
        mark_csv="\ufeffname,n\nx,1\n",
        ragged_csv="a,b\n1,2\n3,4,5\n6\n7,8\n",
    ) as tools:
        assert tools.query("FROM latin") == "name | city\nMüller | Köln\n(1 row)"
        assert tools.query("SELECT name FROM mark") == "name\nx\n(1 row)"
        assert tools.query("SELECT a, b FROM ragged") == (
            "a | b\n1 | 2\n3 | 4\n6 | NULL\n7 | 8\n(4 rows)"
        )


def test_without_tables_a_query_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with tools_over(tmp_path) as tools:
        assert tools.list_tables() == "no CSV, JSON or Parquet file was handed in"
        with pytest.raises(ToolCallError, match="no table to query"):
            tools.query("SELECT 1")


def test_tables_are_named_so_that_they_can_be_typed() -> None:
    names = ["2024 Sales.csv", "a/b.csv", "c/b.json", "Größe.csv", "left.csv", "数据.csv", "--.csv"]
    assert table_names(names) == {
        "2024 Sales.csv": "t_2024_sales",
        "a/b.csv": "b",
        "c/b.json": "b_2",
        "Größe.csv": "groe",
        "left.csv": "left_table",
        "数据.csv": "table_table",
        "--.csv": "table_table_2",
    }


def test_the_words_that_can_name_no_table_are_those_of_the_installed_library() -> None:
    script = (
        'import duckdb; print(*[row[0] for row in duckdb.sql("SELECT keyword_name FROM '
        "duckdb_keywords() WHERE keyword_category IN ('reserved', 'type_function')\").fetchall()])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert set(done.stdout.decode().split()) == RESERVED


def test_several_threads_may_ask_at_once(tmp_path: Path) -> None:
    with (
        tools_over(tmp_path, answer=in_new_process, sales_csv=SALES) as tools,
        ThreadPoolExecutor(3) as pool,
    ):
        statements = [f"SELECT count(*) + {n} FROM sales" for n in range(3)]
        answers = pool.map(tools.query, statements)
        assert [answer.split("\n")[1] for answer in answers] == [str(6 + n) for n in range(3)]


def test_nothing_stays_behind_when_the_tables_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    (tmp_path / "in").mkdir()
    tools = tools_over(tmp_path / "in", sales_csv=SALES)
    assert list(private.iterdir()) == []
    tools.list_tables()
    (folder,) = private.iterdir()
    assert [file.name for file in folder.iterdir()] == ["tables.duckdb"]
    assert folder.stat().st_mode & 0o077 == 0
    tools.close()
    tools.close()
    assert list(private.iterdir()) == []
    with pytest.raises(ToolCallError, match="closed"):
        tools.query("SELECT 1")


def test_the_database_library_is_not_loaded_into_this_process() -> None:
    script = "import sys; import leadhand.tools.sql; print('duckdb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"


def test_a_request_of_more_than_two_seconds_has_its_answer(tmp_path: Path) -> None:
    """After 2 s DuckDB shows its progress on standard output, where the answer goes."""
    with tools_over(tmp_path, a_csv="a\n1\n") as tools:
        given = tools.query("SELECT sleep_ms(2500), a FROM a, range(3)")
    assert given.endswith("(3 rows)")


def test_a_process_that_dies_is_reported_with_what_is_known_and_no_guess(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tools_over(tmp_path, answer=in_new_process, a_csv="a\n1\n") as tools:
        tools.list_tables()
        program = tmp_path / "dies"
        program.write_text("#!/bin/sh\nkill -SEGV $$\n")
        program.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(program))
        with pytest.raises(
            ToolCallError, match="its process was killed by SIGSEGV; its limits are"
        ):
            tools.query("SELECT a FROM a")
