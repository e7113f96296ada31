"""The report of a review: what to decide, then risks, changes, rules and clauses with places."""

from collections import Counter
from collections.abc import Mapping, Sequence

from leadhand import Answer
from leadhand.tools.text import counted
from leadhand_teams.contracts.output import ContractReview
from leadhand_teams.shared.report import QuoteBlock, Report, Section, saved, table_of

_FOOTER = (
    "This is a reading by rules and statistics, not legal advice. Before anyone signs, a lawyer "
    "must check the risks, each clause that was not found, and what the law of the place adds.",
    "Quotes were compared with the text by code. How often clauses and verdicts are right was "
    "measured on published contracts.",
)
_RISK = ("severity", "title", "ref", "question")
_CHECK = ("rule", "statement", "verdict", "concern", "ref", "why")
_CLAUSE = ("category", "answer", "where")
_CHANGE = ("kind", "category", "before", "after", "why", "where")
_TIGHTENED = "Tightened: it binds more than before, for example by a shorter time or a lower limit."


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """`report.html` and `report.md`."""
    review = ContractReview.model_validate(answer.output or {})
    gaps = [gap.why for gap in answer.gaps]
    return report(review, answer.request, gaps, saved(answer)).files


def report(
    review: ContractReview, request: str, gaps: Sequence[str] = (), saved: str = ""
) -> Report:
    """The report of a review."""
    every = (*review.clauses, *review.checks, *review.risks, *review.compared)
    names = list(dict.fromkeys(one.contract for one in every))
    whose = ("contract",) if len(names) > 1 else ()
    left_out = counted(review.removed, "statement")
    removed = [f"{left_out} of the model left out: no such quote is there"]
    checks = sorted(review.checks, key=lambda one: not one.concern)
    changes = table_of((*review.compared, *review.reworded), *_CHANGE)
    found = table_of([one for one in review.clauses if one.present], *whose, *_CLAUSE)
    absent = [f"{one.contract}: {one.category}" for one in review.clauses if not one.present]
    added = [QuoteBlock(one.quote, one.ref, one.text) for one in review.added]
    rules = f"Playbook {review.playbook}, for the {review.side}"
    return Report(
        title=f"Contract review: {', '.join(names) or 'nothing was read'}",
        lead=_lead(review),
        sections=[
            Section("Risks", [table_of(review.risks, *whose, *_RISK)]),
            Section(
                f"Changes since {', '.join(review.versions[:1])}",
                [_TIGHTENED, changes] if changes.rows else [],
            ),
            Section(rules, [table_of(checks, *whose, *_CHECK)]),
            Section("Clauses", [found]),
            Section("Clauses that were not found; check those that matter", ["; ".join(absent)]),
            Section("The words behind risks, rules and clauses", _quotes(review)),
            Section("What the model adds", added),
        ],
        missing=(*gaps, *review.problems, *(removed if review.removed else [])),
        missing_first=bool(gaps or review.problems),
        about=f"Asked: {request}",
        footer=(*_FOOTER, *filter(None, [saved])),
    )


def _lead(review: ContractReview) -> list[str]:
    lines: list[str] = []
    if review.risks:
        high = [one for one in review.risks if one.severity == "high"]
        first = "; ".join(dict.fromkeys(one.title for one in high[:3]))
        count = f"{counted(len(review.risks), 'point')} to raise with a lawyer, {len(high)} high"
        lines.append(f"{count}{': ' if first else ''}{first}.")
    if review.versions:
        kinds = Counter(one.kind for one in review.compared)
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        lines.append(f"Since {review.versions[0]}: {told or 'nothing added, dropped or moved'}.")
    if review.checks:
        concerns = counted(sum(one.concern for one in review.checks), "concern")
        rules = f"{len(review.checks)} rules of the playbook {review.playbook}"
        other = "name the other side in the request to read it for that side"
        lines.append(f"{concerns} for the {review.side} by the {rules}; {other}.")
    if not lines and review.clauses:
        present = [one for one in review.clauses if one.present]
        told = "; ".join(f"{c.category}: {c.answer} ({c.quotes[0].ref})" for c in present[:6])
        lines.append(f"{len(present)} of {len(review.clauses)} clauses were found. {told}")
    return lines or ["Nothing could be reviewed."]


def _quotes(review: ContractReview) -> Sequence[QuoteBlock]:
    """Each passage once, with all that it is quoted for; risks first."""
    shown: dict[str, QuoteBlock] = {}
    for about, quotes in (
        *((one.title, one.quotes[:1]) for one in review.risks if one.ref),
        *((f"{one.rule}: {one.statement}", one.quotes[:1]) for one in review.checks if one.ref),
        *((one.category, one.quotes) for one in review.clauses),
    ):
        for one in quotes:
            place = f"{one.ref}, {one.place}, characters {one.start} to {one.end}"
            before = f"{shown[place].about}; " if place in shown else ""
            shown[place] = QuoteBlock(one.text, place, f"{before}{about}")
    return [*shown.values()]
