"""Checks a contract against the rules of a playbook."""

import re
from collections.abc import Sequence

from leadhand_teams.contracts.clauses import by_words, find, value_limits
from leadhand_teams.contracts.documents import Contract
from leadhand_teams.contracts.jurisdictions import jurisdictions
from leadhand_teams.contracts.limits import limits
from leadhand_teams.contracts.output import ContractQuote, RuleVerdict, quote
from leadhand_teams.contracts.playbook import Playbook, PlaybookRule
from leadhand_teams.contracts.verdicts import Verdict, judged

MAX_QUOTES = 3

Found = tuple[Verdict, Sequence[ContractQuote], str]
"""A verdict, its quotes, best first, and why."""


def check(contract: Contract, playbook: Playbook, side: str) -> tuple[RuleVerdict, ...]:
    """The verdict of a contract on each rule, and whether it is against the reader's side."""
    checks: list[RuleVerdict] = []
    for rule in playbook.every:
        if playbook.is_trained(rule):
            verdict, passages = judged(contract.passages, rule.id)
            quotes, why = [quote(contract.text, one) for one in passages], ""
        else:
            verdict, quotes, why = _found(contract, rule)
        checks.append(
            RuleVerdict(
                contract=contract.text.name,
                rule=rule.id,
                statement=rule.statement,
                verdict=verdict,
                concern=playbook.is_concern(rule, verdict, side),
                quotes=tuple(quotes[:MAX_QUOTES]),
                why=why,
                severity=rule.severity,
                question=rule.question,
                risk=rule.risk.get(side, ""),
            )
        )
    return tuple(checks)


def _found(contract: Contract, rule: PlaybookRule) -> Found:
    against = [one for one in contract.passages if _any(rule.against, one.text)]
    if against:
        return "contradicted", [quote(contract.text, one) for one in against], ""
    if rule.category is None:
        passages = [one for one in contract.passages if _matches(rule, one.text)]
        quotes = [quote(contract.text, passage) for passage in passages]
        return ("entailed" if quotes else "not_mentioned"), quotes, ""
    clause = find(contract, [rule.category])[0]
    if not clause.present and not rule.must_not:
        clause = by_words(contract, rule.category, rule.words)
    if not clause.present:
        return "not_mentioned", (), f"no clause {rule.category} was found"
    if rule.within:
        return _within(rule, clause.quotes)
    worded = [one for one in clause.quotes if _matches(rule, one.text)]
    if rule.must_not:
        return ("contradicted" if worded else "not_mentioned"), worded, ""
    if not worded:
        return "contradicted", clause.quotes, f"{rule.category} lacks the wording of the rule"
    return "entailed", (*worded, *(one for one in clause.quotes if one not in worded)), ""


def _within(rule: PlaybookRule, quotes: Sequence[ContractQuote]) -> Found:
    if rule.one_of:
        for one in quotes:
            names = " ".join(jurisdictions(one.text)) or one.text
            if not any(re.search(allowed, names, re.IGNORECASE) for allowed in rule.one_of):
                return "contradicted", (one,), f"it says {names[:80]}"
        return "entailed", quotes, ""
    fitting: list[ContractQuote] = []
    for bound, sign, word in ((rule.max, 1, "at most"), (rule.min, -1, "at least")):
        for allowed in limits(bound)[:1] if bound else ():
            for one in quotes:
                found = value_limits(rule.within or "", one.text) or limits(one.text)
                same = [limit for limit in found if limit.kind == allowed.kind]
                least = sign * allowed.value * (1 + sign * 0.02)  # twelve months are one year
                if beyond := [limit for limit in same if sign * limit.value > least]:
                    others = [other for other in quotes if other != one]
                    why = f"{beyond[0].text}, {word} {bound} allowed"
                    return "contradicted", (one, *others), why
                fitting += [one] if same else []
    if not fitting:
        return "not_mentioned", quotes, "the clause has no limit that could be compared"
    return "entailed", fitting, ""


def _matches(rule: PlaybookRule, text: str) -> bool:
    return not rule.wording or _any(rule.wording, text)


def _any(patterns: Sequence[str], text: str) -> bool:
    return any(re.search(one, text, re.IGNORECASE) for one in patterns)
