"""How the reader of a format says that it stops; the readers are `pdf`, `docx` and `web_page`.

Each gives `pages(stream) -> Iterator[str]` and runs in `child` only.
"""


class UnreadableDocument(Exception):
    """The file can't be read; the text is half a line that says why and what to do."""


class TruncatedDocument(Exception):
    """There is more than what was given so far; the text is half a line that says how much."""
