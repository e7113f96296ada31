"""A check: a rule of the lens, the linter's codes that it is made of, and who decides on a hit."""

from dataclasses import dataclass

from leadhand.contracts.finding import Severity
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.bugs.hits import Judge, as_said


@dataclass(frozen=True, slots=True)
class BugCheck:
    """A rule, the linter's codes that it is made of, and who decides on a hit."""

    rule: LensRule
    codes: tuple[str, ...]
    judge: Judge = as_said
    in_tests: bool = True
    """Whether it is a bug in a test, too; tests compare and fail on purpose."""


def check(
    name: str,
    codes: str,
    why: str,
    fix: str,
    *,
    family: str = "linted",
    severity: Severity = "warning",
    judge: Judge = as_said,
    in_tests: bool = True,
) -> BugCheck:
    """A check of the bugs lens; `name` and `family` without the lens, `codes` apart by spaces.

    What ruff diagnoses with certainty and a judge confirms works alike: it is one family.
    """
    rule = LensRule(f"bugs/{name}", f"bugs/{family}", severity, why, fix)
    return BugCheck(rule, tuple(codes.split()), judge, in_tests)
