"""Makes one answer of the results of many tasks, without knowing how they were dispatched.

Names resolve on first use: the modules that call models are slow to import, and a run without a
model never needs them.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.synthesis.duplicates import SEVERITIES
    from leadhand.synthesis.findings import (
        UNSCORED,
        Dropped,
        Gathered,
        Quote,
        Quotes,
        Review,
        conclude,
        gather,
        synthesize,
    )
    from leadhand.synthesis.merge import Merge, combine
    from leadhand.synthesis.model import ModelSynthesizer
    from leadhand.synthesis.scoring import Scorer

__all__ = [
    "SEVERITIES",
    "UNSCORED",
    "Dropped",
    "Gathered",
    "Merge",
    "ModelSynthesizer",
    "Quote",
    "Quotes",
    "Review",
    "Scorer",
    "combine",
    "conclude",
    "gather",
    "synthesize",
]

_MODULES = {
    "SEVERITIES": "duplicates",
    "UNSCORED": "findings",
    "Dropped": "findings",
    "Gathered": "findings",
    "Merge": "merge",
    "ModelSynthesizer": "model",
    "Quote": "findings",
    "Quotes": "findings",
    "Review": "findings",
    "Scorer": "scoring",
    "combine": "merge",
    "conclude": "findings",
    "gather": "findings",
    "synthesize": "findings",
}

__getattr__ = lazy_attributes(__name__, _MODULES)
