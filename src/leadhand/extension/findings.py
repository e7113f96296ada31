"""Problems in files, each with the quote that shows it, for teams that report some. Provisional.

A worker returns a `LensReport`. A synthesizer has `gather` verify, rate and merge them, and
concludes with a `Review`. A `Scorer` has a model judge what models found.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.contracts.answer import Finding as Finding
    from leadhand.contracts.answer import LensReport as LensReport
    from leadhand.contracts.answer import NotAssessed as NotAssessed
    from leadhand.contracts.answer import Place as Place
    from leadhand.contracts.answer import Severity as Severity
    from leadhand.synthesis.duplicates import SEVERITIES as SEVERITIES
    from leadhand.synthesis.findings import JUDGED_LOOK_FROM as JUDGED_LOOK_FROM
    from leadhand.synthesis.findings import LOOK_FROM as LOOK_FROM
    from leadhand.synthesis.findings import UNSCORED as UNSCORED
    from leadhand.synthesis.findings import Coverage as Coverage
    from leadhand.synthesis.findings import Gathered as Gathered
    from leadhand.synthesis.findings import Note as Note
    from leadhand.synthesis.findings import Quote as Quote
    from leadhand.synthesis.findings import Rating as Rating
    from leadhand.synthesis.findings import Refutation as Refutation
    from leadhand.synthesis.findings import RefutationOutcome as RefutationOutcome
    from leadhand.synthesis.findings import Review as Review
    from leadhand.synthesis.findings import conclude as conclude
    from leadhand.synthesis.findings import fingerprint as fingerprint
    from leadhand.synthesis.findings import gather as gather
    from leadhand.synthesis.findings import is_serious as is_serious
    from leadhand.synthesis.findings import needs_look as needs_look
    from leadhand.synthesis.scoring import Scorer as Scorer
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(__name__)
