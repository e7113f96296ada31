"""Whatever a statement tries, tables are only read, and nothing outside is accessed (F19)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from leadhand.tools.errors import ToolCallError
from leadhand.tools.sql import SqlTools
from leadhand.tools.sql.database import in_new_process
from tests.tools.sql.tables import SALES, tools_over

SECRET = "the-secret"


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder beside the inputs: a file to be stolen, room to write."""
    folder = tmp_path_factory.mktemp("outside")
    for name in ("secret.csv", "secret.json", "secret.txt"):
        (folder / name).write_text(f'{{"a": "{SECRET}"}}\n')
    return folder


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlTools]:
    """One set of tables for all attacks, so that what one breaks shows in the next."""
    with tools_over(tmp_path_factory.mktemp("in"), sales_csv=SALES) as tools:
        yield tools


def refusal(tools: SqlTools, statement: str) -> str:
    with pytest.raises(ToolCallError) as caught:
        tools.query(statement)
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 800
    return said


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO sales SELECT * FROM sales",
        "UPDATE sales SET revenue = 0",
        "DELETE FROM sales",
        "TRUNCATE sales",
        "DROP TABLE sales",
        "ALTER TABLE sales DROP COLUMN revenue",
        "CREATE TABLE mine AS SELECT 1",
        "CREATE TEMP TABLE mine AS SELECT 1",
        "CREATE MACRO m(a) AS a",
        "CREATE OR REPLACE VIEW sales AS SELECT 1",
        "MERGE INTO sales USING sales AS s ON false WHEN NOT MATCHED THEN INSERT *",
        "ATTACH 'OUT/mine.db'",
        "DETACH memory",
        "COPY sales TO 'OUT/mine.csv'",
        "COPY (SELECT 1) TO 'OUT/mine.parquet'",
        "COPY sales FROM 'OUT/secret.csv'",
        "EXPORT DATABASE 'OUT/mine'",
        "IMPORT DATABASE 'OUT'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "LOAD 'OUT/mine.duckdb_extension'",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET memory_limit = '100GB'",
        "RESET threads",
        "PRAGMA enable_external_access = true",
        "PRAGMA database_list",
        "CALL enable_logging(storage = 'file', storage_path = 'OUT/log')",
        "CALL pragma_version()",
        "CHECKPOINT",
        "VACUUM",
        "BEGIN",
        "USE temp",
        "PREPARE p AS SELECT 1",
        "EXPLAIN ANALYZE COPY sales TO 'OUT/mine.csv'",
        "EXPLAIN ANALYZE DELETE FROM sales",
        "CREATE SECRET s (TYPE http, BEARER_TOKEN 'x')",
        "CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 'x')",
        "SET VARIABLE x = 1",
        "COMMENT ON TABLE sales IS 'x'",
    ],
)
def test_f19_statements_that_do_more_than_read_are_refused(
    tools: SqlTools, outside: Path, statement: str
) -> None:
    """F19: writing, attaching, copying, installing, changing settings."""
    said = refusal(tools, statement.replace("OUT", str(outside)))
    assert "use SELECT, WITH, DESCRIBE" in said


@pytest.mark.parametrize(
    "statement",
    [
        "WITH x AS (DELETE FROM sales RETURNING *) SELECT * FROM x",
        "WITH x AS (INSERT INTO sales SELECT * FROM sales RETURNING *) SELECT * FROM x",
        "WITH x AS (UPDATE sales SET revenue = 0 RETURNING *) SELECT * FROM x",
        "WITH x AS (COPY sales TO 'OUT/mine.csv') SELECT * FROM x",
        "SELECT * FROM (COPY sales TO 'OUT/mine.csv')",
        "SELECT 1) TO 'OUT/mine.csv'; --",
        "SELECT 1); DROP TABLE sales; SELECT (1",
        "SELECT 1; DROP TABLE sales",
        "SELECT * FROM query('DELETE FROM sales')",
    ],
)
def test_f19_statements_that_look_like_reading_and_write_are_refused(
    tools: SqlTools, outside: Path, statement: str
) -> None:
    """F19: a SELECT may hold a DELETE; the parser alone calls that a SELECT."""
    refusal(tools, statement.replace("OUT", str(outside)))


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM 'OUT/secret.csv'",
        "DESCRIBE 'OUT/secret.csv'",
        "SUMMARIZE 'OUT/secret.csv'",
        "SELECT * FROM read_csv('OUT/secret.csv')",
        "SELECT * FROM read_csv('OUT/*.csv')",
        "SELECT * FROM read_json('OUT/secret.json')",
        "SELECT * FROM read_ndjson_objects('OUT/secret.json')",
        "SELECT * FROM read_text('OUT/secret.txt')",
        "SELECT * FROM read_blob('OUT/secret.txt')",
        "SELECT * FROM read_parquet('OUT/secret.csv')",
        "SELECT * FROM parquet_metadata('OUT/secret.csv')",
        "SELECT * FROM sniff_csv('OUT/secret.csv')",
        "SELECT * FROM read_duckdb('OUT/mine.db')",
        "SELECT * FROM glob('OUT/*')",
        "SELECT * FROM query('SELECT * FROM read_text(''OUT/secret.txt'')')",
        "SELECT * FROM json_execute_serialized_sql("
        "json_serialize_sql('SELECT * FROM read_text(''OUT/secret.txt'')'))",
        "SELECT * FROM read_text('/proc/self/environ')",
        "SELECT * FROM read_text('tables.duckdb')",
        "SELECT * FROM read_csv('http://127.0.0.1:9/secret.csv')",
        "SELECT * FROM read_text('https://example.com/')",
        "SELECT getenv('HOME')",
        "SELECT * FROM enable_logging(storage = 'file', storage_path = 'OUT/log')",
        "SELECT * FROM enable_profiling(save_location = 'OUT/profile')",
        "SELECT * FROM register_external_resource('x')",
        "SELECT * FROM duckdb_extensions()",
        "SELECT * FROM statement",
        "SELECT * FROM connection",
    ],
)
def test_f19_nothing_outside_of_the_tables_can_be_read(
    tools: SqlTools, outside: Path, statement: str
) -> None:
    """F19: files, folders, addresses, the environment, variables of the program."""
    assert SECRET not in refusal(tools, statement.replace("OUT", str(outside)))


