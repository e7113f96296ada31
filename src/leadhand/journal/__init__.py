"""Where runs are kept: one contract (`leadhand.ports.Journal`), one module for each kind of place.

A journal's libraries are imported when it is opened, and not before.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from leadhand.errors import InputError
from leadhand.journal.location import journal_location
from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.journal.codec import Redact
    from leadhand.journal.memory import MemoryJournal
    from leadhand.ports import Journal

__all__ = ["MemoryJournal", "journal_location", "open_journal"]

__getattr__ = lazy_attributes(__name__, {"MemoryJournal": "memory"})


def open_journal(home: str | Path, *, redact: "Redact | None" = None) -> "Journal":
    """The journal in a folder, or in a database where `home` is a `postgresql://` URL.

    `redact` takes secrets out of whatever is written. Raises `InputError` for what is
    neither, and where the library that the database needs is not installed.
    """
    place = journal_location(home)
    if isinstance(place, str):
        try:
            from leadhand.journal.postgres import PostgresJournal
        except ImportError as error:  # psycopg without a part of its own is no module not found
            if error.name is not None and error.name.partition(".")[0] != "psycopg":
                raise
            raise InputError(
                "a journal in Postgres needs psycopg: `pip install 'leadhand[postgres]'`"
            ) from None
        return PostgresJournal(place, redact=redact)
    from leadhand.journal.sqlite import SqliteJournal

    return SqliteJournal(place, redact=redact)
