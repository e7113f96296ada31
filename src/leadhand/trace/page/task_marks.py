"""Marks and anchors of tasks in the page."""

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


def anchor(path: str) -> str:
    """The HTML id of a task, whatever characters its own id has."""
    return f"t-{hashlib.sha256(path.encode('utf-8', 'replace')).hexdigest()[:12]}"
