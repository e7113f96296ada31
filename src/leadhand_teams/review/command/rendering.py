"""Turns a report into the documents of all formats but text for a terminal."""

import json

from leadhand_teams.review.command.formats import DocumentFormat
from leadhand_teams.review.command.markdown import markdown
from leadhand_teams.review.command.oneline import oneline, rdjson
from leadhand_teams.review.command.report import ReviewReport
from leadhand_teams.review.command.sarif import sarif


def rendered(report: ReviewReport, format: DocumentFormat) -> str:
    """`report` as a document."""
    match format:
        case "json":
            return _json(report.answer.model_dump(mode="json"))
        case "markdown":
            return markdown(report)
        case "sarif":
            return _json(sarif(report))
        case "oneline":
            return oneline(report)
        case "rdjson":
            return _json(rdjson(report))


def _json(document: object) -> str:
    # pydantic's own JSON refuses lone surrogates, which broken encodings leave in text, and does
    # not escape control and bidirectional characters.
    return json.dumps(document, indent=2) + "\n"
