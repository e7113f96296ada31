"""Journals keep runs in memory, SQLite or Postgres; their protocol is `leadhand.ports.Journal`.

A journal's libraries are imported when it is opened.
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

__getattr__ = lazy_attributes(__name__, {"memory": "MemoryJournal"})


def open_journal(home: str | Path, *, redact: "Redact | None" = None) -> "Journal":
    """The journal in a folder, or in a database if `home` is a `postgresql://` URL.

    `redact` removes secrets from everything that is written. Raises `InputError` for anything else,
    and if the library that the database needs is not installed.
    """
    place = journal_location(home)
    if isinstance(place, str):
        try:
            from leadhand.journal.postgres import PostgresJournal
        except ImportError as error:  # psycopg itself may lack libpq
            if error.name is not None and error.name.partition(".")[0] != "psycopg":
                raise
            raise InputError(
                "a journal in Postgres needs psycopg: `pip install 'leadhand[postgres]'`"
            ) from None
        return PostgresJournal(place, redact=redact)
    from leadhand.journal.sqlite import SqliteJournal

    return SqliteJournal(place, redact=redact)
