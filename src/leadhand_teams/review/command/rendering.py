"""Turns a report into the documents of all formats but text for a terminal."""

import json
from collections.abc import Callable, Mapping

from leadhand_teams.review import DocumentFormat
from leadhand_teams.review.command.markdown import markdown
from leadhand_teams.review.command.oneline import oneline, rdjson
from leadhand_teams.review.command.report import ReviewReport
from leadhand_teams.review.command.sarif import sarif

DOCUMENTS: Mapping[DocumentFormat, Callable[[ReviewReport], object]] = {
    "json": lambda report: report.answer.model_dump(mode="json"),
    "markdown": markdown,
    "sarif": sarif,
    "oneline": oneline,
    "rdjson": rdjson,
}
"""A text, or what is written as JSON."""


def rendered(report: ReviewReport, format: DocumentFormat) -> str:
    """`report` as a document."""
    document = DOCUMENTS[format](report)
    # pydantic's own JSON refuses lone surrogates, which broken encodings leave in text, and does
    # not escape control and bidirectional characters.
    return document if isinstance(document, str) else json.dumps(document, indent=2) + "\n"
