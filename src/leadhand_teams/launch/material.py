"""Finds out what the files are: sales, a survey, costs, competitors, segments, tasks, facts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

import yaml
from pydantic import BaseModel

from leadhand.tools.text import joined_names
from leadhand_teams.launch.elasticity import MIN_ROWS
from leadhand_teams.launch.schedule import LaunchTask
from leadhand_teams.shared.reading import Reading, Text, read_once
from leadhand_teams.shared.statements import Statement
from leadhand_teams.shared.tables import DataColumn, DataTable
from leadhand_teams.shared.values import (
    DateFound,
    DecimalMark,
    amounts,
    dates,
    decimal_mark,
    number,
)

_MOST_LEVELS: Final = 0.5
"""A column with more different values than this share of its rows groups nothing."""
_NEEDED: Final = {
    "tasks": {"task", "days"}, "channels": {"channel"}, "market": {"segment"},
    "ladder": {"competitor", "price"},
}  # fmt: skip
"""The columns by which a table is known, but for surveys and sales."""
_LABELLED: Final = re.compile(r"^\W*(?P<label>[^\W\d][^:=|]{1,40}?)\s*[:=]\s*(?P<value>.+)$")
_BULLET: Final = re.compile(r"^\s*[*+•-]\s+(?P<fact>\S.{3,})$")
_HEADING: Final = re.compile(r"^(?:(?P<title>#+\s+.+?)|(?P<plain>\w[^:]{2,40}:))\s*$")
_DURATION: Final = re.compile(r"(\d+(?:[.,]\d+)?)\s*([^\W\d]*)")


class LaunchVocabulary(BaseModel):
    """What is in `vocabulary.yaml`."""

    columns: dict[str, list[str]]
    figures: dict[str, str]
    launch_date: str
    durations: dict[str, float]
    facts: str
    not_facts: str
    order: str
    parts: dict[str, str]
    price: str


VOCABULARY: Final = LaunchVocabulary.model_validate(
    yaml.safe_load(Path(__file__).with_name("vocabulary.yaml").read_text(encoding="utf-8"))
)


class SalesTable(NamedTuple):
    """A table of sales, whose columns were recognised."""

    table: DataTable
    price: DataColumn
    quantity: DataColumn
    controls: tuple[DataColumn, ...]
    """Columns that group rows: brand, region, week."""
    segments: DataColumn | None
    """The one that names the product or type."""


class LaunchFigure(NamedTuple):
    """An amount that a source states."""

    value: float
    currency: str | None
    ref: str


@dataclass(slots=True)
class LaunchFiles:
    """What was handed in."""

    sales: SalesTable | None = None
    survey: tuple[DataTable, tuple[DataColumn, ...]] | None = None
    figures: dict[str, list[LaunchFigure]] = field(default_factory=dict[str, list[LaunchFigure]])
    """`cost`, `fixed_costs` and `price`, wherever they are stated."""
    ladder: DataTable | None = None
    market: list[DataTable] = field(default_factory=list[DataTable])
    tasks: DataTable | None = None
    channels: DataTable | None = None
    facts: list[Statement] = field(default_factory=list[Statement])
    """About the product, as their sources word them."""
    dates: list[tuple[DateFound, str]] = field(default_factory=list[tuple[DateFound, str]])
    """What texts call the launch date, each with its place."""
    product: str = ""
    texts: tuple[Text, ...] = ()
    unread: list[str] = field(default_factory=list[str])


def column(table: DataTable, name: str) -> DataColumn | None:
    """The column that has what `name` stands for in the vocabulary."""
    return table.column(*VOCABULARY.columns[name])


@read_once
def material_of(reading: Reading) -> LaunchFiles:
    """What the files at some paths are."""
    found = LaunchFiles(texts=reading.texts)
    found.unread = [f"{one.name}: {one.why}" for one in reading.unread]
    for table in reading.tables:
        if why := _placed(found, table):
            found.unread.append(f"{table.name}: {why}")
    for text in reading.texts:
        _read_text(found, text)
    return found


def _placed(found: LaunchFiles, table: DataTable) -> str | None:
    """Put the table where it belongs; else why it is not used."""
    has = {name for name in VOCABULARY.columns if column(table, name)}
    kind = next((kind for kind, needed in _NEEDED.items() if needed <= has), "")
    made: object = table
    if prices := _survey(table):
        kind, made = "survey", (table, prices)
    elif (sales := _sales(table)) and (not kind or len(table) >= MIN_ROWS):
        kind, made = "sales", sales  # perhaps by channel or segment
    if kind == "market":
        found.market.append(table)
    elif kind and getattr(found, kind) is not None:
        return f"a second table of {kind} is not used"
    elif kind:
        setattr(found, kind, made)
    elif figures := list(_figures_of_rows(table)):
        for name, figure in figures:
            found.figures.setdefault(name, []).append(figure)
    else:
        names = joined_names([one.name for one in table.columns])
        return f"none of the tables that a launch needs; its columns are {names}"
    return None


def _survey(table: DataTable) -> tuple[DataColumn, ...]:
    """The four prices and, where they are there, the two likelihoods of buying."""
    found: list[DataColumn] = []
    for name in ("too_cheap", "too_expensive", "cheap", "expensive"):
        rest = DataTable(table.file, tuple(c for c in table.columns if c not in found), table.lines)
        if (one := column(rest, name)) is None:
            return ()
        found.append(one)
    low, high, cheap, expensive = found
    buying = column(table, "buy_at_cheap"), column(table, "buy_at_expensive")
    known = [one for one in buying if one is not None and None not in buying]
    return (low, cheap, expensive, high, *known)


def _sales(table: DataTable) -> SalesTable | None:
    price, quantity = column(table, "price"), column(table, "quantity")
    if price is None or quantity is None or not any(price.numbers) or not any(quantity.numbers):
        return None
    controls = [
        one
        for one in table.columns
        if one not in (price, quantity)
        and 1 < len(set(one.texts)) <= max(2, _MOST_LEVELS * len(table))
    ]
    segments = column(table, "segments")
    return SalesTable(
        table, price, quantity, tuple(controls), segments if segments in controls else None
    )


def _figures_of_rows(table: DataTable) -> Iterator[tuple[str, LaunchFigure]]:
    """Figures of a table with a name and an amount in each row."""
    for row in range(len(table)):
        cells = [(one.cells[row], one.unit) for one in table.columns]
        found = next(((cell, unit) for cell, unit in cells if isinstance(cell, float)), None)
        label = next((str(cell) for cell, _ in cells if isinstance(cell, str)), "")
        if found is not None and (name := _figure(label)):
            yield name, LaunchFigure(*found, table.ref(row))


def _figure(label: str) -> str | None:
    words = label.strip(" *-").lower()
    figures = VOCABULARY.figures.items()
    return next((name for name, pattern in figures if re.fullmatch(pattern, words)), None)


def _read_text(found: LaunchFiles, text: Text) -> None:
    """The product's name, figures, launch dates, and the entries of lists of facts."""
    # The first amount that shows the decimal mark: `66.000 €` leaves it open.
    marks: list[DecimalMark | None] = [
        decimal_mark(one.text) for one in amounts(text.text) if one.unit
    ]
    mark = next(filter(None, marks), None)
    by_section: dict[str, list[Statement]] = {}
    section = ""
    for n, line in enumerate(text.text.splitlines(), start=1):
        place = f"{text.name}:{n}"
        if heading := _HEADING.match(line):
            section = (heading["title"] or heading["plain"]).strip("# :")
            if not found.product and (heading["title"] or "").startswith("# "):
                found.product = re.split(r"\s+[|–—-]\s+|:\s", section)[0]
            continue
        label = _LABELLED.match(line)
        name = _figure(label["label"]) if label else None
        if label and re.fullmatch(f"(?i:{VOCABULARY.launch_date})", label["label"].strip(" *")):
            found.dates += [(day, place) for day in dates(label["value"])[:1]]
        elif label and name:
            for amount in list(amounts(label["value"], mark))[:1]:
                figure = LaunchFigure(amount.value, amount.unit, place)
                found.figures.setdefault(name, []).append(figure)
        elif bullet := _BULLET.match(line):
            words = bullet["fact"].strip()
            if re.search(f"(?i:{VOCABULARY.order})", words):
                found.unread.append(f"{place} addresses an AI: it is not used")
            elif not words.endswith("?"):
                fact = Statement(text=words[:2000], ref=place, quote=words[:2000])
                by_section.setdefault(section, []).append(fact)
    named = [one for one in by_section if re.fullmatch(f"(?i:{VOCABULARY.facts})", one)]
    other = [one for one in by_section if not re.search(f"(?i:{VOCABULARY.not_facts})", one)]
    found.facts += [fact for one in named or other for fact in by_section[one]]


