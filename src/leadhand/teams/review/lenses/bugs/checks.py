"""A check: a rule of the lens, the linter's codes that it is made of, and who decides on a hit."""

from dataclasses import dataclass

from leadhand.contracts.finding import Severity
from leadhand.teams.review.lens import Rule
from leadhand.teams.review.lenses.bugs.hits import Judge, as_said


@dataclass(frozen=True, slots=True)
class Check:
    """A rule, the linter's codes that it is made of, and who decides on a hit."""

    rule: Rule
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
) -> Check:
    """A check of the bugs lens; `name` and `family` without the lens, `codes` apart by spaces.

    What ruff diagnoses with certainty and a judge confirms works alike: it is one family.
    """
    rule = Rule(f"bugs/{name}", f"bugs/{family}", severity, why, fix)
    return Check(rule, tuple(codes.split()), judge, in_tests)
