"""Renders a review as SARIF 2.1.0 (OASIS), for code scanning services and editors.

These programs render links in messages, so text is changed to contain none.
"""

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from pydantic import JsonValue

from leadhand import __version__
from leadhand.extension.findings import Finding, Severity
from leadhand.extension.output import safe, sentence
from leadhand_teams.review.command.report import ReviewReport, Section, every
from leadhand_teams.review.rules import LensRule
from leadhand_teams.review.syntax import texts_of

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

Json = dict[str, JsonValue]

_LEVELS: dict[Severity, str] = {"critical": "error", "warning": "warning", "info": "note"}
_NOTIFICATIONS = texts_of("notifications")


def sarif(report: ReviewReport) -> Json:
    """The SARIF log of a review: one run; what needs a look has the level `note`, and suppressed
    findings are suppressed results, notes too: not every reader of SARIF knows suppressions."""
    review = report.review
    known = {rule.id: rule for rule in report.rules}
    found = {_plain(one.rule): _plain(one.category) for one, _ in every(review)}
    index = {name: position for position, name in enumerate(sorted(found))}
    results: list[JsonValue] = [
        _result(one, section, report, index) for one, section in every(review)
    ]
    driver: Json = {
        "name": "leadhand",
        "version": __version__,
        "rules": [_descriptor(name, found[name], known.get(name)) for name in index],
        "notifications": [
            {"id": name, "shortDescription": {"text": text}}
            for name, text in _NOTIFICATIONS.items()
        ],
    }
    invocation: Json = {
        "executionSuccessful": report.answer.status == "complete",
        "toolExecutionNotifications": list(_notifications(report)),
    }
    run: Json = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "results": results,
        "properties": {"engine": report.answer.engine, "status": report.answer.status},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def uri(path: str) -> str:
    """`path` as a relative URI reference, percent-encoded."""
    return quote(path.lstrip("/").encode("utf-8", "backslashreplace"), safe="/")


def _descriptor(name: str, category: str, rule: LensRule | None) -> Json:
    """What a rule is; of one that a model named, its name alone is known."""
    described: Json = {
        "id": name,
        "shortDescription": {"text": _title(name)},
        "properties": {"tags": [category]},
    }
    if rule is None:
        return described
    markdown = f"{rule.why}\n\n**What to do:** {rule.fix}"
    more: Json = {
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why}\n\n{rule.fix}", "markdown": markdown},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }
    return described | more


def _title(rule: str) -> str:
    words = _plain(rule).rsplit("/", 1)[-1].replace("-", " ")
    return words[:1].upper() + words[1:]


def _result(
    finding: Finding, section: Section, report: ReviewReport, index: dict[str, int]
) -> Json:
    rule, quoted = _plain(finding.rule), report.review.quotes.get(finding.id)
    advice = f"\nWhat to do: {_plain(finding.suggestion)}" if finding.suggestion else ""
    properties: Json = {
        "category": _plain(finding.category),
        "confidence": finding.confidence,
        "basis": finding.basis,
        "source": finding.source,
        "evidence": _verbatim(finding.evidence),
        "lenses": [_plain(lens) for lens in finding.lenses],
    }
    if finding.why:
        properties["why"] = _plain(finding.why)
    if quoted is not None:
        properties["quoted"] = {"side": quoted.side, "lines": list(quoted.lines)}
    made: Json = {
        "ruleId": rule,
        "ruleIndex": index[rule],
        "level": _LEVELS[finding.severity] if section == "findings" else "note",
        "rank": finding.confidence,
        "message": {"text": _plain(finding.message) + advice},
        "locations": [_location(finding.path, finding.line, finding.end_line)],
        # Code scanning tracks an alert by the first; the second is our own.
        "partialFingerprints": {
            "primaryLocationLineHash": _plain(finding.id),
            "leadhandFinding/v1": _plain(finding.id),
        },
        "properties": properties,
    }
    if section == "suppressed":
        scored = f" {_plain(finding.why)}" if finding.basis == "model" else ""
        why = f"Confidence below the threshold of {report.threshold}.{scored}"
        made["suppressions"] = [{"kind": "external", "justification": why}]
    if finding.places:
        made["relatedLocations"] = [
            {"id": number, **_location(one.path, one.line, one.end_line)}
            for number, one in enumerate(finding.places, 1)
        ]
    return made


def _location(path: str, line: int | None = None, end_line: int = 0) -> Json:
    place: Json = {"artifactLocation": {"uri": uri(path), "uriBaseId": "%SRCROOT%"}}
    if line is not None:
        place["region"] = {"startLine": line, "endLine": max(line, end_line)}
    return {"physicalLocation": place}


def _notifications(report: ReviewReport) -> Iterator[Json]:
    review = report.review
    for gap in report.answer.gaps:
        yield _notification("gap", "error", f"{gap.task_id}: {gap.why}")
    for row in review.dropped:
        text = f"{row.rule} in line {row.line}: its quote is not in the change."
        yield _notification("dropped", "warning", text, [_location(row.path, row.line)])
    for note in (note for note in review.not_assessed if not note.idle):
        at = [_location(note.path)] if note.path is not None else []
        yield _notification("not-assessed", "note", f"{note.lens}: {note.why}", at)
    for note in review.notes:
        at = [_location(note.path, note.line)] if note.path is not None else []
        yield _notification(note.kind, "warning" if note.attempt else "note", note.text, at)
    for kind, words in report.left_out:
        yield _notification(kind.replace(" ", "-"), "note", f"{kind.capitalize()}: {words}.")


def _notification(name: str, level: str, text: str, locations: Sequence[Json] = ()) -> Json:
    made: Json = {"descriptor": {"id": name}, "level": level, "message": {"text": _plain(text)}}
    if locations:
        made["locations"] = list(locations)
    return made


def _plain(text: str) -> str:
    """One line without links of the form `[text](target)`."""
    return sentence(text).replace("](", "] (")


def _verbatim(text: str) -> str:
    """A quote with its line ends and tabs; other control characters are escaped."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(safe(part) for part in line.split("\t")) for line in lines)
