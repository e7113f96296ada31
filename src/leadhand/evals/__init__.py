"""Evaluates teams on cases: routing, plans, single workers, answers, and what they cost.

`evaluate` runs cases and scores them; the command is `leadhand eval`.
"""

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
