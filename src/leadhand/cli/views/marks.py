"""The mark and the colour of each task status, wherever the command line shows one."""

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
"""For terminals that lack them."""


def drawable(encoding: str) -> bool:
    """Whether the marks can be written in `encoding`."""
    try:
        "✓✗▲●·→┄".encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
