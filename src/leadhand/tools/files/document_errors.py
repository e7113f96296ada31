"""The exceptions of the format readers `pdf`, `docx` and `web_page`.

Each reader has a function `pages(stream) -> Iterator[str]`, and runs only in `child`.
"""


class UnreadableDocument(Exception):
    """The file can't be read; the message says why, and what to do."""


class TruncatedDocument(Exception):
    """The rest of the file is not read; the message says how much was."""
