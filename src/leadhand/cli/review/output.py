"""Prints a review on stdout in the requested format."""

import json
import os
import sys
from pathlib import Path

from leadhand.cli.options import ReviewFormat
from leadhand.cli.review.github import annotate
from leadhand.cli.review.markdown import markdown
from leadhand.cli.review.report import ReviewReport
from leadhand.cli.review.sarif import sarif
from leadhand.cli.review.text import show_review
from leadhand.cli.views.consoles import DataConsole


def show(report: ReviewReport, format: ReviewFormat) -> None:
    """Print `report` on stdout; `github` also appends to GitHub's summary file."""
    match format:
        case "text":
            show_review(report, DataConsole())
        case "json":
            _write(_json(report.answer.model_dump(mode="json")))
        case "markdown":
            _write(markdown(report))
        case "sarif":
            _write(_json(sarif(report)))
        case "github":
            summary = os.environ.get("GITHUB_STEP_SUMMARY")
            _write(annotate(report, Path(summary) if summary else None))


def _json(document: object) -> str:
    # pydantic's own JSON refuses lone surrogates, which broken encodings leave in text, and does
    # not escape control and bidirectional characters.
    return json.dumps(document, indent=2) + "\n"


def _write(text: str) -> None:
    """Write UTF-8 in any locale."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()
