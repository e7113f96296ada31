"""Integrity: whether a database returns what was written, every row of a run, in order, unchanged.

A row has its position and, since 0.1, a checksum; the run's summary has the position of the last
row.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from leadhand.contracts.summary import Inspection
from leadhand.errors import DamagedRun, JournalError
from leadhand.journal.codec import decode, decompress
from leadhand.journal.summaries import StoredSummary

if TYPE_CHECKING:
    from leadhand.contracts.events import Event

Stored = tuple[int, str | None, bytes | None, int | None]
"""Position, body, compressed body if it is long, and checksum."""


def checksum(run_id: str, seq: int, body: str) -> int:
    """A signed 64-bit integer, as databases have them."""
    digest = hashlib.blake2b(f"{run_id}\0{seq}\0{body}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def read_events(
    run_id: str, rows: Iterable[Stored], *, last: int, after_seq: int = 0
) -> "Iterator[Event]":
    """The events of a run after `after_seq`, each checked before it is yielded.

    `last` is the position of the last event; 0 if unknown. Raises `DamagedRun`, and `JournalError`
    for an event that only a newer leadhand knows.
    """
    seq, verified = after_seq, False
    for found, body, data, known in rows:
        if found != seq + 1:
            raise DamagedRun(run_id, seq + 1, "it is gone" if found > seq else "it is there twice")
        seq = found
        if verified and known is None:
            raise DamagedRun(run_id, seq, "its checksum is gone")
        verified = known is not None
        try:
            text = body if body is not None else decompress(data or b"")
        except JournalError:
            raise DamagedRun(run_id, seq, "its text is gone, or damaged") from None
        if known is not None and known != checksum(run_id, seq, text):
            raise DamagedRun(run_id, seq, "its text is not what was written")
        try:
            event = decode(run_id, seq, text)
        except JournalError as error:
            if known is not None:
                raise
            raise DamagedRun(run_id, seq, str(error)) from None
        yield event
    if seq < last:
        raise DamagedRun(run_id, seq + 1, f"it is gone, with all that follows up to event {last}")


def last_seq(digest: str) -> int:
    """The position of a run's last event, from its stored summary; 0 if unknown."""
    try:
        return StoredSummary.read(digest).seq
    except JournalError:
        return 0


def inspect_run(run_id: str, rows: Iterable[Stored], *, digest: str) -> Inspection:
    """The sound part of a run; its stored summary is checked too."""
    unverified = 0

    def counted() -> Iterator[Stored]:
        nonlocal unverified
        for row in rows:
            unverified += row[3] is None
            yield row

    events: list[Event] = []
    damage = unread = ""
    try:
        # `extend` keeps what comes before the damage.
        events.extend(read_events(run_id, counted(), last=last_seq(digest)))
        damage = _digest_damage(digest, events)
    except DamagedRun as error:
        damage = error.where
    except JournalError as error:
        unread = str(error)
    return Inspection(run_id, tuple(events), damage, unread, unverified)


def _digest_damage(digest: str, events: "Sequence[Event]") -> str:
    try:
        known = StoredSummary.read(digest)
    except JournalError:
        return "its summary in the list can't be read; its events are sound"
    right = StoredSummary.of(events)
    if not known.origin:  # a release that did not keep it there wrote it
        right.origin = {}
    if known.seq and right != known:
        return "its summary in the list is not that of its events, which are sound"
    return ""
