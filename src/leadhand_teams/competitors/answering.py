"""The synthesis: cross-checks facts, analyses and drafts, and puts the report together."""

from collections.abc import Iterable, Sequence
from typing import Final, cast

from pydantic import JsonValue

from leadhand import Plan
from leadhand.contracts.answer import Conflict, Gap, Source
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand_teams.competitors.output import Competition, CompetitorFact
from leadhand_teams.competitors.prices import price_of
from leadhand_teams.competitors.records import SourceRecord
from leadhand_teams.competitors.report import report
from leadhand_teams.competitors.tools import records_in
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.statements import Added, check

_MOST_CONFLICTS: Final = 20


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    found = Competition()
    outputs = [one.result.output for one in results if one.result is not None]
    records = records_in(outputs)
    for output in outputs:
        part = Competition.model_validate(output if isinstance(output, dict) else {})
        found.matrix += part.matrix
        found.prices += part.prices
        found.changes += part.changes
        found.names |= part.names
        found.unread += [why for why in part.unread if why not in found.unread]
    found.facts = [fact for record in records for fact in _facts(record)]
    _add(found, outputs, records)
    conflicts = list(_contradictions(records, [one.task.id for one in results]))
    gaps = [Gap(task_id="files", why=f"not read: {why}") for why in found.unread]
    gaps += [
        Gap(task_id=one.task_ids[0], why=f"sources contradict: {one.about}") for one in conflicts
    ]
    files = dict.fromkeys(record.ref.rpartition(":")[0] for record in records)
    return Synthesis(
        answer=report(plan.goal, found, [one.about for one in conflicts]).markdown(title=False),
        output=cast("JsonValue", found.model_dump(mode="json", by_alias=True)),
        conflicts=tuple(conflicts),
        sources=tuple(Source(task_id=results[0].task.id, ref=file) for file in files),
        gaps=tuple(gaps),
    )


def _facts(record: SourceRecord) -> Iterable[CompetitorFact]:
    for attribute, value in record.values.items():
        price = price_of(value, heading=attribute)
        yield CompetitorFact(
            competitor=record.competitor,
            item=record.item or None,
            attribute=attribute,
            value=value,
            unit=" per ".join(filter(None, (price.currency, price.per))) if price else None,
            ref=record.refs[attribute],
            date=record.date,
        )


def _add(found: Competition, outputs: Sequence[JsonValue], records: Sequence[SourceRecord]) -> None:
    """What models added, if its citation holds; the rest is counted."""
    lines: dict[str, list[str]] = {}
    for one in records:
        for name, value in one.values.items():
            lines.setdefault(one.refs[name], []).append(f"{name}: {value}")
    texts = [Text(ref, "; ".join(parts), id=ref) for ref, parts in lines.items()]
    figures = [figure for price in found.prices for figure in (price.amount, price.comparable)]
    for output in outputs:
        if isinstance(output, dict) and output.get("added"):
            added = Added.model_validate(output["added"]).statements
            checked = check(added, texts, computed=figures)
            found.statements += checked.kept
            found.removed_statements += len(checked.removed)


def _contradictions(records: Sequence[SourceRecord], tasks: Sequence[str]) -> Iterable[Conflict]:
    """Files that state different values of one attribute for the same date."""
    stated: dict[tuple[str, str, str, str | None], dict[str, tuple[str, str]]] = {}
    for record in records:
        for attribute, value in record.values.items():
            price = price_of(value, heading=attribute)
            plain = f"{price.comparable} {price.currency}" if price else value.lower()
            key = (*record.key, attribute.lower(), record.date)
            stated.setdefault(key, {}).setdefault(plain, (value, record.refs[attribute]))
    told = 0
    for (competitor, item, attribute, _), values in stated.items():
        files = {place.rpartition(":")[0] for _, place in values.values()}
        if len(values) > 1 and len(files) > 1 and told < _MOST_CONFLICTS:
            told += 1
            shown = " and ".join(f"{value} ({place})" for value, place in list(values.values())[:3])
            about = f"{' '.join(filter(None, (competitor, item, attribute)))}: {shown}"
            why = "the files state different values for the same date"
            yield Conflict(task_ids=(tasks[0],), kind="contradiction", about=about, why=why)
