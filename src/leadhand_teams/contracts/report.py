"""The report of a review: what to decide, then risks, changes, rules and clauses with places."""

from collections.abc import Iterable, Mapping, Sequence

from leadhand import Answer
from leadhand_teams.contracts.output import ContractQuote, ContractReview, be, counted
from leadhand_teams.shared.report import Block, Items, QuoteBlock, Report, Section, TableBlock

_VERDICTS = {"entailed": "yes", "contradicted": "contradicted", "not_mentioned": "not mentioned"}
_FOOTER = (
    "This is a reading by rules and statistics, not legal advice. Before anyone signs, a lawyer "
    "must check the risks, each clause that was not found, and what the law of the place adds.",
    "Quotes were compared with the text by code. How often clauses and verdicts are right was "
    "measured on published contracts: docs/teams/contracts.md.",
)


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """`report.html` and `report.md`."""
    review = ContractReview.model_validate(answer.output or {})
    took = answer.metrics
    saved = f"In parallel: {took.makespan_s:.1f} s; one by one: {took.sequential_s:.1f} s."
    made = report(review, answer.request, [gap.why for gap in answer.gaps], saved)
    return {"report.html": made.html(), "report.md": made.markdown()}


def report(
    review: ContractReview, request: str, gaps: Sequence[str] = (), saved: str = ""
) -> Report:
    """The report of a review."""
    every = (*review.clauses, *review.checks, *review.risks, *review.compared)
    names = list(dict.fromkeys(one.contract for one in every))
    problems = [problem for one in review.contracts for problem in one.problems]
    sections = [*_risks(review), *_changes(review), *_checks(review), *_clauses(review)]
    if review.added:
        quotes = [QuoteBlock(one.quote, one.ref, one.text) for one in review.added]
        sections.append(Section("What the model adds", quotes))
    many = "statement" if review.removed == 1 else "statements"
    removed = f"{review.removed} {many} of the model left out: no such quote is in the text"
    return Report(
        title=f"Contract review: {', '.join(names) or 'nothing was read'}",
        lead=_lead(review),
        sections=sections,
        missing=(*gaps, *problems, *([removed] if review.removed else [])),
        missing_first=bool(gaps or problems),
        about=f"Asked: {request}",
        footer=(*_FOOTER, *filter(None, [saved])),
    )


def _lead(review: ContractReview) -> list[str]:
    lines: list[str] = []
    if review.risks:
        high = [one for one in review.risks if one.severity == "high"]
        first = "; ".join(dict.fromkeys(one.title for one in high[:3]))
        points = "1 point" if len(review.risks) == 1 else f"{len(review.risks)} points"
        count = f"{points} to raise with a lawyer, {len(high)} of them high"
        lines.append(f"{count}{': ' if first else ''}{first}.")
    if review.versions:
        told = counted(review.compared) or "nothing added, dropped or moved"
        lines.append(f"Since {review.versions[0]}: {told}.")
    if review.checks:
        concerns = sum(one.concern for one in review.checks)
        rules = f"{concerns} of {len(review.checks)} rules of the playbook {review.playbook}"
        other = "name the other side in the request to read it for that side"
        lines.append(f"{rules} {be(concerns)} a concern for the {review.side}; {other}.")
    if not lines and not review.clauses:
        return ["Nothing could be reviewed."]
    if not lines:
        present = [one for one in review.clauses if one.present]
        told = "; ".join(f"{c.category}: {c.answer} ({c.quotes[0].ref})" for c in present[:6])
        lines.append(f"{len(present)} of {len(review.clauses)} clauses were found. {told}")
    return lines


def _quoted(listed: Iterable[tuple[ContractQuote, str]]) -> list[Block]:
    return [
        QuoteBlock(one.text, f"{one.ref}, {one.place}, characters {one.start} to {one.end}", about)
        for one, about in listed
    ]


def _sections(
    title: str, blocks: Sequence[Block], under: str, quotes: Sequence[Block]
) -> list[Section]:
    found = [Section(title, blocks)] if blocks else []
    return [*found, *([Section(under, quotes)] if quotes else [])]


