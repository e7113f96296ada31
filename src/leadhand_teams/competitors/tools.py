"""What the workers do by code, and the tools that their models may call."""

import asyncio
import functools
import os
import re
from collections.abc import Iterable, Sequence
from typing import Final, cast

from pydantic import JsonValue, TypeAdapter

from leadhand import Handoff, Result
from leadhand.tools.text import counted
from leadhand.tools.web import WebSettings, WebTools
from leadhand_teams.competitors.changes import all_changes
from leadhand_teams.competitors.features import matrix
from leadhand_teams.competitors.output import ComparedPrice, Competition
from leadhand_teams.competitors.pages import stated, undated
from leadhand_teams.competitors.prices import price_of, prices
from leadhand_teams.competitors.records import SourceRecord
from leadhand_teams.competitors.sources import Sources, gather, host
from leadhand_teams.shared.reading import read, stamps

_PER: Final = re.compile(r"\W*(?:billing|billed|per|period|interval|unit)\W*", re.IGNORECASE)
RECORDS: Final = TypeAdapter(list[SourceRecord])


def sources_of(paths: Sequence[str]) -> tuple[Sources, list[str]]:
    """What the files state, and what was not read; files are read once until they change."""
    return _read(tuple(paths), stamps(paths))


@functools.lru_cache(maxsize=4)
def _read(
    paths: tuple[str, ...], states: tuple[tuple[str, int, int], ...]
) -> tuple[Sources, list[str]]:
    reading = read(paths)
    return gather(reading), [f"{one.name}: {one.why}" for one in reading.unread]


def collect(handoff: Handoff) -> Result:
    """The records of the competitors, or of the web page, that the payload names."""
    payload = cast("dict[str, list[str]]", handoff.payload)
    if "page" in payload:
        return _page(str(payload["page"]))
    sources, unread = sources_of(handoff.artifacts)
    found = [one for one in sources.records if one.competitor in payload["competitors"]]
    names = {name: sources.names[name] for name in payload["competitors"]}
    return _found(found, names, unread)


def _page(address: str) -> Result:
    settings, name = WebSettings.from_environment(os.environ), host(address)
    if settings is None or not settings.read_pages:
        why = f"{address}: reading web pages is switched off (LEADHAND_WEB=1 allows it)"
        return _found([], {name: name}, [why])
    text = asyncio.run(WebTools(settings).read_page(address))
    lines = list(enumerate(text.splitlines(), start=1))
    return _found(list(stated(lines, competitor=name, file=address, date=None)), {name: name}, [])


def _found(records: list[SourceRecord], names: dict[str, str], unread: list[str]) -> Result:
    output: dict[str, object] = {"records": RECORDS.dump_python(records, mode="json")}
    output |= {"names": names, "unread": unread}
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
            found.prices = _compared(current)
        case _:
            files = {one.ref.rpartition(":")[0] for one in records}
            found.changes = all_changes(records, {file: undated(file) for file in files})
    return Result(output=found.model_dump(mode="json", exclude_defaults=True))


def write(handoff: Handoff) -> Result:
    """Nothing by code: the report has the tables, and a text needs a model."""
    return Result(output={}, summary="No draft: only a model can write one.")


def records_in(outputs: Iterable[JsonValue]) -> list[SourceRecord]:
    """The records in results of the researcher."""
    found = (one["records"] for one in outputs if isinstance(one, dict) and "records" in one)
    return [record for rows in found for record in RECORDS.validate_python(rows)]


def _latest(records: Sequence[SourceRecord]) -> list[SourceRecord]:
    """Those of each competitor's latest date, and those without one."""
    last: dict[str, str] = {}
    for one in records:
        last[one.competitor] = max(one.date or "", last.get(one.competitor, ""))
    return [one for one in records if one.date in (None, last[one.competitor])]


def _compared(records: Sequence[SourceRecord]) -> list[ComparedPrice]:
    """All prices, the cheapest first among those for the same thing."""
    found: list[ComparedPrice] = []
    for one in records:
        # A column of its own may say what prices are for: `billing: per user per year`.
        per = next((value for name, value in one.values.items() if _PER.fullmatch(name)), "")
        priced = {
            name: price
            for name, value in one.values.items()
            if (price := price_of(value, heading=f"{name} {per}"))
        }
        for name, price in priced.items():
            comparable, per = price.comparable
            item = f"{one.item} ({name})" if len(priced) > 1 else one.item
            found.append(
                ComparedPrice(
                    competitor=one.competitor, item=item or None, amount=price.amount,
                    currency=price.currency, per=price.per, comparable=comparable,
                    comparable_per=per, ref=one.refs[name], date=one.date,
                )
            )  # fmt: skip
    return sorted(found, key=lambda price: (price.comparable_per, price.currency, price.comparable))


def comparable_price(price: str) -> str:
    """Make a written price comparable: `$144/year per user` is 12 USD for seat per month."""
    for found, _ in prices(price):
        amount, per = found.comparable
        return f"{amount:,.6g} {found.currency} for {per or 'one'}"
    return f"There is no price in {price!r}: write it like `$12 per user per month`."
