"""Opening a journal: by folder or by URL, with no library loaded that is not needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from leadhand.errors import InputError
from leadhand.journal import journal_location, open_store
from leadhand.journal.sqlite import SqliteStore


@pytest.mark.parametrize("kind", [str, Path])
def test_a_folder_is_kept_in_sqlite(tmp_path: Path, kind: type[str] | type[Path]) -> None:
    journal = open_store(kind(tmp_path / "home"))
    assert isinstance(journal, SqliteStore)
    journal.close()


@pytest.mark.parametrize(
    "home",
    [
        *("mysql://me:s3cret@there/it", "sqlite:///x", "FILE:///x", " s3://x", "\0", "a\0b"),
        *("host=there password=s3cret", " PASSWORD = s3cret", "~no-such-user/x", "", "  "),
    ],
)
def test_what_is_neither_a_folder_nor_postgres_is_refused(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is made of it, and its password isn't told."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="give a folder or a postgresql:// URL") as refused:
        open_store(home)
    assert "s3cret" not in str(refused.value)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("home", "why"),
    [
        ("MySQL://me@there/it", "no installed package stores runs at mysql://"),
        ("host=there", "… is neither"),
        ("a\0b", "it has a character that no name can have"),
        (" ", "it names nothing"),
        ("~no-such-user/x", "there is no user ~no-such-user"),
    ],
)
def test_why_a_place_is_refused_is_told(home: str, why: str) -> None:
    with pytest.raises(InputError) as refused:
        journal_location(home)
    assert str(refused.value) == f"home: give a folder or a postgresql:// URL; {why}"


@pytest.mark.parametrize("home", ["POSTGRESQL://me@there/it", " postgresql://me@there/it\n"])
def test_the_url_of_postgres_is_known_however_it_is_typed(home: str) -> None:
    assert journal_location(home) == "postgresql://me@there/it"


def test_no_database_library_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, leadhand.journal\n"
        "print([name for name in ('sqlite3', 'psycopg') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_without_its_library_postgres_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name.startswith("leadhand.journal.postgres"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        InputError, match=r"in Postgres needs psycopg: `pip install 'leadhand\[postgres\]'`"
    ):
        open_store("postgresql://localhost/leadhand")
