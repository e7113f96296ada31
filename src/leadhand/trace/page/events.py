"""The table of events, with a filter; a click shows a whole event."""

import json
from collections.abc import Iterator, Sequence
from typing import cast

from pydantic import JsonValue

from leadhand.contracts.events import Event, dump
from leadhand.trace.formatting import format_duration
from leadhand.trace.page.markup import Html, joined, tag

MAX_EVENTS = 5_000
MAX_CHARS = 4_000
"""Of one event."""
_MAX_SUMMARY_CHARS = 160
_STAMP = frozenset(
    {"seq", "at", "elapsed_s", "run_id", "within", "type", "task_id", "attempt"}
)  # these have their own columns, or say nothing new


def events_table(events: Sequence[Event]) -> Iterator[Html]:
    shown = events[:MAX_EVENTS]
    kinds = sorted({event.type for event in shown})
    yield tag(
        "p",
        tag("label", "Type ", tag("select", *map(_option, ["", *kinds]), id="kind")),
        " ",
        tag("label", "Holds ", tag("input", type="search", id="words", autocomplete="off")),
        " ",
        tag("output", f"{len(shown):,} events", id="count", class_="quiet"),
        class_="filter",
    )
    heads = (tag("th", name, scope="col") for name in ("#", "after", "type", "task", "what"))
    yield Html(
        '<div class="scroll tall" tabindex="0" role="region" aria-label="Events">'
        f'<table class="events"><thead>{tag("tr", *heads)}</thead><tbody id="rows">'
    )
    for event in shown:
        yield _row(event)
    yield Html("</tbody></table></div>")
    if len(events) > MAX_EVENTS:
        more = f"{len(events) - MAX_EVENTS:,} more events: `leadhand trace --format json` has them."
        yield tag("p", more, class_="quiet")


def _option(kind: str) -> Html:
    return tag("option", kind or "all", value=kind)


def _row(event: Event) -> Html:
    fields = cast("dict[str, JsonValue]", json.loads(dump(event)))
    task, attempt = fields.get("task_id"), fields.get("attempt")
    who = f"{task}" if task is not None else "/".join(event.within)
    again = f" ×{attempt}" if isinstance(attempt, int) and attempt > 1 else ""
    return tag(
        "tr",
        tag("td", f"{event.seq}"),
        tag("td", format_duration(event.elapsed_s)),
        tag("td", event.type),
        tag("td", f"{who}{again}"),
        tag("td", _what(fields)),
    )


def _what(fields: dict[str, JsonValue]) -> Html:
    told = {
        name: value
        for name, value in fields.items()
        if name not in _STAMP and value not in (None, "", [], {})
    }
    if not told:
        return Html()
    line = " · ".join(f"{name}: {_plain(value)}" for name, value in told.items())
    if len(line) <= _MAX_SUMMARY_CHARS:
        return joined(line)
    text = json.dumps(told, indent=1, ensure_ascii=False)
    cut = f"{text[:MAX_CHARS]}\n… {len(text):,} characters in all"
    return tag(
        "details",
        tag("summary", f"{line[:_MAX_SUMMARY_CHARS]}…"),
        tag("pre", text if len(text) <= MAX_CHARS else cut),
    )


def _plain(value: JsonValue) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text[: 2 * _MAX_SUMMARY_CHARS].split())
