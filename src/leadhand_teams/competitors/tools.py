"""What the workers do by code, and the tools that their models may call."""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, cast

from pydantic import JsonValue, TypeAdapter

from leadhand import Handoff, Result
from leadhand.tools.text import counted
from leadhand.tools.web import WebSettings, WebTools
from leadhand_teams.competitors.changes import all_changes
from leadhand_teams.competitors.features import matrix
from leadhand_teams.competitors.output import ComparedPrice, Competition, CompetitorFact
from leadhand_teams.competitors.pages import stated, undated
from leadhand_teams.competitors.prices import price_of, prices
from leadhand_teams.competitors.records import SourceRecord
from leadhand_teams.competitors.report import lead
from leadhand_teams.competitors.sources import host, sources_of

_PER: Final = re.compile(r"\W*(?:billing|billed|per|period|interval|unit)\W*", re.IGNORECASE)
RECORDS: Final = TypeAdapter(list[SourceRecord])


def collect(handoff: Handoff) -> Result:
    """The records of the competitors, or of the web page, that the payload names."""
    payload = cast("dict[str, list[str]]", handoff.payload)
    if "page" in payload:
        return _page(str(payload["page"]))
    sources, wanted = sources_of(handoff.artifacts), payload["competitors"]
    found = [one for one in sources.records if one.competitor in wanted]
    return _found(found, {name: sources.names[name] for name in wanted}, sources.unread)


def _page(address: str) -> Result:
    settings, name = WebSettings.from_environment(os.environ), host(address)
    if settings is None or not settings.read_pages:
        why = f"{address}: reading web pages is switched off (LEADHAND_WEB=1 allows it)"
        return _found([], {name: name}, [why])
    text = asyncio.run(WebTools(settings).read_page(address))
    lines = list(enumerate(text.splitlines(), start=1))
    return _found(list(stated(lines, competitor=name, file=address, date=None)), {name: name}, [])


def _found(records: list[SourceRecord], names: dict[str, str], unread: Sequence[str]) -> Result:
    output: dict[str, object] = {"records": RECORDS.dump_python(records, mode="json")}
    output |= {"names": names, "unread": [*unread]}
    summary = f"{counted(len(records), 'record')} about {counted(len(names), 'competitor')}."
    return Result(output=cast("JsonValue", output), summary=summary)


def analyse(handoff: Handoff) -> Result:
    """The analysis that the payload names, of what the researcher found."""
    records = records_in(handoff.inputs.values())
    current = _latest(records)
    found = Competition()
    match cast("dict[str, str]", handoff.payload)["analysis"]:
        case "matrix":
            found.matrix = matrix(current, list(dict.fromkeys(one.competitor for one in records)))
        case "prices":
            every = (price for record in current for price in _priced(record))
            key = ("comparable_per", "currency", "comparable")
            found.prices = sorted(every, key=lambda one: [getattr(one, name) for name in key])
        case _:
            files = {one.ref.rpartition(":")[0] for one in records}
            found.changes = all_changes(records, {file: undated(file) for file in files})
    return Result(output=found.model_dump(mode="json", exclude_defaults=True))


def write(handoff: Handoff) -> Result:
    """The sentences that decide, from the results."""
    lines = lead(put_together(handoff.inputs.values()))
    return Result(output={"draft": cast("JsonValue", lines)}, summary=lines[0])


def records_in(outputs: Iterable[JsonValue]) -> list[SourceRecord]:
    """The records in results of the researcher."""
    found = (one["records"] for one in outputs if isinstance(one, dict) and "records" in one)
    return [record for rows in found for record in RECORDS.validate_python(rows)]


def put_together(outputs: Iterable[JsonValue]) -> Competition:
    """What all workers found."""
    outputs, found = list(outputs), Competition()
    for output in outputs:
        part = Competition.model_validate(output if isinstance(output, dict) else {})
        for name in ("matrix", "prices", "changes", "draft", "unread"):
            getattr(found, name).extend(getattr(part, name))
        found.names |= part.names
    found.unread = list(dict.fromkeys(found.unread))
    found.facts = [fact for record in records_in(outputs) for fact in _facts(record)]
    return found


def _facts(record: SourceRecord) -> Iterator[CompetitorFact]:
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


def _latest(records: Sequence[SourceRecord]) -> list[SourceRecord]:
    """Those of each competitor's latest date, and those without one."""
    last: dict[str, str] = {}
    for one in records:
        last[one.competitor] = max(one.date or "", last.get(one.competitor, ""))
    return [one for one in records if one.date in (None, last[one.competitor])]


def _priced(record: SourceRecord) -> Iterator[ComparedPrice]:
    """The prices of a record; a column of its own may say what they are for."""
    per = next((value for name, value in record.values.items() if _PER.fullmatch(name)), "")
    read = {name: price_of(one, heading=f"{name} {per}") for name, one in record.values.items()}
    priced = {name: price for name, price in read.items() if price}
    for name, price in priced.items():
        comparable, unit = price.comparable
        item = f"{record.item} ({name})" if len(priced) > 1 else record.item
        yield ComparedPrice(
            competitor=record.competitor, item=item or None, amount=price.amount,
            currency=price.currency, per=price.per, comparable=comparable,
            comparable_per=unit, ref=record.refs[name], date=record.date,
        )  # fmt: skip


def comparable_price(price: str) -> str:
    """Make a written price comparable: `$144/year per user` is 12 USD for seat per month."""
    for found, _ in prices(price):
        amount, per = found.comparable
        return f"{amount:,.6g} {found.currency} for {per or 'one'}"
    return f"There is no price in {price!r}: write it like `$12 per user per month`."
