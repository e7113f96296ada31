"""Opening a journal: by folder or by URL, with no library loaded that is not needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from leadhand.errors import InputError
from leadhand.journal import open_journal
from leadhand.journal.sqlite import SqliteJournal


@pytest.mark.parametrize("kind", [str, Path])
def test_a_folder_is_kept_in_sqlite(tmp_path: Path, kind: type[str] | type[Path]) -> None:
    journal = open_journal(kind(tmp_path / "home"))
    assert isinstance(journal, SqliteJournal)
    journal.close()


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
    with pytest.raises(InputError, match=r"pip install 'leadhand\[postgres\]'"):
        open_journal("postgresql://localhost/leadhand")
