"""What a review reports about a change: findings, and what was not assessed.

Data only. The synthesizer sets a finding's confidence; a worker that reports one leaves it at 0.
"""

from typing import Literal

from pydantic import Field

from leadhand.contracts.record import Record

Severity = Literal["critical", "warning", "info"]
FindingSource = Literal["analyser", "model"]
Basis = Literal["fact", "measured", "model"]


class Place(Record):
    """Lines of a file of the change."""

    id: str = ""
    """The fingerprint of the finding if it were found only here; baselines hide by it."""
    path: str
    line: int = Field(ge=1)
    """First line, from 1."""
    end_line: int = Field(ge=1)
    """Last line, inclusive."""


class Finding(Record):
    """One problem in one place of a change, with the words of the change that show it."""

    id: str = ""
    """Fingerprint, the same across line shifts and pushes; set by the synthesizer."""
    path: str
    """Path in the new tree (in the old one if the file was deleted), with `/` as separator."""
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
    """0 to 100: measured for an analyser's rule, scored by an independent model for a finding by a
    model. Never chosen by the worker that reports the finding."""
    basis: Basis = "measured"
    """What the confidence rests on: a `fact` needs no judgement (100), `measured` are labelled hits
    of the rule, `model` is a score. Set by the synthesizer."""
    why: str = ""
    """The reason for the confidence: labelled hits, or the words of the model that scored it."""
    places: tuple[Place, ...] = ()
    """Further places of the same problem; set by the synthesizer."""
    lenses: tuple[str, ...] = ()
    """The workers that reported it; set by the synthesizer."""


class NotAssessed(Record):
    """Something a lens did not look at, and why."""

    lens: str
    path: str | None = None
    """The file; None if the lens could not assess anything."""
    why: str
    idle: bool = False
    """Whether the lens had nothing to work on, as in a project without tests. Only JSON says so."""


class LensReport(Record):
    """What one lens returns for one task."""

    findings: tuple[Finding, ...] = ()
    not_assessed: tuple[NotAssessed, ...] = ()
