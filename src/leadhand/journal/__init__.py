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
    from leadhand.journal.memory import MemoryJournal, MemoryStore
    from leadhand.journal.store import Store
    from leadhand.journal.store_journal import StoreJournal

__all__ = [
    "MemoryJournal",
    "MemoryStore",
    "StoreJournal",
    "journal_damage",
    "journal_location",
    "open_journal",
    "open_store",
]

__getattr__ = lazy_attributes(
    __name__, {"memory": "MemoryJournal MemoryStore", "store_journal": "StoreJournal"}
)


def open_journal(home: str | Path, *, redact: "Redact | None" = None) -> "StoreJournal":
    """The journal in a folder or a database, as `open_store` takes it."""
    from leadhand.journal.store_journal import StoreJournal

    return StoreJournal(open_store(home, redact=redact))


def journal_damage(home: str | Path, *, accept_loss: bool = False) -> str | None:
    """What is wrong with a journal as a whole, so that it can't be written; `None` if nothing is.

    With `accept_loss`, what the damage hides is dropped, and it can be; a copy of everything stays.
    Raises `JournalError`.
    """
    place = journal_location(home)
    if isinstance(place, str):
        return None  # Postgres checks its own log
    from leadhand.journal.sqlite import FILE, SqliteDatabase

    return SqliteDatabase(place / FILE).damage(accept_loss=accept_loss)


def open_store(home: str | Path, *, redact: "Redact | None" = None) -> "Store":
    """The store in a folder, or in a database if `home` is a `postgresql://` URL.

    `redact` removes secrets from everything that is written. Raises `InputError` for anything else,
    and if the library that the database needs is not installed.
    """
    place = journal_location(home)
    if isinstance(place, str):
        try:
            from leadhand.journal.postgres import PostgresStore
        except ImportError as error:  # psycopg itself may lack libpq
            if error.name is not None and error.name.partition(".")[0] != "psycopg":
                raise
            raise InputError(
                "a journal in Postgres needs psycopg: `pip install 'leadhand[postgres]'`"
            ) from None
        return PostgresStore(place, redact=redact)
    from leadhand.journal.sqlite import SqliteStore

    return SqliteStore(place, redact=redact)
