"""Finds out what the files are: sales, a survey, costs, competitors, segments, tasks, facts."""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from leadhand_teams.launch.schedule import LaunchTask
from leadhand_teams.shared.reading import Text, read, stamps
from leadhand_teams.shared.tables import DataColumn, DataTable
from leadhand_teams.shared.values import amounts

_PRICE: Final = ("price", "unit price", "average price", "preis", "prix", "precio")
_QUANTITY: Final = ("units", "quantity", "sales", "volume", "qty", "sold", "menge", "absatz")
_SEGMENTED: Final = ("type", "product", "sku", "item", "brand", "produkt")
_MOST_LEVELS: Final = 0.5
"""A column with more different values than this share of its rows groups nothing."""
_SURVEY: Final = (
    ("too cheap", "too low"), ("cheap", "bargain", "good value", "not expensive"),
    ("expensive", "getting expensive", "pricey"), ("too expensive", "too high"),
)  # fmt: skip
_FIGURES: Final = {
    "cost": r"(?:unit|variable|manufacturing|landed) costs?|costs? (?:per|a) unit|cogs",
    "fixed_costs": r"fixed costs?|launch (?:costs?|budget)|marketing budget|investment|fixkosten",
    "price": r"(?:list |selling |target |planned |launch )?price|verkaufspreis",
}
_LABELLED: Final = re.compile(r"^\W*(?P<label>[^\W\d][^:=|]{1,40}?)\s*[:=]\s*(?P<value>.+)$")
_BULLET: Final = re.compile(r"^\s*[*+•-]\s+(?P<fact>\S.{3,})$")
_HEADING: Final = re.compile(r"^#\s+(?P<title>.+?)\s*$", re.MULTILINE)


class SalesTable(NamedTuple):
    """A table of sales, whose columns were recognised."""

    table: DataTable
    price: DataColumn
    quantity: DataColumn
    controls: tuple[DataColumn, ...]
    """Columns that group rows: brand, region, week."""
    segments: DataColumn | None
    """The one that names the product or type."""


class ProductFact(NamedTuple):
    """A fact about the product, as its source words it."""

    text: str
    ref: str


@dataclass(frozen=True, slots=True)
class LaunchFiles:
    """What was handed in."""

    sales: SalesTable | None = None
    survey: tuple[DataTable, tuple[DataColumn, ...]] | None = None
    figures: dict[str, tuple[float, str]] = field(default_factory=dict[str, tuple[float, str]])
    """`cost`, `fixed_costs` and `price`, each with its place."""
    ladder: DataTable | None = None
    market: tuple[DataTable, ...] = ()
    tasks: DataTable | None = None
    channels: DataTable | None = None
    facts: tuple[ProductFact, ...] = ()
    product: str = ""
    texts: tuple[Text, ...] = ()
    unread: tuple[str, ...] = ()


def material_of(paths: Sequence[str]) -> LaunchFiles:
    """What the files are; files are read once until they change. Raises `InputError`."""
    return _material(tuple(paths), stamps(paths))


@functools.lru_cache(maxsize=2)
def _material(paths: tuple[str, ...], states: tuple[tuple[str, int, int], ...]) -> LaunchFiles:
    reading = read(paths)
    found: dict[str, object] = {}
    market: list[DataTable] = []
    figures: dict[str, tuple[float, str]] = {}
    for table in reading.tables:
        if columns := _survey(table):
            found.setdefault("survey", (table, columns))
        elif table.column("task", "activity", "aufgabe") and table.column(
            "days", "duration", "tage"
        ):
            found.setdefault("tasks", table)
        elif table.column("channel", "kanal"):
            found.setdefault("channels", table)
        elif table.column("segment", "segments"):
            market.append(table)
        elif table.column("competitor", "vendor", "company") and table.column(*_PRICE):
            found.setdefault("ladder", table)
        elif sales := _sales(table):
            found.setdefault("sales", sales)
        else:
            figures |= dict(_figures_of_rows(table))
    for text in reading.texts:
        figures |= dict(_figures_of_lines(text))
    title = next((one[1] for text in reading.texts if (one := _HEADING.search(text.text))), "")
    return LaunchFiles(
        **found,  # pyright: ignore[reportArgumentType]
        market=tuple(market),
        figures=figures,
        facts=tuple(fact for text in reading.texts for fact in _facts(text)),
        product=re.split(r"\s+[|–—-]\s+|:\s", title)[0],
        texts=reading.texts,
        unread=tuple(f"{one.name}: {one.why}" for one in reading.unread),
    )


