"""A piece of what is said of a table."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """Markdown, and what it rests on."""

    body: str
    ref: str = ""
    """The table and how the figures were made of it, as it is cited; empty: nothing to cite."""
    lead: str = ""
    """The line of it that matters most, where there is one."""
