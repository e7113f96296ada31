"""Calendar files that calendars accept."""

import datetime as dt
import re

from icalendar import Calendar

from leadhand_teams.shared.calendar import Event, calendar

AT = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)


def test_events_have_days_and_a_stable_id() -> None:
    events = [
        Event("Notice; to Ümit, by\nletter", dt.date(2026, 3, 1), text="§ 4"),
        Event("Launch", dt.date(2026, 5, 1), dt.date(2026, 5, 3)),
    ]
    made = calendar(events, name="Contract", at=AT)
    again = calendar(events, name="Contract", at=AT + dt.timedelta(days=1))
    texts = [data.decode().replace("\r\n ", "") for data in (made, again)]
    assert Calendar.from_ical(made).errors == []
    lines = texts[0].split("\r\n")
    assert lines.count("BEGIN:VEVENT") == 2
    assert "SUMMARY:Notice\\; to Ümit\\, by\\nletter" in lines
    assert "DTEND;VALUE=DATE:20260504" in lines
    ids = [re.findall("UID:.*", text) for text in texts]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 3  # with that of the calendar
