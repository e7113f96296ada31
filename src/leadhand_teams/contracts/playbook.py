"""Playbooks: rules in YAML that contracts are checked against; docs/teams/contracts.md has more."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from leadhand.errors import InputError
from leadhand_teams.contracts.clauses import categories
from leadhand_teams.contracts.limits import limits
from leadhand_teams.contracts.output import Severity
from leadhand_teams.contracts.verdicts import Verdict, statements
from leadhand_teams.contracts.wording import packaged

PACKAGED = ("nda", "services", "commercial")


class PlaybookRule(BaseModel):
    """A category of clause that must be there, must not or has limits; or wording."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    statement: str
    """What the rule expects of the contract, as a sentence."""
    must: str | None = None
    must_not: str | None = None
    within: str | None = None
    """A category; `max`, `min` or `one_of` are its limits."""
    max: str | None = None
    min: str | None = None
    one_of: tuple[str, ...] = ()
    wording: tuple[str, ...] = ()
    """Regular expressions, one of which must match the clause or, without one, a passage."""
    words: tuple[str, ...] = ()
    """Regular expressions of passages that count where no clause `must` is found; default: the
    first cue of the category."""
    against: tuple[str, ...] = ()
    """Regular expressions of passages that contradict the rule."""
    concern: Mapping[str, tuple[Verdict, ...]] | None = None
    """By side, which verdicts are against it; default: all but the one that the rule expects."""
    severity: Severity = "medium"
    risk: Mapping[str, str] = {}
    """By side, what to call the risk instead of by the statement."""
    question: str = ""
    """What to ask the lawyer if it is a concern."""

    @property
    def category(self) -> str | None:
        """The category of clause that the rule is about."""
        return self.must or self.must_not or self.within

    @model_validator(mode="after")
    def _checked(self) -> "PlaybookRule":
        if self.category is not None and self.category not in categories():
            raise ValueError(f"no category {self.category!r}; there are {', '.join(categories())}")
        if bool(self.within) != bool(self.max or self.min or self.one_of):
            raise ValueError("`within` needs `max`, `min` or `one_of`, and they need `within`")
        for limit in filter(None, (self.max, self.min)):
            if not limits(limit):
                raise ValueError(f"{limit!r} is no period, sum or percentage")
        for pattern in (*self.wording, *self.words, *self.against):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is no regular expression: {error}") from error
        return self


class Playbook(BaseModel):
    """Rules, and the sides for which they can be read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    extends: Literal["nda", "services", "commercial"] | None = None
    """A playbook that comes with the team, whose rules are this one's too."""
    sides: Mapping[str, tuple[str, ...]] = {"customer": ("client",), "supplier": ("vendor",)}
    """Each with other words of a request that choose it; the first is the default."""
    rules: tuple[PlaybookRule, ...] = Field(min_length=1)

    @property
    def every(self) -> tuple[PlaybookRule, ...]:
        """Its rules and those of the playbook that it extends."""
        return (*self.rules, *(ready_made(self.extends).every if self.extends else ()))

    def is_trained(self, rule: PlaybookRule) -> bool:
        """Whether the verdict on a rule comes from trained weights."""
        return (
            "nda" in (self.name, self.extends) and rule.category is None and rule.id in statements()
        )

    def side(self, request: str, party: Sequence[str] = ()) -> str:
        """The side that the reader's party or the request names, else the first."""
        for side, others in self.sides.items():
            if {side, *others} & {name.lower() for name in party}:
                return side
        before = r"\b(?:for|as|from|protect\w*|we are|i am|we're|side of)\b[^.]{0,40}\b"
        for side, others in self.sides.items():
            named = "|".join(map(re.escape, (side, *others)))
            if re.search(rf"{before}(?:{named})\b", request, re.IGNORECASE):
                return side
        return next(iter(self.sides))

    def is_concern(self, rule: PlaybookRule, verdict: Verdict, side: str) -> bool:
        """Whether a verdict is against a side."""
        if rule.concern is not None:
            return verdict in rule.concern.get(side, ())
        return verdict == "contradicted" or (verdict == "not_mentioned" and not rule.must_not)


@cache
def ready_made(name: str) -> Playbook:
    """One of the playbooks that come with the team."""
    return Playbook.model_validate(packaged(f"playbooks/{name}.yaml"))


def handed_in(path: str) -> Playbook:
    """The user's own. Raises `InputError` that names every problem."""
    name = Path(path).stem
    try:
        loaded = cast("JsonValue", yaml.safe_load(Path(path).read_text(encoding="utf-8")))
        return Playbook.model_validate({"name": name, **loaded} if isinstance(loaded, dict) else {})
    except ValidationError as error:
        raise InputError(f"the playbook {name} can't be used: {_problems(error)}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 1})" if mark else ""
        why = getattr(error, "problem", None) or error
        raise InputError(f"the playbook {name} is not YAML: {why}{line}") from error


def _problems(error: ValidationError) -> str:
    """What is wrong, each with its key."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(
        ": ".join(
            filter(None, [".".join(map(str, one["loc"])), one["msg"].removeprefix("Value error, ")])
        )
        for one in found
    )
