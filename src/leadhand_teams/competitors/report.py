"""The supervisor's answer: results cross-checked, put together and shown. No worker writes it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, product
from typing import Final

from pydantic import JsonValue

from leadhand import Answer, Plan
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand.tools.text import counted, joined_names
from leadhand_teams.competitors.features import only_one_has, same_feature
from leadhand_teams.competitors.output import ComparedPrice, Competition, Facts
from leadhand_teams.competitors.prices import PATTERNS, VOCABULARY, price_of
from leadhand_teams.shared.answers import added, synthesis
from leadhand_teams.shared.figures import Drawing, bars
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.report import Block, Items, Report, Section, TableBlock, saved, table_of
from leadhand_teams.shared.statements import check

_ORDER: Final = ("changed", "renamed", "removed", "added")


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    found = put_together(one.result.output for one in results if one.result is not None)
    lines: dict[str, list[str]] = {}
    for one in found.facts:
        lines.setdefault(one.ref, []).append(f"{one.attribute}: {one.value}")
    texts = [Text(ref, "; ".join(parts), id=ref) for ref, parts in lines.items()]
    figures = [figure for price in found.prices for figure in (price.amount, price.comparable)]
    checked = check(added(results), texts, computed=figures)
    found.statements, found.removed_statements = [*checked.kept], len(checked.removed)
    first = results[0].task.id if results else "plan"
    contradictions = [*_contradictions(found.facts)][:20]
    gaps = [f"not read: {why}" for why in found.unread]
    gaps += [f"sources contradict: {about}" for about in contradictions]
    why = "the files state different values for the same date"
    return synthesis(
        report(plan.goal, found, contradictions).markdown(title=False), found, by=[first],
        conflicts=[(about, why) for about in contradictions],
        sources=[(first, one.file) for one in found.facts],
        gaps=[(first, one) for one in gaps],
    )  # fmt: skip


def put_together(outputs: Iterable[JsonValue]) -> Competition:
    """What all workers found, without what their models added."""
    found = Competition()
    for output in outputs:
        part = Competition.model_validate(output if isinstance(output, dict) else {})
        for name in part.model_fields_set:
            getattr(found, name).extend(getattr(part, name))
    found.unread = list(dict.fromkeys(found.unread))
    return found


def _contradictions(facts: Facts) -> Iterator[str]:
    """Files that state different values of one attribute for the same date."""
    stated: dict[tuple[str | None, ...], dict[str, tuple[str, str]]] = {}
    for one in facts:
        price = price_of(one.value, heading=one.attribute)
        plain = f"{price.comparable} {price.currency}" if price else one.value.lower()
        about = (one.competitor, one.item, one.attribute.lower(), one.date)
        stated.setdefault(about, {}).setdefault(plain, (one.file, f"{one.value} ({one.ref})"))
    for (*about, _), values in stated.items():
        if len({file for file, _ in values.values()}) > 1:
            shown = " and ".join([said for _, said in values.values()][:3])
            yield f"{' '.join(filter(None, about))}: {shown}"


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """The report as a page and as Markdown."""
    conflicts = [one.about for one in answer.conflicts]
    found = Competition.model_validate(answer.output)
    return report(answer.request, found, conflicts, saved(answer)).files


def report(request: str, found: Competition, conflicts: Sequence[str], saved: str = "") -> Report:
    """What is handed on."""
    decided, found = lead(found), found.spelled
    left_out = f"Statements of a model whose citation does not hold: {found.removed_statements}."
    footer = [VOCABULARY["note"], left_out if found.removed_statements else "", saved]
    blocks: dict[str, list[Block]] = {
        "The sources contradict each other": [Items(conflicts)],
        "Draft": [Items([line for line in found.draft if line not in decided])],
        "Added by a model": [Items([f"{one.text} [{one.ref}]" for one in found.statements])],
        "What changed": [],
        "Prices": [*_bars(found)],
        "Features": [_features(found)],
        "Facts": [],
    }
    found.changes.sort(key=lambda one: _ORDER.index(one.kind))
    for title, (rows, columns) in VOCABULARY["tables"].items():
        blocks[title].insert(0, table_of(getattr(found, rows), *columns))
    return Report(
        title="Competitors",
        about=request,
        lead=decided,
        sections=[Section(title, shown) for title, shown in blocks.items()],
        missing=[f"Not read: {why}" for why in found.unread],
        footer=[*filter(None, footer)],
    )


def lead(found: Competition) -> list[str]:
    """At most six sentences: the changes, what is cheapest, and what only one has."""
    found, lines = found.spelled, list[str]()
    if changes := found.changes:
        kinds = Counter(one.kind for one in changes)
        parts = [f"{kinds[kind]} {kind}" for kind in _ORDER if kinds[kind]]
        lines.append(f"Between {changes[0].since} and {changes[-1].to}: {joined_names(parts)}.")
        renamed = [f"{one.before} is now {one.after}" for one in changes if one.kind == "renamed"]
        lines += [f"Renamed, not gone: {joined_names(renamed[:3])}."] if renamed else []
        # A feature that one plan lost and another one got.
        lines += [
            f"{a.competitor}: {a.attribute} moved from {a.item} to {b.item} [{b.ref_after}]."
            for a, b in product(changes, changes)
            if (a.kind, b.kind, a.to) == ("removed", "added", b.to)
            and (a.competitor, bool(a.attribute)) == (b.competitor, True)
            and a.item != b.item
            and same_feature(a.attribute or "", b.attribute or "")
        ][:2]
        changed = [one for one in changes if one.kind == "changed"]
        priced = [one for one in changed if PATTERNS["price"].search(one.attribute or "")]
        for one in priced[:2]:
            moved = f"from {one.before} to {one.after} [{one.ref_after}]"
            lines.append(f"{_of(one.competitor, one.item)}: {moved}.")
    for group in _comparable(found):
        one = next((price for price in group if price.amount), group[0])
        kind = "Cheapest" if group[0].amount else "Cheapest paid plan"
        what = f"{_of(one.competitor, one.item)}, {one.compared.partition(' per ')[0]}"
        per = one.comparable_per.replace(" per ", " and ")
        lines.append(f"{kind} per {per}: {what} [{one.ref}].")
    for cell in only_one_has(found.matrix)[:2]:
        lines.append(f"Only {cell.competitor} has {cell.attribute} [{cell.ref}].")
    nothing = f"{counted(len(found.facts), 'fact')}; nothing differs that could be compared."
    return lines[:6] or [nothing]


def _of(competitor: str, item: str | None) -> str:
    return f"{competitor} {item}" if item else competitor


def _comparable(found: Competition) -> list[list[ComparedPrice]]:
    """The prices for the same thing in the same currency, of at least two competitors."""
    by_unit = groupby(found.prices, key=lambda one: (one.comparable_per, one.currency))
    groups = [list(group) for (per, _), group in by_unit if per]
    return [group for group in groups if len({one.competitor for one in group}) > 1]


def _bars(found: Competition) -> Iterator[Drawing]:
    for group in _comparable(found)[:2]:
        named = [(_of(one.competitor, one.item), one.comparable) for one in group[:20]]
        title = f"{group[0].currency} per {group[0].comparable_per}"
        yield bars(title, named, alternative=f"Prices in {title}, the cheapest first")


def _features(found: Competition) -> TableBlock:
    """A row for each feature, a column for each competitor."""
    rows: dict[str, list[str]] = {}
    for cell in found.matrix:
        value, ref = f": {cell.value}" if cell.value else "", f" [{cell.ref}]"
        text = "?" if cell.has == "unknown" else f"{cell.has}{value}{ref}"
        rows.setdefault(cell.attribute, [cell.attribute]).append(text)
    competitors = dict.fromkeys(cell.competitor for cell in found.matrix)
    return TableBlock(["Feature", *competitors], [*rows.values()])
