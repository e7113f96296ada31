"""Evaluates teams on cases: routing, plans, single workers, answers, and what they cost.

`evaluate` runs cases and scores them; the command is `leadhand eval`.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.evals.cases import Case
    from leadhand.evals.reading import read_cases
    from leadhand.evals.report import EvalReport, TeamReport, TrialReport
    from leadhand.evals.runner import EvalSettings, TeamContender, evaluate
    from leadhand.evals.trials import CaseScore, Trial

__all__ = [
    "Case",
    "CaseScore",
    "EvalReport",
    "EvalSettings",
    "TeamContender",
    "TeamReport",
    "Trial",
    "TrialReport",
    "evaluate",
    "read_cases",
]

_MODULES = {
    "cases": "Case",
    "reading": "read_cases",
    "report": "EvalReport TeamReport TrialReport",
    "runner": "EvalSettings TeamContender evaluate",
    "trials": "CaseScore Trial",
}

if not TYPE_CHECKING:  # else checkers would take any name for one of the package's
    __getattr__ = lazy_attributes(__name__, _MODULES)
