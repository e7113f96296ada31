"""Spans, prices, marks and anchors as the page writes them."""

import hashlib

MARKS = {
    "pending": "○",
    "running": "●",
    "completed": "✓",
    "escalated": "▲",
    "failed": "✗",
    "timed_out": "✗",
    "cancelled": "✗",
    "skipped": "–",
}


def span(taken_s: float) -> str:
    """A time span: `3 ms`, `2.1 s`, `4 min 9 s`, `2 h 5 min`."""
    if taken_s < 1:
        return f"{1000 * taken_s:.0f} ms"
    if taken_s < 60:
        return f"{taken_s:.1f} s"
    minutes, seconds = divmod(round(taken_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


def price(usd: float | None) -> str:
    """A price; an unknown one is unknown, never nothing."""
    if usd is None:
        return "unknown"
    if 0 < usd < 0.0001:
        return "under $0.0001"
    return f"${usd:.4f}" if usd < 1 else f"${usd:,.2f}"


def anchor(way: str) -> str:
    """The name of a task's place in the page, whatever characters its id has."""
    return f"t-{hashlib.sha256(way.encode('utf-8', 'replace')).hexdigest()[:12]}"
