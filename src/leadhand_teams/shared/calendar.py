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
    reminder_days: int | None = None
    """Days before the start; None for no reminder."""


def calendar(events: Iterable[Event], *, name: str, at: dt.datetime) -> bytes:
    """The calendar file; `at`, in UTC, is when it was made.

    An event keeps its id when the file is made again, so that a calendar replaces it.
    """
    from icalendar import Alarm, Calendar, Component
    from icalendar import Event as Entry

    def filled(component: Component, **properties: object) -> Component:
        for key, value in properties.items():
            component.add(key.replace("_", "-"), value)  # pyright: ignore[reportUnknownMemberType]
        return component

    made = filled(Calendar(), prodid="-//leadhand//EN", version="2.0", x_wr_calname=cleaned(name))
    for event in events:
        key = hashlib.sha256(f"{name}|{event.title}|{event.start}".encode()).hexdigest()[:32]
        title = cleaned(event.title)
        entry = filled(
            Entry(),
            uid=f"{key}@leadhand",
            dtstamp=at,
            summary=title,
            dtstart=event.start,
            # The day after the last one, as the format has it.
            dtend=(event.end or event.start) + dt.timedelta(days=1),
        )
        if event.text:
            filled(entry, description=cleaned(event.text))
        if event.reminder_days is not None:
            before = -dt.timedelta(days=event.reminder_days)
            alarm = filled(Alarm(), action="DISPLAY", description=title, trigger=before)
            entry.add_component(alarm)
        made.add_component(entry)
    return made.to_ical()
