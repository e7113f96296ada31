"""The synthesis: cross-checks facts, analyses and drafts, and puts the report together."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from pydantic import JsonValue

from leadhand import Plan
from leadhand.contracts.answer import Conflict, Gap, Source
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand_teams.competitors.output import Competition
from leadhand_teams.competitors.prices import price_of
from leadhand_teams.competitors.records import SourceRecord
from leadhand_teams.competitors.report import report
from leadhand_teams.competitors.tools import put_together, records_in
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.statements import Added, check

_MOST_CONFLICTS: Final = 20


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    outputs = [one.result.output for one in results if one.result is not None]
    records, found = records_in(outputs), put_together(outputs)
    _add(found, outputs, records)
    first = results[0].task.id if results else "plan"
    contradictions = list(islice(_contradictions(records), _MOST_CONFLICTS))
    why = [f"not read: {why}" for why in found.unread]
    why += [f"sources contradict: {about}" for about in contradictions]
    files = dict.fromkeys(record.ref.rpartition(":")[0] for record in records)
    return Synthesis(
        answer=report(plan.goal, found, contradictions).markdown(title=False),
        output=found.model_dump(mode="json"),
        conflicts=tuple(
            Conflict(
                task_ids=(first,),
                kind="contradiction",
                about=about,
                why="the files state different values for the same date",
            )
            for about in contradictions
        ),
        sources=tuple(Source(task_id=first, ref=file) for file in files),
        gaps=tuple(Gap(task_id=first, why=one) for one in why),
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


def _contradictions(records: Sequence[SourceRecord]) -> Iterator[str]:
    """Files that state different values of one attribute for the same date."""
    stated: dict[tuple[str | None, ...], dict[str, tuple[str, str]]] = {}
    for record in records:
        for attribute, value in record.values.items():
            price = price_of(value, heading=attribute)
            plain = f"{price.comparable} {price.currency}" if price else value.lower()
            key = (*record.key, attribute.lower(), record.date)
            stated.setdefault(key, {}).setdefault(plain, (value, record.refs[attribute]))
    for (*what, _), values in stated.items():
        if len({place.rpartition(":")[0] for _, place in values.values()}) > 1:
            shown = " and ".join(f"{value} ({place})" for value, place in list(values.values())[:3])
            yield f"{' '.join(filter(None, what))}: {shown}"