def test_f19_a_new_process_refuses_it_as_well(tmp_path: Path, outside: Path) -> None:
    """F19: as a model's statements are run; all others here run in forks, to save time."""
    with tools_over(tmp_path, answer=in_new_process, sales_csv=SALES) as tools:
        for statement in ("DELETE FROM sales", "SELECT * FROM read_text('OUT/secret.txt')"):
            assert SECRET not in refusal(tools, statement.replace("OUT", str(outside)))
        assert tools.query("SELECT count(*) FROM sales").split("\n")[1] == "6"


def test_f19_what_can_be_asked_of_the_database_tells_nothing_of_the_machine(
    tools: SqlTools,
) -> None:
    """F19: no secrets are stored, and settings name no folder of the user's."""
    assert tools.query("SELECT * FROM duckdb_secrets()").endswith("(0 rows)")
    home = str(Path.home())
    assert home not in tools.query("SELECT current_setting('secret_directory')")
    assert home not in tools.query("SELECT value FROM duckdb_settings() WHERE value LIKE '/%'")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM range(1000000) a, range(1000000) b",
        "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r",
        "SELECT sum(hash(a.range, b.range)) FROM range(10000000) a, range(10000000) b",
    ],
)
def test_f19_a_query_that_never_ends_is_ended(tmp_path: Path, statement: str) -> None:
    """F19: the time is up for the query, not for the one who asked."""
    with tools_over(tmp_path, query_timeout_s=0.4, sales_csv=SALES) as hurried:
        assert "was not done after 0.4 s" in refusal(hurried, statement)


def test_f19_a_function_that_fills_the_memory_slowly_is_ended(tmp_path: Path) -> None:
    """F19: by the bound that it comes to first."""
    with tools_over(tmp_path, query_timeout_s=0.4, sales_csv=SALES) as hurried:
        said = refusal(hurried, "SELECT length(lpad('x', 2000000000, 'y'))")
    assert "memory" in said or "was not done" in said


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT length(repeat('a', 4000000000))",
        "SELECT len(range(2000000000))",
        "WITH RECURSIVE r AS (SELECT 'a' AS s UNION ALL SELECT s || s FROM r) "
        "SELECT max(length(s)) FROM r",
        "SELECT list(a.range) FROM range(100000) a, range(100000) b",
    ],
)
def test_f19_a_query_that_fills_the_memory_takes_only_itself_along(
    tools: SqlTools, statement: str
) -> None:
    """F19: functions that allocate beside the database's own accounts are bounded too."""
    assert "it needs more memory than there is for it" in refusal(tools, statement)


def test_f19_a_statement_nested_beyond_measure_is_refused(tools: SqlTools) -> None:
    """F19: the parser's own depth is bounded."""
    refusal(tools, "SELECT " + "(" * 4_900 + "1" + ")" * 4_900)


def test_f19_after_all_attacks_everything_is_as_it_was(tools: SqlTools, outside: Path) -> None:
    """F19: runs last in this file; the tables, the folder beside them, and the tools."""
    assert tools.query("SELECT count(*), sum(revenue) FROM sales").split("\n")[1] == "6 | 485.5"
    assert tools.query("SHOW TABLES") == "name\nsales\n(1 row)"
    assert sorted(file.name for file in outside.iterdir()) == [
        "secret.csv",
        "secret.json",
        "secret.txt",
    ]


def test_a_lone_surrogate_in_a_statement_is_named_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with tools_over(tmp_path) as tools:
        with pytest.raises(ToolCallError, match=r"character 9 .* lone surrogate \(U\+D800\)"):
            tools.query("SELECT '\ud800'")
        assert "1 row" in tools.query("SELECT a FROM a")
