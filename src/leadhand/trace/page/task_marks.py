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
    """The name of a task's place in the page, whatever characters its id has."""
    return f"t-{hashlib.sha256(path.encode('utf-8', 'replace')).hexdigest()[:12]}"