def _survey(table: DataTable) -> tuple[DataColumn, ...]:
    """The four prices and, where they are there, the two likelihoods of buying."""
    prices = [table.column(*names) for names in _SURVEY]
    columns = [column for column in prices if column is not None]
    if len(columns) < 4 or len({column.name for column in columns}) < 4:
        return ()
    buying = table.column("buy at cheap"), table.column("buy at expensive")
    return (*columns, *(one for one in buying if one is not None and None not in buying))


def _sales(table: DataTable) -> SalesTable | None:
    price, quantity = table.column(*_PRICE), table.column(*_QUANTITY)
    if price is None or quantity is None or not any(price.numbers) or not any(quantity.numbers):
        return None
    controls = [
        column
        for column in table.columns
        if column not in (price, quantity)
        and 1 < len(set(column.texts)) <= max(2, _MOST_LEVELS * len(table))
    ]
    segments = table.column(*_SEGMENTED)
    return SalesTable(
        table, price, quantity, tuple(controls), segments if segments in controls else None
    )


def _figures_of_rows(table: DataTable) -> Iterator[tuple[str, tuple[float, str]]]:
    """Figures of a table with a name and an amount in each row."""
    for row in range(len(table)):
        cells = [column.cells[row] for column in table.columns]
        value = next((cell for cell in cells if isinstance(cell, float)), None)
        label = next((str(cell) for cell in cells if isinstance(cell, str)), "")
        if value is not None and (name := _figure(label)):
            yield name, (value, table.ref(row))


def _figures_of_lines(text: Text) -> Iterator[tuple[str, tuple[float, str]]]:
    for number, line in enumerate(text.text.splitlines(), start=1):
        if (found := _LABELLED.match(line)) and (name := _figure(found["label"])):
            for amount in amounts(found["value"]):
                yield name, (amount.value, f"{text.name}:{number}")
                break


def _figure(label: str) -> str | None:
    words = label.strip(" *-").lower()
    return next((name for name, pattern in _FIGURES.items() if re.fullmatch(pattern, words)), None)


def _facts(text: Text) -> Iterator[ProductFact]:
    """The entries of a text's lists."""
    for number, line in enumerate(text.text.splitlines(), start=1):
        if found := _BULLET.match(line):
            words = found["fact"].strip()
            if not ((label := _LABELLED.match(words)) and _figure(label["label"])):
                yield ProductFact(words, f"{text.name}:{number}")


def planned(table: DataTable) -> Iterator[LaunchTask]:
    """The tasks of a table; days that are missing count as none."""
    name, days = (
        table.column("task", "activity", "aufgabe"),
        table.column("days", "duration", "tage"),
    )
    needs = table.column("depends on", "predecessors", "after", "needs", "dependencies")
    owner = table.column("owner", "responsible", "who", "verantwortlich")
    for row in range(len(table)):
        title = name.texts[row].strip() if name else ""
        length = (days.numbers[row] or 0) if days else 0
        before = re.split(r"\s*[;,]\s*", needs.texts[row]) if needs else []
        person = owner.texts[row].strip() if owner else ""
        if title:
            after = tuple(filter(None, before))
            yield LaunchTask(title, max(0, round(length)), after, person or None, table.ref(row))
