"""Ranks what a lawyer should look at in a contract: rules of concern, blanks, contradictions."""

from collections.abc import Iterable, Sequence

from leadhand_teams.contracts.checks import check
from leadhand_teams.contracts.documents import Contract
from leadhand_teams.contracts.jurisdictions import jurisdictions
from leadhand_teams.contracts.onesided import one_sided
from leadhand_teams.contracts.output import (
    Clause,
    ContractQuote,
    PartySides,
    Risk,
    RuleVerdict,
    Severity,
)
from leadhand_teams.contracts.playbook import ready_made

RANK: dict[Severity, int] = {"high": 0, "medium": 1, "low": 2}
_BEFORE = {
    "entailed": "Agreed: ",
    "contradicted": "Against the playbook: ",
    "not_mentioned": "Missing: ",
}
_SAME = {"nda-18": "no-hire", "termination-for-convenience": "exit", "mutual-exit": "exit"}
"""Rules of the playbook `general` by those of others that are about the same."""


def rank(
    contract: Contract,
    clauses: Sequence[Clause],
    checks: Sequence[RuleVerdict],
    sides: PartySides,
) -> tuple[Risk, ...]:
    """Risks of one contract, the most severe first; what the playbook said is not said again."""
    name = contract.text.name
    found = list(one_sided(contract, sides))
    places = {risk.quote.start for risk in found if risk.quote}
    said = [_risk(one, _BEFORE[one.verdict]) for one in checks if one.concern]
    terms = {risk.basis for risk in found}
    found += [
        one
        for one in said
        if one.basis not in terms and (one.quote is None or one.quote.start not in places)
    ]
    known = {_SAME.get(risk.basis, risk.basis) for risk in found}
    places |= {risk.quote.start for risk in found if risk.quote}
    for one in check(contract, ready_made("general"), "any"):
        at = one.quotes[0].start if one.quotes else None
        is_new = one.rule not in known and at not in places
        if one.concern and is_new and (contract.about.kind != "nda" or one.rule != "liability-cap"):
            found.append(_risk(one, ""))
    for clause, one, other in contradictions(clauses):
        title = f"{clause.category}: {one.ref} and {other.ref} disagree"
        found.append(
            Risk(
                contract=name, title=title, severity="high", ref=other.ref, quote=other,
                question="Which of the two is meant?", basis="contradiction",
            )
        )  # fmt: skip
    found += [
        Risk(
            contract=name, title=problem, severity="medium", ref=contract.text.ref(),
            question="Is this the text that will be signed?", basis=problem,
        )
        for problem in contract.about.problems
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda one: RANK[one.severity]))


def contradictions(clauses: Iterable[Clause]) -> list[tuple[Clause, ContractQuote, ContractQuote]]:
    """Clauses whose quotes choose different laws, with two places that disagree."""
    found: list[tuple[Clause, ContractQuote, ContractQuote]] = []
    for clause in clauses:
        if clause.category == "Governing Law":
            named = [(one, set(law)) for one in clause.quotes if (law := jurisdictions(one.text))]
            others = [one for one, law in named[1:] if not law & named[0][1]]
            found += [(clause, named[0][0], one) for one in others[:1]]
    return found


def _risk(check: RuleVerdict, before: str) -> Risk:
    quote = check.quotes[0] if check.quotes and check.verdict != "not_mentioned" else None
    return Risk(
        contract=check.contract,
        title=(check.risk or f"{before}{check.statement}").rstrip("."),
        severity=check.severity,
        ref=quote.ref if quote else None,
        question=check.question or "Is this acceptable?",
        quote=quote,
        basis=check.rule,
    )
