"""The mark and colour of each task status."""

MARKS: dict[str, tuple[str, str]] = {
    "pending": ("·", "dim"),
    "running": ("●", "cyan"),
    "completed": ("✓", "green"),
    "escalated": ("▲", "yellow"),
    "failed": ("✗", "red"),
    "timed_out": ("✗", "red"),
    "cancelled": ("✗", "yellow"),
    "skipped": ("-", "yellow"),
}
ASCII = str.maketrans({"✓": "+", "✗": "x", "▲": "!", "●": "*", "·": "-", "→": ">", "┄": "~"})
"""For terminals that can't show the others."""


def drawable(encoding: str) -> bool:
    """Whether the marks can be written in `encoding`."""
    try:
        "✓✗▲●·→┄".encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