def _risks(review: ContractReview) -> list[Section]:
    many = len({one.contract for one in review.risks}) > 1
    rows: list[tuple[str, ...]] = []
    for one in review.risks:
        title = f"{one.contract}: {one.title}" if many else one.title
        rows.append((one.severity, title, one.ref or "no clause", one.question))
    table = TableBlock(("severity", "what", "where", "question for the lawyer"), rows)
    quotes = _quoted((one.quote, one.title) for one in review.risks if one.quote)
    return _sections("Risks", [table] if rows else [], "The clauses behind the risks", quotes)


def _changes(review: ContractReview) -> list[Section]:
    if not review.versions:
        return []
    changed = (*review.compared, *review.reworded)
    rows: list[tuple[str, ...]] = []
    quotes: list[Block] = []
    for one in changed:
        where = " → ".join(dict.fromkeys(filter(None, (one.ref_before, one.ref_after))))
        why = one.why or ("nothing tells a direction" if one.kind == "reworded" else "")
        rows.append((one.kind, one.category, where, why))
        before, after = (one.before, one.ref_before), (one.after, one.ref_after)
        for (text, ref), when in ((before, "before"), (after, "after")):
            if text and ref:
                quotes.append(QuoteBlock(text, ref, f"{one.category}, {one.kind}: {when}"))
    table = TableBlock(("change", "clause", "where", "why"), rows)
    title = f"Changes since {review.versions[0]}"
    meaning = (
        "Tightened: it binds more than before, for example by a shorter time or a lower limit."
    )
    return _sections(title, [meaning, table] if rows else [], "The words that changed", quotes)


def _checks(review: ContractReview) -> list[Section]:
    ordered = sorted(review.checks, key=lambda one: not one.concern)
    shown = {(one.contract, one.quote.start) for one in review.risks if one.quote}
    many = len({one.contract for one in ordered}) > 1
    rows: list[tuple[str, ...]] = []
    quotes: list[tuple[ContractQuote, str]] = []
    for one in ordered:
        best = one.quotes[0] if one.quotes and one.verdict != "not_mentioned" else None
        rule = f"{one.contract}: {one.rule}" if many else one.rule
        place, concern = best.ref if best else "", "yes" if one.concern else ""
        rows.append((rule, one.statement, _VERDICTS[one.verdict], concern, place, one.why))
        if best and (one.contract, best.start) not in shown:
            quotes.append((best, f"{rule}: {one.statement}"))
    table = TableBlock(("rule", "statement", "verdict", "concern", "where", "why"), rows)
    title, under = f"Playbook {review.playbook}, for the {review.side}", "What the verdicts rest on"
    return _sections(title, [table] if rows else [], under, _quoted(quotes))


def _clauses(review: ContractReview) -> list[Section]:
    rows: list[tuple[str, ...]] = []
    absent: dict[str, list[str]] = {}
    quoted: dict[tuple[str, int], tuple[ContractQuote, list[str]]] = {}
    for one in review.clauses:
        if one.present:
            where = " and ".join(dict.fromkeys(quote.ref for quote in one.quotes))
            rows.append((one.contract, one.category, one.answer or "", where))
        else:
            absent.setdefault(one.contract, []).append(one.category)
        for quote in one.quotes:
            quoted.setdefault((one.contract, quote.start), (quote, []))[1].append(one.category)
    table = TableBlock(("contract", "clause", "value", "where"), rows)
    blocks: list[Block] = [table] if rows else []
    if absent:
        lines = [f"{contract}: {', '.join(names)}" for contract, names in absent.items()]
        blocks += ["Not found; check those that matter in the text:", Items(lines)]
    shown = {(one.contract, one.quote.start) for one in review.risks if one.quote}
    left = [quoted[key] for key in quoted if key not in shown]
    quotes = _quoted((quote, "; ".join(names)) for quote, names in left)
    return _sections("Clauses", blocks, "Quotes of clauses, beside those above", quotes)
