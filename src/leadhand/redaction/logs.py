"""Keeps log records to one line each, without secrets."""

import logging
import traceback
from collections.abc import Callable


class RedactingFilter(logging.Filter):
    """Reduces each record to one line without secrets before any handler sees it.

    Add it to each logger: a record passes only the filters of the logger that it is logged to. An
    exception's own text may contain secrets, so it becomes part of the message.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        parts = [_message(record)]
        if record.exc_info and record.exc_info[1]:
            parts.append("".join(traceback.format_exception(record.exc_info[1])).rstrip())
        if record.stack_info:
            parts.append(record.stack_info)
        record.msg = one_line(self._redact("\n".join(parts)))
        record.args = record.exc_info = record.exc_text = record.stack_info = None
        return True


def one_line(text: str) -> str:
    """`text` with line ends, and all else that is not printable, shown as escapes."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # arguments that don't fit; logging itself would print them as they are
        return f"{record.msg} {record.args!r}"


def redact_logger(logger: logging.Logger, redact: Callable[[str], str]) -> None:
    """Redact everything logged to `logger` from now on, with `redact` alone."""
    for old in [entry for entry in logger.filters if isinstance(entry, RedactingFilter)]:
        logger.removeFilter(old)
    logger.addFilter(RedactingFilter(redact))
