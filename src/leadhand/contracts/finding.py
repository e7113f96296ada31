"""What a review says of a change: findings, and what nobody looked at.

Data only. Where a finding's confidence comes from is the synthesizer's business; a worker that
reports one leaves it at 0.
"""

from typing import Literal

from pydantic import Field

from leadhand.contracts.record import Record

Severity = Literal["critical", "warning", "info"]
FindingSource = Literal["analyser", "model"]


class Finding(Record):
    """One problem in one place of a change, with the words of the change that show it."""

    id: str = ""
    """Fingerprint, the same across line shifts and pushes; set by the synthesizer."""
    path: str
    """Path in the new tree (in the old one where the file was deleted), `/` between its parts."""
    line: int = Field(ge=1)
    """First line, from 1, in the new file; for removed code, the line that now stands there."""
    end_line: int = Field(ge=1)
    """Last line, inclusive."""
    severity: Severity
    category: str
    """What kind of problem: `security`, `bugs`, `performance`, ..."""
    rule: str
    """`lens/name` of the rule that fired, for example `security/yaml-load`."""
    message: str
    """What is wrong here and why it matters; one or two sentences, naming the symbols involved."""
    suggestion: str = ""
    """What to do about it; one sentence or a line of code."""
    evidence: str
    """Verbatim quote of one or more whole or partial lines that the change adds or removes."""
    source: FindingSource = "analyser"
    """Whether code or a model found it."""
    confidence: int = Field(default=0, ge=0, le=100)
    """How sure, 0 to 100: measured for an analyser's rule; for what a model found the score that an
    independent look gave it. Never chosen by whoever reports the finding."""
    why: str = ""
    """What speaks for the confidence, where it is a score."""
    lenses: tuple[str, ...] = ()
    """The workers that saw it; set by the synthesizer."""


class NotAssessed(Record):
    """Something a lens did not look at, and why."""

    lens: str
    path: str | None = None
    """The file, or none where the whole lens had nothing to go on."""
    why: str


class LensReport(Record):
    """What one lens returns for one task."""

    findings: tuple[Finding, ...] = ()
    not_assessed: tuple[NotAssessed, ...] = ()
