"""Checks a contract against the rules of a playbook, and ranks what to raise with a lawyer."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from leadhand_teams.contracts.clauses import categories, clause
from leadhand_teams.contracts.documents import Contract
from leadhand_teams.contracts.output import (
    Clause,
    ContractQuote,
    Risk,
    RuleVerdict,
    Severity,
    Verdict,
)
from leadhand_teams.contracts.playbook import Playbook, PlaybookRule, ready_made
from leadhand_teams.contracts.terms import jurisdictions, limits, limits_of, outside
from leadhand_teams.contracts.verdicts import judged, statements

MAX_QUOTES = 3
RANK: dict[Severity, int] = {"high": 0, "medium": 1, "low": 2}
_BEFORE = {
    "entailed": "Agreed: ",
    "contradicted": "Against the playbook: ",
    "not_mentioned": "Missing: ",
}
Found = tuple[Verdict, Sequence[ContractQuote], str]
"""A verdict, its quotes, best first, and why."""


def check(contract: Contract, playbook: Playbook, side: str) -> list[RuleVerdict]:
    """The verdict of a contract on each rule, and whether it is against the reader's side."""
    checks: list[RuleVerdict] = []
    for rule in playbook.every:
        verdict, quotes, why = _found(contract, rule)
        checks.append(
            RuleVerdict(
                contract=contract.text.name,
                rule=rule.id,
                statement=rule.statement,
                verdict=verdict,
                concern=rule.is_concern(verdict, side),
                quotes=tuple(quotes[:MAX_QUOTES]),
                why=why,
                severity=rule.severity,
                question=rule.question,
            )
        )
    return checks


def _found(contract: Contract, rule: PlaybookRule) -> Found:
    if against := _against(contract, rule):
        return "contradicted", against, ""
    if rule.category is None and not rule.wording and rule.id in statements():
        verdict, passages = judged(contract.passages, rule.id)
        return verdict, [*map(contract.quote, passages)], ""
    if rule.category is None:
        quotes = [contract.quote(o) for o in contract.passages if _any(rule.wording, o.text)]
        return ("entailed" if quotes else "not_mentioned"), quotes, ""
    quotes = clause(contract, rule.category, None if rule.must_not else rule.words).quotes
    if not quotes:
        return "not_mentioned", (), f"no clause {rule.category} was found"
    fits = {one: _fits(rule, one.text) for one in quotes}
    right = [one for one, (fit, _) in fits.items() if fit]
    wrong = {one: why for one, (fit, why) in fits.items() if fit is False}
    if rule.must_not:
        return ("contradicted" if right else "not_mentioned"), right, ""
    if wrong and (rule.within or not right):
        first = next(iter(wrong))
        return "contradicted", sorted(quotes, key=lambda one: one != first), wrong[first]
    if right:
        return "entailed", sorted(quotes, key=lambda one: one not in right), ""
    return "not_mentioned", quotes, "the clause has no limit that could be compared"


def _fits(rule: PlaybookRule, quote: str) -> tuple[bool | None, str]:
    """Whether a quote of a clause is as the rule wants it, or what it says; None: nothing on it."""
    if rule.one_of:
        names = " ".join(jurisdictions(quote)) or quote
        return _any(rule.one_of, names), f"it says {names[:80]}"
    if rule.within:
        category = categories()[rule.within]
        found = limits_of(category.value, category.near, quote) or limits(quote)
        is_outside, why = outside(found, rule.max, rule.min)
        return None if is_outside is None else not is_outside, why
    is_worded = not rule.wording or _any(rule.wording, quote)
    return is_worded, f"{rule.category} lacks the wording of the rule"


def _against(contract: Contract, rule: PlaybookRule) -> list[ContractQuote]:
    """The passages that contradict a rule; none if the rule works for both sides."""
    found = [one for one in contract.passages if _any(rule.against, one.line)]
    if found and rule.mutual and any(rule.mutual.search(one.line) for one in contract.passages):
        return []
    return [contract.quote(o) for o in found if not (rule.unless and rule.unless.search(o.line))]


def _any(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    return any(one.search(text) for one in patterns)


def rank(
    contract: Contract, checks: Sequence[RuleVerdict], roles: Mapping[str, str]
) -> tuple[Risk, ...]:
    """Risks of one contract, the most severe first: terms against the reader, the playbook's
    concerns, what a lawyer looks at anyway. What was said is not said again."""
    side = roles.get("side", "")
    terms, general = (
        check(contract, ready_made(name, roles), side) for name in ("onesided", "general")
    )
    found: list[Risk] = []
    for group in (terms, checks, general):
        known = {one.basis for one in found}
        places = {quote.start for one in found for quote in one.quotes}
        risks = [_risk(one, is_named=group is checks) for one in group if one.concern]
        risks = [one for one in risks if one.basis not in known]
        found += [one for one in risks if not places & {quote.start for quote in one.quotes}]
    return tuple(sorted(found, key=lambda one: RANK[one.severity]))


def _risk(check: RuleVerdict, *, is_named: bool) -> Risk:
    before = _BEFORE[check.verdict] if is_named else ""
    return Risk(
        contract=check.contract,
        quotes=check.quotes[:1] if check.ref else (),
        title=f"{before}{check.statement}".rstrip("."),
        severity=check.severity,
        ref=check.ref,
        question=check.question,
        basis=check.rule,
    )


def contradictions(clauses: Iterable[Clause]) -> Iterator[Risk]:
    """Clauses whose quotes choose different laws; each risk has the two that disagree."""
    for law in (one for one in clauses if one.category == "Governing Law"):
        named = [(one, {*names}) for one in law.quotes if (names := jurisdictions(one.text))]
        for other in [one for one, names in named[1:] if not names & named[0][1]][:1]:
            first = named[0][0]
            yield Risk(
                contract=law.contract,
                quotes=(first, other),
                title=f"Governing Law: {first.ref} and {other.ref} disagree",
                severity="high",
                ref=other.ref,
                question="Which of the two is meant?",
                basis="contradiction",
            )
