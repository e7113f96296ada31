"""The report: what decides first, then changes, prices and features, each row with its place."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from leadhand import Answer
from leadhand.tools.text import counted, joined_names
from leadhand_teams.competitors.features import only_one_has, same_feature
from leadhand_teams.competitors.output import (
    ComparedPrice,
    Competition,
    CompetitorFact,
    Feature,
    MarketChange,
)
from leadhand_teams.competitors.prices import is_price_word, prices
from leadhand_teams.shared.figures import Drawing, bars
from leadhand_teams.shared.report import Items, Report, Section, TableBlock, saved, table_of

_ORDER: Final = ("changed", "renamed", "removed", "added")
_NOTE: Final = (
    "Facts, prices and changes were read and computed by code. ? means that no source says it. "
    "Currencies are not converted."
)
One = TypeVar("One", CompetitorFact, Feature, ComparedPrice, MarketChange)


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """The report as a page and as Markdown."""
    conflicts = [one.about for one in answer.conflicts]
    found = Competition.model_validate(answer.output)
    return report(answer.request, found, conflicts, saved(answer)).files


def report(
    request: str, found: Competition, contradictions: Sequence[str], saved: str = ""
) -> Report:
    """What is handed on."""
    changes = sorted(_named(found, found.changes), key=lambda one: _ORDER.index(one.kind))
    change = ("kind", "competitor", "item", "attribute", "before", "after", "ref")
    price = ("competitor", "item", "price", "compared", "ref")
    fact = ("competitor", "item", "attribute", "value", "date", "ref")
    decided = lead(found)
    removed = counted(found.removed_statements, "statement")
    left_out = f"{removed} of a model left out, because the citation does not hold."
    return Report(
        title="Competitors",
        about=request,
        lead=decided,
        sections=[
            Section("The sources contradict each other", [Items(contradictions)]),
            Section("Draft", [Items([line for line in found.draft if line not in decided])]),
            Section("Added by a model", [Items([f"{o.text} [{o.ref}]" for o in found.statements])]),
            Section("What changed", [table_of(changes, *change)]),
            Section("Prices", [table_of(_named(found, found.prices), *price), *_bars(found)]),
            Section("Features", [_features(found)]),
            Section("Facts", [table_of(_named(found, found.facts), *fact)]),
        ],
        missing=[f"Not read: {why}" for why in found.unread],
        footer=[_NOTE, *([left_out] if found.removed_statements else []), *filter(None, [saved])],
    )


def lead(found: Competition) -> list[str]:
    """At most six sentences: the changes, what is cheapest, and what only one has."""
    lines: list[str] = []
    if changes := found.changes:
        kinds = Counter(one.kind for one in changes)
        parts = [f"{kinds[kind]} {kind}" for kind in _ORDER if kinds[kind]]
        lines.append(f"Between {changes[0].since} and {changes[-1].to}: {joined_names(parts)}.")
        renamed = [f"{one.before} is now {one.after}" for one in changes if one.kind == "renamed"]
        lines += [f"Renamed, not gone: {joined_names(renamed[:3])}."] if renamed else []
        lines += _moved(found)[:2]
        repriced = [one for one in changes if one.kind == "changed" and _is_price(one)]
        for one in repriced[:2]:
            lines.append(f"{_of(found, one)}: from {one.before} to {one.after} [{one.ref_after}].")
    for group in _comparable(found):
        one = next((price for price in group if price.amount), group[0])
        kind = "Cheapest" if group[0].amount else "Cheapest that is not free"
        what = f"{_of(found, one)}, {one.comparable:,.6g} {one.currency}"
        lines.append(f"{kind} per {one.comparable_per}: {what} [{one.ref}].")
    for cell in only_one_has(found.matrix)[:2]:
        lines.append(f"Only {found.names[cell.competitor]} has {cell.attribute} [{cell.ref}].")
    counts = counted(len(found.facts), "fact"), counted(len(found.names), "competitor")
    return lines[:6] or [f"{counts[0]} about {counts[1]}; nothing differs that could be compared."]


def _moved(found: Competition) -> list[str]:
    """Features that one plan lost and another one of the same competitor got."""
    gone = [one for one in found.changes if one.kind == "removed" and one.attribute]
    come = [one for one in found.changes if one.kind == "added" and one.attribute]
    return [
        f"{found.names[one.competitor]}: {one.attribute} moved from {one.item} to {two.item} "
        f"[{two.ref_after}]."
        for one in gone
        for two in come
        if (one.competitor, one.to) == (two.competitor, two.to)
        and one.item != two.item
        and same_feature(one.attribute or "", two.attribute or "")
    ]


def _named(found: Competition, rows: Iterable[One]) -> list[One]:
    """The rows with each competitor as its sources spell it."""
    return [
        one.model_copy(update={"competitor": found.names.get(one.competitor, one.competitor)})
        for one in rows
    ]


def _is_price(change: MarketChange) -> bool:
    is_price = is_price_word(change.attribute or "")
    return is_price or next(prices(change.after or ""), None) is not None


def _of(found: Competition, one: MarketChange | ComparedPrice) -> str:
    """The competitor and what is meant of it."""
    return f"{found.names[one.competitor]} {one.item or ''}".strip()


def _comparable(found: Competition) -> list[list[ComparedPrice]]:
    """The prices for the same thing in the same currency, of at least two competitors."""
    groups: dict[tuple[str, str], list[ComparedPrice]] = {}
    for price in found.prices:
        groups.setdefault((price.comparable_per, price.currency), []).append(price)
    several = (group for group in groups.values() if len({one.competitor for one in group}) > 1)
    return [group for group in several if group[0].comparable_per]


def _bars(found: Competition) -> list[Drawing]:
    drawn: list[Drawing] = []
    for group in _comparable(found)[:2]:
        named = [(_of(found, one), one.comparable) for one in group[:20]]
        title = f"{group[0].currency} per {group[0].comparable_per}"
        drawn.append(bars(title, named, alternative=f"Prices in {title}, the cheapest first"))
    return drawn


def _features(found: Competition) -> TableBlock:
    """A row for each feature, a column for each competitor."""
    competitors = list(dict.fromkeys(cell.competitor for cell in found.matrix))
    rows: dict[str, list[str]] = {}
    for cell in found.matrix:
        value, ref = f": {cell.value}" if cell.value else "", f" [{cell.ref}]"
        text = "?" if cell.has == "unknown" else f"{cell.has}{value}{ref}"
        rows.setdefault(cell.attribute, [cell.attribute]).append(text)
    return TableBlock(["Feature", *(found.names[one] for one in competitors)], [*rows.values()])
