"""Writes events as a calendar file (iCalendar, RFC 5545)."""

import datetime as dt
import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from leadhand.tools.files import cleaned


class Event(NamedTuple):
    """Something on a day, or on several."""

    title: str
    start: dt.date
    end: dt.date | None = None
    """Its last day; None for one day."""
    text: str = ""


def calendar(events: Iterable[Event], *, name: str, at: dt.datetime) -> bytes:
    """The calendar file; `at`, in UTC, is when it was made.

    An event keeps its id when the file is made again, so that a calendar replaces it.
    """
    import icalendar

    def uid(text: str) -> str:
        return f"{hashlib.sha256(text.encode()).hexdigest()[:32]}@leadhand"

    entries = [
        icalendar.Event.new(
            uid=uid(f"{name}|{event.title}|{event.start}"),
            stamp=at,
            summary=cleaned(event.title),
            description=cleaned(event.text) or None,
            start=event.start,
            # The day after the last one, as the format has it.
            end=(event.end or event.start) + dt.timedelta(days=1),
        )
        for event in events
    ]
    made = icalendar.Calendar.new(
        prodid="-//leadhand//EN", name=cleaned(name), uid=uid(name), subcomponents=entries
    )
    return made.to_ical()
