"""The rules of the lenses, from `rules.toml`: what each says, and which of them ruff checks."""

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import cast

from pydantic import BaseModel, ConfigDict

from leadhand.extension.findings import Severity
from leadhand_teams.review.lens import LensRule


class RuleRow(BaseModel):
    """One rule of the table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    family: str
    severity: Severity = "warning"
    why: str
    fix: str
    fact: bool = False
    removal: bool = False
    codes: str = ""
    """Ruff's codes; empty if code of a lens finds the hits."""
    judge: str = ""
    """`module:function` of `ruff_rules`, which decides on hits; empty if all count."""
    in_tests: bool = True
    """Whether it also matters in tests, which compare and fail on purpose."""

    @functools.cached_property
    def rule(self) -> LensRule:
        return LensRule(
            self.id, self.family, self.severity, self.why, self.fix, self.fact, self.removal
        )


@functools.cache
def rule_rows() -> Mapping[str, RuleRow]:
    """Id -> row."""
    text = resources.files("leadhand_teams.review").joinpath("rules.toml").read_text("utf-8")
    read = cast("Mapping[str, list[object]]", tomllib.loads(text))
    rows = map(RuleRow.model_validate, read["rule"])
    return {row.id: row for row in rows}


def rule(id: str) -> LensRule:
    """The rule with this id."""
    return rule_rows()[id].rule
