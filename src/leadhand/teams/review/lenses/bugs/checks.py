"""The linter's part of the lens: a rule, the linter's codes for it, and a judge of the hits."""

import functools
from dataclasses import dataclass

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.bugs.hits import Judge, ruff_message


@dataclass(frozen=True, slots=True)
class BugCheck:
    """A rule, the linter's codes for it, and the judge that decides on hits."""

    rule: LensRule
    codes: tuple[str, ...]
    judge: Judge = ruff_message
    in_tests: bool = True
    """Whether it is also a bug in tests."""


def check(
    name: str,
    codes: str,
    why: str,
    fix: str,
    *,
    family: str = "linted",
    judge: Judge = ruff_message,
    in_tests: bool = True,
) -> BugCheck:
    """A check of the bugs lens; `name` and `family` without `bugs/`, `codes` separated by spaces.

    Rules that ruff diagnoses with certainty or a judge confirms are one family, `linted`.
    """
    rule = LensRule(f"bugs/{name}", f"bugs/{family}", "warning", why, fix)
    return BugCheck(rule, tuple(codes.split()), judge, in_tests)


product_check = functools.partial(check, in_tests=False)
"""A check that does not apply to tests, which compare and fail on purpose."""
