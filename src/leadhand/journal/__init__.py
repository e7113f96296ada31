"""Journals keep runs in memory, SQLite, Postgres, or where an installed package keeps them.

Their protocol is `Store`. A journal's libraries are imported when it is opened.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

from leadhand.errors import InputError
from leadhand.journal.location import installed_journal, journal_location
from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.journal.codec import Redact, decode, decode_message, encode, encode_message
    from leadhand.journal.group_commit import EventBatch, GroupCommit
    from leadhand.journal.locks import Locks
    from leadhand.journal.notes import notes_of, prefixed
    from leadhand.journal.store import Store
    from leadhand.journal.store_journal import MemoryJournal, MemoryStore, StoreJournal
    from leadhand.journal.summaries import StoredSummary
    from leadhand.ports import Journal

__all__ = [
    "EventBatch",
    "GroupCommit",
    "Locks",
    "MemoryJournal",
    "MemoryStore",
    "Redact",
    "Store",
    "StoreJournal",
    "StoredSummary",
    "decode",
    "decode_message",
    "encode",
    "encode_message",
    "journal_damage",
    "journal_location",
    "journal_over",
    "notes_of",
    "open_journal",
    "open_store",
    "prefixed",
]

__getattr__ = lazy_imports(__name__)


def open_journal(home: str | Path, *, redact: "Redact | None" = None) -> "StoreJournal":
    """The journal in a folder or a database, as `open_store` takes it.

    Without `redact`, secrets are removed as `Supervisor(home=...)` removes them.
    """
    from leadhand.journal.store_journal import StoreJournal
    from leadhand.redaction import Redactor

    return StoreJournal(open_store(home, redact=redact or Redactor.of(os.environ)))


def journal_over(given: "Journal | Store") -> "Journal":
    """A journal of a store, which is called in threads if it blocks; a journal as it is."""
    from leadhand.journal.store_journal import StoreJournal

    # Not by the protocol: a check at run time would look at every member.
    return (
        StoreJournal(cast("Store", given)) if hasattr(given, "blocks") else cast("Journal", given)
    )


def journal_damage(home: str | Path, *, accept_loss: bool = False) -> str | None:
    """What is wrong with a journal as a whole, so that it can't be written.

    With `accept_loss`, what the damage hides is dropped; a copy of everything stays. Raises
    `JournalError`.
    """
    place = journal_location(home)
    if isinstance(place, str):
        return None  # a database checks its own log
    from leadhand.journal.sqlite import FILE, SqliteDatabase

    return SqliteDatabase(place / FILE).damage(accept_loss=accept_loss)


def open_store(home: str | Path, *, redact: "Redact | None" = None) -> "Store":
    """The store in a folder, or in a database if `home` is the URL of one.

    `redact` removes secrets from everything that is written. Raises `InputError` for anything else,
    and for a database whose library can't be imported.
    """
    place = journal_location(home)
    if isinstance(place, str) and not place.startswith("postgres"):
        return _installed(place, redact)
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


def _installed(url: str, redact: "Redact | None") -> "Store":
    """The store of an installed package, made by `function(url, redact=...)`."""
    scheme = url.partition("://")[0]
    point = installed_journal(scheme)
    assert point is not None, "the location was checked"
    try:
        return point.load()(url, redact=redact)
    except InputError:
        raise
    except (Exception, SystemExit) as error:  # the package's code may raise anything
        why = f"{type(error).__name__}: {error}"
        raise InputError(
            f"the journal for {scheme}:// ({point.value}) can't be used: {why}"
        ) from error
