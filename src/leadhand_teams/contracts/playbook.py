"""Playbooks: rules in YAML that contracts are checked against; docs/teams/contracts.md has more."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
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
from leadhand_teams.contracts.clauses import categories, clause, jurisdictions, limits, limits_of
from leadhand_teams.contracts.documents import Contract, ContractPassage
from leadhand_teams.contracts.output import (
    Clause,
    ContractQuote,
    RuleVerdict,
    Severity,
    Verdict,
    VersionChange,
)
from leadhand_teams.contracts.recognition import StatementCues, judged
from leadhand_teams.contracts.wording import packaged, table, wording

PACKAGED = ("nda", "services", "commercial")
"""Those that a request may name."""
RISKS = ("onesided", "general")
"""What is raised with a lawyer whichever playbook is used: terms against the reader, and others."""
RANK: Mapping[Severity, int] = {"high": 0, "medium": 1, "low": 2}
MAX_QUOTES = 3
_TITLES = {
    "entailed": "The contract says “{}”",
    "contradicted": "The contract contradicts the playbook, which wants “{}”",
    "not_mentioned": "The contract does not say what the playbook wants: “{}”",
}
SLACK = 0.02
"""Twelve months are one year."""


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
    """A category; `max` and `min` are its limits."""
    max: Bound | None = None
    min: Bound | None = None
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

    def is_worded(self, quote: str) -> bool:
        """Whether a quote has the wording that the rule wants, if it wants any."""
        return not self.wording or any(one.search(quote) for one in self.wording)

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
        why = " ".join(str(error).split())
        raise InputError(f"the playbook {name} is not YAML: {why}") from error


def check(contract: Contract, playbook: Playbook, side: str) -> list[RuleVerdict]:
    """The verdict of a contract on each rule, and whether it is against the reader's side."""
    checks: list[RuleVerdict] = []
    for rule in playbook.every:
        verdict, quotes, why = _found(contract, rule)
        title = "{}" if playbook.name in RISKS else _TITLES[verdict]
        checks.append(
            RuleVerdict(
                contract=contract.text.name,
                rule=rule.id,
                category=rule.category,
                statement=rule.statement,
                title=title.format(rule.statement.rstrip(".")),
                verdict=verdict,
                concern=rule.is_concern(verdict, side),
                quotes=tuple(quotes[:MAX_QUOTES]),
                ref=quotes[0].ref if quotes and verdict != "not_mentioned" else None,
                why=why,
                severity=rule.severity,
                question=rule.question,
            )
        )
    return checks


def _found(contract: Contract, rule: PlaybookRule) -> tuple[Verdict, Sequence[ContractQuote], str]:
    """The verdict on a rule, its quotes, best first, and why."""
    if against := _against(contract, rule):
        return "contradicted", against, ""
    if rule.category is None and rule.id in table(StatementCues, "statements.yaml"):
        verdict, passages = judged(contract.passages, rule.id)
        return verdict, passages, ""
    if rule.category is None:
        quotes = [one for one in contract.passages if rule.is_worded(one.text)]
        return ("entailed" if quotes else "not_mentioned"), quotes, ""
    quotes = clause(contract, rule.category, None if rule.must_not else rule.words).quotes
    if not quotes:
        return "not_mentioned", (), f"no clause {rule.category} was found"
    limiting = [one for one in quotes if wording("limiting").search(one.text)]
    if limiting and categories()[rule.category].value == "money":
        quotes = limiting
    worded = [one for one in quotes if rule.is_worded(one.text)]
    if rule.must_not:
        return ("contradicted" if worded else "not_mentioned"), worded, ""
    if not worded:
        return "contradicted", quotes, f"{rule.category} lacks the wording of the rule"
    if rule.within:
        return _within(rule, quotes)
    return "entailed", sorted(quotes, key=lambda one: one not in worded), ""


