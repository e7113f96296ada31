"""The mark and colour of each task status, and what is drawn without Unicode."""

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
_MARKS = {"✓": "+", "✗": "x", "▲": "!", "●": "*", "·": "-", "→": ">", "┄": "~"}
ASCII = str.maketrans(_MARKS | {"│": "|", "─": "-"} | dict.fromkeys("├┤┼╰╯┴╭╮┬", "+"))
"""The marks and the lines of graphs for terminals that can't show them."""


def drawable(encoding: str) -> bool:
    """Whether the marks can be written in `encoding`."""
    try:
        "".join(_MARKS).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
