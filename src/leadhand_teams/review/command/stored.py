"""The formats of stored reviews: `leadhand show RUN` prints `text`, `--format NAME` the others."""

from collections.abc import Callable

from leadhand import InputError, RunView
from leadhand.extension.output import DataConsole
from leadhand_teams.review import DEFAULT_THRESHOLD, DocumentFormat
from leadhand_teams.review.command.rendering import rendered
from leadhand_teams.review.command.report import ReviewReport, Subject
from leadhand_teams.review.command.text import show_review


def stored_text(run: RunView) -> str:
    """A stored review as the terminal shows it. Raises `InputError` if it has no report yet."""
    console = DataConsole()
    with console.capture() as captured:
        show_review(_report(run), console)
    return captured.get()


def _stored(format: DocumentFormat) -> Callable[[RunView], str]:
    return lambda run: rendered(_report(run), format)


stored_markdown = _stored("markdown")
stored_oneline = _stored("oneline")
stored_rdjson = _stored("rdjson")
stored_sarif = _stored("sarif")


def _report(run: RunView) -> ReviewReport:
    if run.answer is None or run.answer.output is None:
        raise InputError(f"review {run.run_id!r} has no report yet")
    threshold = run.origin.get("threshold")
    known = threshold if isinstance(threshold, int) else DEFAULT_THRESHOLD
    return ReviewReport.of(run.answer, Subject(run.request), known)
