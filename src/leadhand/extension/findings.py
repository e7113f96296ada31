"""Problems in files, each with the quote that shows it, for teams that report some. Provisional.

A worker returns a `LensReport`. A synthesizer gathers the reports: `gather` verifies quotes, rates
rules, merges what several workers found and hides a baseline. It concludes with a `Review`, ranked
and divided at a threshold. A `Scorer` has a model judge what models found.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.contracts.answer import Finding, LensReport, NotAssessed, Place, Severity
    from leadhand.synthesis.duplicates import SEVERITIES
    from leadhand.synthesis.findings import (
        LOOK_FROM,
        UNSCORED,
        Coverage,
        Gathered,
        Note,
        Quote,
        Rating,
        Refutation,
        RefutationOutcome,
        Review,
        conclude,
        fingerprint,
        gather,
    )
    from leadhand.synthesis.scoring import Scorer

__all__ = [
    "LOOK_FROM",
    "SEVERITIES",
    "UNSCORED",
    "Coverage",
    "Finding",
    "Gathered",
    "LensReport",
    "NotAssessed",
    "Note",
    "Place",
    "Quote",
    "Rating",
    "Refutation",
    "RefutationOutcome",
    "Review",
    "Scorer",
    "Severity",
    "conclude",
    "fingerprint",
    "gather",
]

_MODULES = {
    "contracts.answer": "Finding LensReport NotAssessed Place Severity",
    "synthesis.duplicates": "SEVERITIES",
    "synthesis.findings": (
        "LOOK_FROM UNSCORED Coverage Gathered Note Quote Rating Refutation RefutationOutcome "
        "Review conclude fingerprint gather"
    ),
    "synthesis.scoring": "Scorer",
}

if not TYPE_CHECKING:  # else checkers would take any name for one of the package's
    __getattr__ = lazy_attributes(__name__, _MODULES, within="leadhand")