def planned(table: DataTable) -> Iterator[LaunchTask]:
    """The tasks of a table; what they depend on may be named by id, as planning tools export it."""
    rows = table.records(VOCABULARY.columns)
    titles = {row["task"].casefold(): row["task"] for row in rows}
    by_id = {row["id"].casefold(): row["task"] for row in rows if row["id"]}
    days = column(table, "days")
    for row in rows:
        needs = filter(None, re.split(r"\s*[;,]\s*", row["depends_on"]))
        before = [_named(one, by_id | titles) for one in needs]
        if row["task"]:
            taken = working_days_of(row["days"], days.name if days else "")
            task = LaunchTask(row["task"], taken or 0, tuple(before), row["owner"] or None)
            yield replace(task, ref=row["ref"], is_estimated=taken is not None)


def _named(written: str, titles: Mapping[str, str]) -> str:
    """The title of a task by its title or id; `4FS` is 4, whose end it waits for."""
    key = written.casefold()
    return titles.get(key) or titles.get(key.removesuffix("fs")) or written


def working_days_of(text: str, usual: str = "") -> int | None:
    """The working days of `3 wks` or `2d 4h`; a bare number is in the unit that `usual` has."""
    days, parts = 0.0, _DURATION.findall(text)
    for amount, unit in parts:
        words = [unit] if unit else re.findall(r"[^\W\d]+", usual)[::-1]
        sizes = VOCABULARY.durations.items()
        known = (n for word in words for names, n in sizes if re.fullmatch(f"(?i:{names})", word))
        days += (number(amount) or 0) * next(known, 1)
    return -int(-days // 1) if parts else None