def _within(
    rule: PlaybookRule, quotes: Sequence[ContractQuote]
) -> tuple[Verdict, Sequence[ContractQuote], str]:
    category, fitting = categories()[rule.category or ""], list[ContractQuote]()
    for bound, sign, word in ((rule.max, 1, "at most"), (rule.min, -1, "at least")):
        for allowed in limits(bound or "")[:1]:
            for one in quotes:
                found = limits_of(category.value, category.near, one.text) or limits(one.text)
                same = [limit for limit in found if limit.kind == allowed.kind]
                furthest = sign * allowed.value * (1 + sign * SLACK)
                for limit in (limit for limit in same if sign * limit.value > furthest):
                    why = f"{limit.text}, {word} {bound} allowed"
                    return "contradicted", sorted(quotes, key=lambda o: o != one), why
                fitting += [one] if same else []
    if fitting:
        return "entailed", fitting, ""
    return "not_mentioned", quotes, "the clause has no limit that could be compared"


def _against(contract: Contract, rule: PlaybookRule) -> list[ContractPassage]:
    """The passages that contradict a rule; none if the rule works for both sides."""
    every = contract.passages if rule.against else ()
    found = [one for one in every if any(cue.search(one.line) for cue in rule.against)]
    if found and rule.mutual and any(rule.mutual.search(one.line) for one in every):
        return []
    return [one for one in found if not (rule.unless and rule.unless.search(one.line))]


def rank(
    contract: Contract,
    checks: Sequence[RuleVerdict],
    changes: Sequence[VersionChange],
    roles: Mapping[str, str],
) -> list[RuleVerdict]:
    """The risks of a contract: terms against the reader, the playbook's concerns, what a lawyer
    looks at anyway, changes; the most severe first. What was said is not said again."""
    side = roles.get("side", "")
    terms, general = (check(contract, ready_made(name, roles), side) for name in RISKS)
    found: list[RuleVerdict] = []
    for group in (terms, checks, general, [*changed(contract, changes, roles)]):
        known = {one.rule for one in found}
        places = {(one.ref, one.quotes[0].start) for one in found if one.ref}
        missing = {one.category for one in found if one.category and not one.ref}
        concerns = [
            o for o in group if o.concern and {o.rule, o.category}.isdisjoint(known | missing)
        ]
        found += [o for o in concerns if not (o.ref and (o.ref, o.quotes[0].start) in places)]
    return sorted(found, key=lambda one: RANK[one.severity])


def changed(
    contract: Contract, changes: Sequence[VersionChange], roles: Mapping[str, str]
) -> Iterator[RuleVerdict]:
    """The changes against the reader, as points for a lawyer."""
    book = ready_made("changes", roles)
    for one in changes:
        passage = ContractPassage(**one.quotes[-1].model_dump(), heading="")
        rules = tuple(rule for rule in book.rules if rule.id == one.kind)
        only = replace(contract, passages=(passage,))
        for verdict in check(only, book.model_copy(update={"rules": rules}), roles["side"]):
            title = f"{verdict.statement}: {shorten(passage.line, 150)}"
            title = f"{title} ({one.why})" if one.why else title
            yield verdict.model_copy(update={"title": title, "category": one.category})


def contradictions(clauses: Iterable[Clause]) -> Iterator[RuleVerdict]:
    """Clauses whose quotes choose different laws; each risk has the two that disagree."""
    for law in (one for one in clauses if one.category == "Governing Law"):
        named = [(one, {*names}) for one in law.quotes if (names := jurisdictions(one.text))]
        for other in [one for one, names in named[1:] if not names & named[0][1]][:1]:
            title = f"Governing Law: {named[0][0].ref} and {other.ref} disagree"
            yield RuleVerdict(
                contract=law.contract,
                quotes=(named[0][0], other),
                rule="contradiction",
                statement="One law governs the contract",
                title=title,
                verdict="contradicted",
                concern=True,
                ref=other.ref,
                severity="high",
                question="Which of the two is meant?",
            )
