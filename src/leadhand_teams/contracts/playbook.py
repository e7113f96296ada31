"""Playbooks: rules in YAML that contracts are checked against; docs/teams/contracts.md has more."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, cast

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    JsonValue,
    ValidationError,
)

from leadhand.errors import InputError
from leadhand_teams.contracts.clauses import categories
from leadhand_teams.contracts.output import Severity, Verdict
from leadhand_teams.contracts.terms import limits
from leadhand_teams.contracts.wording import packaged

PACKAGED = ("nda", "services", "commercial")
"""Those that a request may name."""


def _category(name: str) -> str:
    if name not in categories():
        raise ValueError(f"no category {name!r}; there are {', '.join(categories())}")
    return name


def _limit(text: str) -> str:
    if not limits(text):
        raise ValueError(f"{text!r} is no period, sum or percentage")
    return text


Category = Annotated[str, AfterValidator(_category)]
Bound = Annotated[str, AfterValidator(_limit)]
Pattern = Annotated[re.Pattern[str], BeforeValidator(lambda text: f"(?i:{text})")]


class PlaybookRule(BaseModel):
    """A category of clause that must be there, must not or has limits; or wording.

    One without any of these is a statement for which weights were trained.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    statement: str
    """What the rule expects of the contract, or the risk, as a sentence."""
    must: Category | None = None
    must_not: Category | None = None
    within: Category | None = None
    """A category; `max`, `min` or `one_of` are its limits."""
    max: Bound | None = None
    min: Bound | None = None
    one_of: tuple[Pattern, ...] = ()
    wording: tuple[Pattern, ...] = ()
    """One of them must match the clause or, without a category, a passage."""
    words: tuple[Pattern, ...] = ()
    """Passages that count where no clause is found; default: the first cue of the category."""
    against: tuple[Pattern, ...] = ()
    """Passages that contradict the rule."""
    unless: Pattern | None = None
    """What in such a passage makes it bearable."""
    mutual: Pattern | None = None
    """What anywhere in the contract makes such a passage bearable."""
    concern: Mapping[str, tuple[Verdict, ...]] | None = None
    """By side, which verdicts are against it; default: all but the one that the rule expects."""
    severity: Severity = "medium"
    question: str = "Is this acceptable?"
    """What to ask the lawyer if it is a concern."""

    @property
    def category(self) -> str | None:
        """The category of clause that the rule is about."""
        return self.must or self.must_not or self.within

    def is_concern(self, verdict: Verdict, side: str) -> bool:
        """Whether a verdict is against a side."""
        if self.concern is not None:
            return verdict in self.concern.get(side, ())
        expected = bool(self.must or self.within or self.wording) and not self.must_not
        return verdict == "contradicted" or (verdict == "not_mentioned" and expected)


class Playbook(BaseModel):
    """Rules, and the sides for which they can be read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    extends: Literal["nda", "services", "commercial"] | None = None
    """A playbook that comes with the team, whose rules are this one's too."""
    sides: Mapping[str, tuple[str, ...]] = {"customer": ("client",), "supplier": ("vendor",)}
    """Each with other words of a request that choose it; the first is the default."""
    rules: tuple[PlaybookRule, ...]

    @property
    def every(self) -> tuple[PlaybookRule, ...]:
        """Its rules and those of the playbook that it extends."""
        return (*self.rules, *(ready_made(self.extends).every if self.extends else ()))

    def roles(self, request: str) -> dict[str, str]:
        """The `side` for which the request reads, else the first, and patterns of the words for
        it (`we`) and for the others (`they`)."""
        before = r"\b(?:for|as|from|protect\w*|we are|i am|we're|side of)\b[^.]{0,40}\b"
        words = {
            side: "|".join(map(re.escape, (side, *others))) for side, others in self.sides.items()
        }
        named = (one for one in words if re.search(f"{before}(?:{words[one]})\\b", request, re.I))
        side = next(named, next(iter(words)))
        they = "|".join(text for one, text in words.items() if one != side)
        return {"side": side, "we": words[side], "they": they or "(?!)"}


def ready_made(name: str, roles: Mapping[str, str] | None = None) -> Playbook:
    """A playbook that comes with the team; `{side}`, `{we}` and `{they}` stand for the `roles`."""
    text = json.dumps(packaged(f"playbooks/{name}.yaml"))
    for role, words in (roles or {}).items():
        text = text.replace(f"{{{role}}}", json.dumps(words)[1:-1])
    return Playbook.model_validate_json(text)


def handed_in(path: str) -> Playbook:
    """The user's own. Raises `InputError` that names every problem."""
    name = Path(path).stem
    try:
        loaded = cast("JsonValue", yaml.safe_load(Path(path).read_text(encoding="utf-8")))
        return Playbook.model_validate({"name": name, **loaded} if isinstance(loaded, dict) else {})
    except ValidationError as error:
        wrong = [(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]
        why = "; ".join(f"{key}: {told.removeprefix('Value error, ')}" for key, told in wrong)
        raise InputError(f"the playbook {name} can't be used: {why}") from error
    except yaml.YAMLError as error:
        raise InputError(
            f"the playbook {name} is not YAML: {' '.join(f'{error}'.split())}"
        ) from error
