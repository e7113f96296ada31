"""The rules that ruff checks, with ruff's codes and, where needed, a judge."""

from dataclasses import dataclass
from typing import cast

from leadhand_teams.review.lens import LensRule
from leadhand_teams.review.ruff_rules import closures, defaults, judges, names, protections
from leadhand_teams.review.ruff_rules.hits import Judge, ruff_message
from leadhand_teams.review.rules import RuleRow, rule_rows

_MODULES = {
    "closures": closures,
    "defaults": defaults,
    "judges": judges,
    "names": names,
    "protections": protections,
}


@dataclass(frozen=True, slots=True)
class RuffRule:
    """A rule, ruff's codes for it, and the judge that decides on hits."""

    rule: LensRule
    codes: tuple[str, ...]
    judge: Judge
    in_tests: bool

    @property
    def lens(self) -> str:
        """The lens that reports it."""
        return self.rule.id.split("/", 1)[0]


def _ruff_rule(row: RuleRow) -> RuffRule:
    judge = ruff_message
    if row.judge:
        module, _, name = row.judge.partition(":")
        judge = cast("Judge", getattr(_MODULES[module], name))
    return RuffRule(row.rule, tuple(row.codes.split()), judge, row.in_tests)


ROWS = tuple(_ruff_rule(row) for row in rule_rows().values() if row.codes)
