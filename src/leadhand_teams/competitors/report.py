"""The report: what decides first, then changes, prices and features, each row with its place."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from leadhand import Answer
from leadhand.tools.text import counted, joined_names
from leadhand_teams.competitors.features import only_one_has, same_feature
from leadhand_teams.competitors.output import ComparedPrice, Competition, MarketChange
from leadhand_teams.competitors.prices import is_price_word, prices
from leadhand_teams.shared.figures import bars
from leadhand_teams.shared.report import Block, Items, Report, Section, TableBlock

_MOST_COLUMNS: Final = 8
"""Competitors side by side; of more, each cell is a row."""
_ORDER: Final = ("changed", "renamed", "removed", "added")


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """The report as a page and as Markdown."""
    conflicts = [one.about for one in answer.conflicts]
    page = report(answer.request, Competition.model_validate(answer.output), conflicts)
    return {"report.html": page.html(), "report.md": page.markdown()}


def report(request: str, found: Competition, contradictions: Sequence[str]) -> Report:
    """What is handed on."""
    sections = {
        "The sources contradict each other": _items(contradictions),
        "In words": _items([f"{one.text} [{one.ref}]" for one in found.statements]),
        "What changed": _changes(found),
        "Prices": _prices(found),
        "Features": _features(found),
        "Facts": _facts(found),
    }
    note = (
        "Facts, prices and changes were read and computed by code. ? means that no source says it."
    )
    count = counted(found.removed_statements, "statement")
    left_out = f"{count} of a model left out, because the citation does not hold."
    return Report(
        title="Competitors",
        about=request,
        lead=_lead(found, request),
        sections=[Section(title, blocks) for title, blocks in sections.items() if blocks],
        missing=[f"Not read: {why}" for why in found.unread],
        footer=[note, *([left_out] if found.removed_statements else [])],
    )


def _items(lines: Sequence[str]) -> list[Block]:
    return [Items(lines)] if lines else []


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], most: int = 200) -> list[Block]:
    return [TableBlock(columns, rows, max_rows=most)] if rows else []


def _lead(found: Competition, request: str) -> list[str]:
    """At most six sentences: the changes, what is cheapest, and what only one has."""
    lead: list[str] = []
    if changes := found.changes:
        kinds = Counter(one.kind for one in changes)
        parts = [f"{kinds[kind]} {kind}" for kind in _ORDER if kinds[kind]]
        lead.append(f"Between {changes[0].since} and {changes[-1].to}: {joined_names(parts)}.")
        renamed = [f"{one.before} is now {one.after}" for one in changes if one.kind == "renamed"]
        lead += [f"Renamed, not gone: {joined_names(renamed[:3])}."] if renamed else []
        repriced = [one for one in changes if one.kind == "changed" and _is_price(one)]
        for one in repriced[:2]:
            lead.append(f"{_of(found, one)}: from {one.before} to {one.after} [{one.ref_after}].")
    for group in _comparable(found):
        one = next((price for price in group if price.amount), group[0])
        kind = "Cheapest" if group[0].amount else "Cheapest that is not free"
        what = f"{_of(found, one)}, {_comparable_text(one)}"
        lead.append(f"{kind} per {one.comparable_per}: {what} [{one.ref}].")
    for cell in only_one_has(found.matrix)[:2]:
        lead.append(f"Only {found.names[cell.competitor]} has {cell.attribute} [{cell.ref}].")
    lead += [_who_has(found, name) for name in _asked(found, request)[:3]]
    counts = counted(len(found.facts), "fact"), counted(len(found.names), "competitor")
    return lead[:6] or [f"{counts[0]} about {counts[1]}; nothing differs that could be compared."]


def _asked(found: Competition, request: str) -> list[str]:
    """The features that the request names."""
    words = set(re.findall(r"[^\W_]+", request.lower()))
    names = dict.fromkeys(cell.attribute for cell in found.matrix)
    return [name for name in names if set(re.findall(r"[^\W_]+", name.lower())) <= words]


def _who_has(found: Competition, name: str) -> str:
    """Who has a feature, in one sentence."""
    cells = [cell for cell in found.matrix if cell.attribute == name]
    parts: list[str] = []
    verbs = {"yes": "yes", "partly": "in part", "no": "no", "unknown": "no source says"}
    for has, verb in verbs.items():
        who = [
            f"{found.names[cell.competitor]}{f' ({cell.value})' if cell.value else ''}"
            for cell in cells
            if cell.has == has
        ]
        parts += [f"{verb}: {joined_names(who)}"] if who else []
    return f"{name} - {'; '.join(parts)}."


def _is_price(change: MarketChange) -> bool:
    is_price = is_price_word(change.attribute or "")
    return is_price or next(prices(change.after or ""), None) is not None


def _of(found: Competition, one: MarketChange | ComparedPrice) -> str:
    """The competitor and what is meant of it."""
    return f"{found.names[one.competitor]} {one.item or ''}".strip()


def _comparable_text(price: ComparedPrice) -> str:
    return f"{price.comparable:,.6g} {price.currency}"


def _comparable(found: Competition) -> list[list[ComparedPrice]]:
    """The prices for the same thing in the same currency, of at least two competitors."""
    groups: dict[tuple[str, str], list[ComparedPrice]] = {}
    for price in found.prices:
        groups.setdefault((price.comparable_per, price.currency), []).append(price)
    several = (group for group in groups.values() if len({one.competitor for one in group}) > 1)
    return [group for group in several if group[0].comparable_per]


def _changes(found: Competition) -> list[Block]:
    columns = ["Change", "Competitor", "What", "Before", "After", "Source"]
    tables: list[Block] = []
    for since, to in dict.fromkeys((one.since, one.to) for one in found.changes):
        between = [one for one in found.changes if (one.since, one.to) == (since, to)]
        rows = [
            [
                one.kind, found.names[one.competitor],
                " ".join(filter(None, (one.item, one.attribute and f"({one.attribute})"))),
                one.before or "", one.after or "",
                ", ".join(filter(None, (one.ref_before, one.ref_after))),
            ]
            for one in sorted(between, key=lambda one: _ORDER.index(one.kind))
        ]  # fmt: skip
        tables.append(TableBlock(columns, rows, caption=f"From {since} to {to}", max_rows=60))
    return tables


def _prices(found: Competition) -> list[Block]:
    rows = [
        [
            found.names[one.competitor], one.item or "",
            f"{one.amount:,.6g} {one.currency}", one.per,
            _comparable_text(one), one.comparable_per, one.ref,
        ]
        for one in found.prices
    ]  # fmt: skip
    columns = ["Competitor", "Item", "Price", "Per", "Comparable", "Per", "Source"]
    blocks = _table(columns, rows, 60)
    for group in _comparable(found)[:2]:
        named = [(_of(found, one), one.comparable) for one in group[:20]]
        title = f"{group[0].currency} per {group[0].comparable_per}"
        blocks.append(bars(title, named, alternative=f"Prices in {title}, the cheapest first"))
    if len({one.currency for one in found.prices}) > 1:
        blocks.append("Currencies are not converted.")
    return blocks


def _features(found: Competition) -> list[Block]:
    competitors = list(dict.fromkeys(cell.competitor for cell in found.matrix))
    shown: dict[tuple[str, str], str] = {}
    for cell in found.matrix:
        value, ref = f": {cell.value}" if cell.value else "", f" [{cell.ref}]"
        text = "?" if cell.has == "unknown" else f"{cell.has}{value}{ref}"
        shown[cell.attribute, cell.competitor] = text
    names = list(dict.fromkeys(cell.attribute for cell in found.matrix))
    if len(competitors) > _MOST_COLUMNS:
        known = ((name, one, text) for (name, one), text in shown.items() if text != "?")
        rows = [[name, found.names[one], text] for name, one, text in known]
        return _table(["Feature", "Competitor", ""], rows)
    rows = [[name, *(shown[name, one] for one in competitors)] for name in names]
    return _table(["Feature", *(found.names[one] for one in competitors)], rows)


def _facts(found: Competition) -> list[Block]:
    """What stands in no other table."""
    features = {cell.attribute for cell in found.matrix}
    rows = [
        [
            found.names[one.competitor], one.item or "", one.attribute, one.value,
            one.date or "", one.ref,
        ]
        for one in found.facts
        if not (found.prices and one.unit)
        and not any(same_feature(one.attribute, name) for name in features)
    ]  # fmt: skip
    columns = ["Competitor", "Item", "What", "Value", "Date", "Source"]
    return _table(columns, rows, 40)
