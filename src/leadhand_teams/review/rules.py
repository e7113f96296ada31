"""The rules of all lenses, from `rules.toml`: what each says, and which of them ruff checks."""

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, cast

from leadhand.extension.findings import Finding, Severity
from leadhand_teams.review.change import ChangedFile


@dataclass(frozen=True, slots=True)
class LensRule:
    """One kind of problem that a lens finds."""

    id: str
    """`lens/name`, kebab case."""
    family: str
    """`lens/family`: rules that work alike share a family, and its measured precision if they
    have too few labelled hits of their own."""
    why: str
    """Why it matters: one sentence that fits any change."""
    fix: str
    """What to do, one sentence."""
    severity: Severity = "warning"
    fact: bool = False
    """Whether a hit needs no judgement: its confidence is 100. The severity is `critical`."""
    removal: bool = False
    """Whether it finds protections that the change removed: one without enough confidence for a
    finding needs a look."""
    sure: bool = False
    """Whether it finds a mistake more often than what its author means: it also asks about a change
    that shows an intention."""
    weak: bool = False
    """Whether it sees what is missing, and not that it mattered."""
    problem: str = ""
    """What other rules may mean as well; empty for most."""
    codes: str = ""
    """Ruff's codes; empty if code of a lens finds the hits."""
    judge: str = ""
    """`module:function` of `ruff_rules`, which decides on hits; empty if all count."""
    in_tests: bool = True
    """Whether it also matters in tests, which compare and fail on purpose."""

    @property
    def lens(self) -> str:
        """The lens that reports it."""
        return self.id.split("/", 1)[0]

    def finding(
        self,
        file: ChangedFile,
        line: int,
        *,
        message: str,
        evidence: str | None = None,
        end_line: int | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this rule in `file`; `why` is added to `message`, what is wrong here.

        `evidence` defaults to the text of `line`.
        """
        return Finding(
            path=file.path,
            line=max(1, line),
            end_line=max(1, line, end_line or 0),
            severity=severity or self.severity,
            category=self.lens,
            rule=self.id,
            message=f"{message} {self.why}".strip(),
            suggestion=self.fix,
            evidence=file.head_lines[line - 1].strip() if evidence is None else evidence,
        )


@functools.cache
def _table() -> Mapping[str, LensRule]:
    text = resources.files("leadhand_teams.review").joinpath("rules.toml").read_text("utf-8")
    read = cast("Mapping[str, list[dict[str, Any]]]", tomllib.loads(text))
    return {row["id"]: LensRule(**row) for row in read["rule"]}


def rules() -> tuple[LensRule, ...]:
    """The rules of all lenses, sorted by id."""
    return tuple(sorted(_table().values(), key=lambda one: one.id))


def equivalent() -> tuple[frozenset[str], ...]:
    """Sets of rules that mean the same problem."""
    problems = {one.problem for one in rules()} - {""}
    return tuple(frozenset(r.id for r in rules() if r.problem == name) for name in problems)


def rule(id: str) -> LensRule:
    """The rule with this id."""
    return _table()[id]
