"""The mark and colour of each task status, and what stands for marks without Unicode."""

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
ASCII = {"✓": "+", "✗": "x", "▲": "!", "●": "*", "·": "-", "•": "*", "→": ">", "┄": "~"}
"""The marks for terminals that can't show them."""
