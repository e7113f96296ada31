"""Checks a contract against the rules of a playbook, and ranks what to raise with a lawyer."""

import re
from collections.abc import Iterable, Sequence

from leadhand_teams.contracts.clauses import by_words, find, value_limits
from leadhand_teams.contracts.documents import Contract
from leadhand_teams.contracts.jurisdictions import jurisdictions
from leadhand_teams.contracts.limits import limits
from leadhand_teams.contracts.output import (
    Clause,
    ContractQuote,
    ContractSides,
    Risk,
    RuleVerdict,
    Severity,
    quote,
)
from leadhand_teams.contracts.playbook import Playbook, PlaybookRule, ready_made
from leadhand_teams.contracts.verdicts import Verdict, judged

MAX_QUOTES = 3
RANK: dict[Severity, int] = {"high": 0, "medium": 1, "low": 2}
_BEFORE = {
    "entailed": "Agreed: ",
    "contradicted": "Against the playbook: ",
    "not_mentioned": "Missing: ",
}
_SAME = {"nda-18": "no-hire", "termination-for-convenience": "exit", "mutual-exit": "exit"}
"""Rules of the playbook `general` by those of others that are about the same."""
Found = tuple[Verdict, Sequence[ContractQuote], str]
"""A verdict, its quotes, best first, and why."""


def check(contract: Contract, playbook: Playbook, sides: ContractSides) -> list[RuleVerdict]:
    """The verdict of a contract on each rule, and whether it is against the reader's side."""
    checks: list[RuleVerdict] = []
    for rule in playbook.every:
        if rule.is_trained:
            verdict, passages = judged(contract.passages, rule.id)
            quotes, why = [quote(contract.text, one) for one in passages], ""
        else:
            verdict, quotes, why = _found(contract, rule, sides)
        checks.append(
            RuleVerdict(
                contract=contract.text.name,
                rule=rule.id,
                statement=rule.statement.replace("{side}", sides.reader),
                verdict=verdict,
                concern=rule.is_concern(verdict, sides.reader),
                quotes=tuple(quotes[:MAX_QUOTES]),
                why=why,
                severity=rule.severity,
                question=rule.question,
            )
        )
    return checks


def _found(contract: Contract, rule: PlaybookRule, sides: ContractSides) -> Found:
    if against := _against(contract, rule, sides):
        return "contradicted", against, ""
    if rule.category is None:
        quotes = [quote(contract.text, o) for o in contract.passages if _any(rule.wording, o.text)]
        return ("entailed" if quotes else "not_mentioned"), quotes, ""
    clause = find(contract, [rule.category])[0]
    if not clause.present and not rule.must_not:
        clause = by_words(contract, rule.category, rule.words)
    if not clause.present:
        return "not_mentioned", (), f"no clause {rule.category} was found"
    if rule.one_of:
        return _one_of(rule, clause.quotes)
    if rule.within:
        return _within(rule, clause.quotes)
    worded = [one for one in clause.quotes if not rule.wording or _any(rule.wording, one.text)]
    if rule.must_not:
        return ("contradicted" if worded else "not_mentioned"), worded, ""
    if not worded:
        return "contradicted", clause.quotes, f"{rule.category} lacks the wording of the rule"
    return "entailed", (*worded, *(one for one in clause.quotes if one not in worded)), ""


def _against(contract: Contract, rule: PlaybookRule, sides: ContractSides) -> list[ContractQuote]:
    """The passages that contradict a rule; none if the rule works for both sides."""
    texts = [" ".join(one.text.split()) for one in contract.passages]
    mutual, unless = sides.filled([rule.mutual]), sides.filled([rule.unless])
    against = sides.filled(rule.against)
    if not against or any(_any(mutual, text) for text in texts):
        return []
    return [
        quote(contract.text, one)
        for one, text in zip(contract.passages, texts, strict=True)
        if _any(against, text) and not _any(unless, text)
    ]


def _one_of(rule: PlaybookRule, quotes: Sequence[ContractQuote]) -> Found:
    for one in quotes:
        names = " ".join(jurisdictions(one.text)) or one.text
        if not _any(rule.one_of, names):
            return "contradicted", (one,), f"it says {names[:80]}"
    return "entailed", quotes, ""


def _within(rule: PlaybookRule, quotes: Sequence[ContractQuote]) -> Found:
    fitting: list[ContractQuote] = []
    for bound, sign, word in ((rule.max, 1, "at most"), (rule.min, -1, "at least")):
        for allowed in limits(bound)[:1] if bound else ():
            least = sign * allowed.value * (1 + sign * 0.02)  # twelve months are one year
            for one in quotes:
                found = value_limits(rule.within or "", one.text) or limits(one.text)
                same = [limit for limit in found if limit.kind == allowed.kind]
                if beyond := [limit for limit in same if sign * limit.value > least]:
                    why = f"{beyond[0].text}, {word} {bound} allowed"
                    return "contradicted", (one, *(o for o in quotes if o != one)), why
                fitting += [one] if same else []
    if not fitting:
        return "not_mentioned", quotes, "the clause has no limit that could be compared"
    return "entailed", fitting, ""


def _any(patterns: Iterable[str], text: str) -> bool:
    return any(re.search(one, text, re.IGNORECASE) for one in patterns)


def rank(
    contract: Contract,
    clauses: Sequence[Clause],
    checks: Sequence[RuleVerdict],
    sides: ContractSides,
) -> tuple[Risk, ...]:
    """Risks of one contract, the most severe first: terms against the reader, the playbook's
    concerns, what a lawyer looks at anyway. What was said is not said again."""
    general = [check(contract, ready_made(name), sides) for name in ("onesided", "general")]
    found: list[Risk] = []
    for group, named in ((general[0], False), (checks, True), (general[1], False)):
        known = {risk.basis for risk in found} | {_SAME.get(risk.basis) for risk in found}
        places = {risk.quote.start for risk in found if risk.quote}
        for one in group:
            risk = _risk(one, _BEFORE[one.verdict] if named else "")
            is_new = one.rule not in known and (not risk.quote or risk.quote.start not in places)
            found += [risk] if one.concern and is_new else []
    for clause, one, other in contradictions(clauses):
        title = f"{clause.category}: {one.ref} and {other.ref} disagree"
        found.append(
            Risk(
                contract=contract.text.name, title=title, severity="high", ref=other.ref,
                quote=other, question="Which of the two is meant?", basis="contradiction",
            )
        )  # fmt: skip
    return tuple(sorted(found, key=lambda one: RANK[one.severity]))


def _risk(check: RuleVerdict, before: str) -> Risk:
    quote = check.quotes[0] if check.quotes and check.verdict != "not_mentioned" else None
    return Risk(
        contract=check.contract,
        title=f"{before}{check.statement}".rstrip("."),
        severity=check.severity,
        ref=quote.ref if quote else None,
        question=check.question or "Is this acceptable?",
        quote=quote,
        basis=check.rule,
    )


def contradictions(clauses: Iterable[Clause]) -> list[tuple[Clause, ContractQuote, ContractQuote]]:
    """Clauses whose quotes choose different laws, with two places that disagree."""
    found: list[tuple[Clause, ContractQuote, ContractQuote]] = []
    for clause in clauses:
        if clause.category == "Governing Law":
            named = [(one, set(law)) for one in clause.quotes if (law := jurisdictions(one.text))]
            others = [one for one, law in named[1:] if not law & named[0][1]]
            found += [(clause, named[0][0], one) for one in others[:1]]
    return found
