"""What `--debug` shows: the tracebacks of leadhand's own errors and of workers' exceptions."""

import os
import sys
import traceback

from leadhand.cli.views.terminal import safe_block
from leadhand.contracts import events
from leadhand.redaction import Redactor


def show_error(error: BaseException) -> None:
    """Print the traceback of `error` on stderr, without secrets."""
    _write(Redactor.of(os.environ)("".join(traceback.format_exception(error))))


def show_failure(event: events.Event) -> None:
    """Print the traceback of a worker's exception on stderr, if the event has one."""
    if isinstance(event, events.TaskFailed) and event.raised is not None and event.raised.traceback:
        _write(f"task {event.task_id}, attempt {event.attempt}:\n{event.raised.traceback}")


def _write(text: str) -> None:
    sys.stderr.write(safe_block(text.rstrip("\n")) + "\n")
