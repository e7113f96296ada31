"""Finds topics in files: JSON Lines, tables, notes, a syllabus, a textbook's contents, lists."""

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, cast

from leadhand_teams.curriculum.topics import StatedExercise, Topic, slug
from leadhand_teams.shared.reading import Reading, Text, read, stamps
from leadhand_teams.shared.tables import DataTable
from leadhand_teams.shared.values import number

_HEADING: Final = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_ITEM: Final = re.compile(
    r"^(\s*)(?:[-*+•]|(\d+(?:\.\d+)*)[.)]?)\s+(\S.*?)(?:\s*\.{3,}\s*\d+)?\s*$"
)
_WEEK: Final = re.compile(
    r"^(?:week|chapter|lesson|unit|part|woche|kapitel|lektion|semaine|chapitre|leçon|semana|tema)"
    r"\s*\d+\s*[:.–—-]\s*",
    re.IGNORECASE,
)
_LABELS: Final = {
    "requires": r"prerequisites?|requires?|needs|voraussetzung(?:en)?|setzt voraus|braucht|"
    r"prérequis|nécessite|requisitos|requiere",
    "hours": r"hours|duration|time|stunden|dauer|durée|heures|horas|duración",
    "goals": r"(?:learning )?(?:goals?|objectives?|outcomes?)|(?:lern)?ziele?|objecti(?:f|vo)s?",
    "question": r"exercises?|questions?|problems?|aufgaben?|übung(?:en)?|fragen?|ejercicios?",
    "solution": r"solutions?|answers?|lösung(?:en)?|antwort(?:en)?|réponses?|soluciones|solución",
}
_LABEL: Final = re.compile(
    r"^\W*(?:" + "|".join(f"(?P<{name}>{words})" for name, words in _LABELS.items())
    + r")(?:\s+\d+)?\W*(?::|：|$)\W*(?P<rest>.*)$",
    re.IGNORECASE,
)  # fmt: skip
_HOURS: Final = re.compile(
    r"(\d+(?:[.,]\d+)?)\s*(?:h|hrs?|hours?|std\.?|stunden?|heures?|horas?)\b", re.IGNORECASE
)
_REQUIRES: Final = re.compile(
    rf"(?:{_LABELS['requires']}|after|nach)\s*:?\s+([^;()]+)", re.IGNORECASE
)
_NONE: Final = frozenset(("", "-", "–", "none", "no", "keine", "aucun", "ninguno", "n/a"))
_MOST_TITLE: Final = 120
_LINES: Final = re.compile(r"[\n;]")
_COLUMNS: Final = {
    "id": ("id",),
    "title": ("topic", "concept", "title", "lesson", "name", "thema", "sujet", "tema"),
    "summary": ("summary", "description", "beschreibung"),
    "hours": ("hours", "stunden", "heures", "horas"),
    "goals": ("goals", "objectives", "lernziele"),
    "prerequisites": ("prerequisites", "requires", "needs", "voraussetzungen", "prérequis"),
}


class CourseFiles(NamedTuple):
    """What was handed in."""

    topics: Mapping[str, tuple[Topic, ...]]
    """By file."""
    texts: tuple[Text, ...]
    """What a model may quote."""
    unread: tuple[str, ...]

    @property
    def every(self) -> list[Topic]:
        """The topics of all files."""
        return [topic for topics in self.topics.values() for topic in topics]


def files_of(paths: Sequence[str]) -> CourseFiles:
    """The topics in files and folders; they are read once until they change."""
    return _read(tuple(paths), stamps(paths))


@functools.lru_cache(maxsize=2)
def _read(paths: tuple[str, ...], states: tuple[tuple[str, int, int], ...]) -> CourseFiles:
    reading = read(paths)
    topics: dict[str, list[Topic]] = {name: list(_rows(name, reading)) for name in reading.lines}
    by_json = {name for name, found in topics.items() if found}
    for table in reading.tables:
        if table.file not in by_json:
            topics.setdefault(table.file, []).extend(_of_table(table))
    texts = [Text(one.file, one.text, id=one.ref) for rows in topics.values() for one in rows]
    for text in reading.texts:
        if text.name not in by_json:
            texts.append(text)
            topics[text.name] = topics.get(text.name) or of_text(text)
    named = {one.name for one in reading.unread}
    unread = [f"{one.name}: {one.why}" for one in reading.unread]
    unread += [
        f"{name}: no topics were found in it"
        for name in reading.files
        if name not in named and not topics.get(name)
    ]
    found = {name: tuple(topics[name]) for name in reading.files if topics.get(name)}
    return CourseFiles(found, tuple(texts), tuple(unread))


def _rows(name: str, reading: Reading) -> Iterator[Topic]:
    """The topics of a file of JSON Lines."""
    if Path(name).suffix.lower() in (".jsonl", ".ndjson"):
        for number, line in enumerate(reading.lines[name], start=1):
            try:
                row: object = json.loads(line or "0")
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                yield from _of_fields(cast("dict[str, object]", row), name, f"{name}:{number}")


def _of_table(table: DataTable) -> Iterator[Topic]:
    columns = {field: table.column(*names) for field, names in _COLUMNS.items()}
    is_ordered = table.column("week", "woche", "semaine", "semana", "order") is not None
    for row in range(len(table)) if columns["title"] is not None else ():
        fields = {field: one.cells[row] for field, one in columns.items() if one is not None}
        for topic in _of_fields(fields, table.file, table.ref(row)):
            topic.position = row if is_ordered else None
            yield topic


def _of_fields(row: Mapping[str, object], file: str, place: str) -> Iterator[Topic]:
    key = str(row["id"]) if row.get("id") is not None else ""
    title = str(row.get("title") or row.get("name") or key).strip()
    if not title:
        return
    goals, hours = row.get("goals"), row.get("hours")
    lines = (
        cast("list[object]", goals) if isinstance(goals, list) else _LINES.split(str(goals or ""))
    )
    stripped = [re.sub(r"^[\s*•+-]+", "", str(line)).strip() for line in lines]
    yield Topic(
        id=key or slug(title), title=title, file=file, ref=key or place,
        summary=str(row.get("summary") or row.get("description") or ""),
        goals=[line for line in stripped if line and not line.startswith("#")],
        requires=list(_names(row.get("prerequisites"))),
        hours=hours if isinstance(hours, int | float) and 0 < hours < 10_000 else None,
    )  # fmt: skip


def _names(requires: object) -> Iterator[str]:
    """The names in a list of strings and objects, or in a text."""
    if isinstance(requires, list):
        for one in cast("list[object]", requires):
            fields = cast("dict[str, object]", one) if isinstance(one, dict) else {"id": one}
            keys = (fields.get(key) for key in ("resolved", "concept", "id", "title"))
            yield from (str(name) for name in [next(filter(None, keys), None)] if name)
    elif requires is not None:
        yield from split_names(str(requires))


def split_names(text: str) -> list[str]:
    """The names in a list such as `loops, lists`."""
    names = [name.strip(" .*_`") for name in re.split(r"[;,\n]", text)]
    return [name for name in names if name.lower() not in _NONE]


def of_text(text: Text) -> list[Topic]:
    """The topics of a text: its sections, or the entries of its lists."""
    lines, offset = list[tuple[int, str]](), 0
    for line in text.text.split("\n"):
        lines.append((offset, line))
        offset += len(line) + 1
    starts = _starts([line for _, line in lines])
    ends = [*starts[1:], len(lines)]
    found = [_topic(text, lines[one:end]) for one, end in zip(starts, ends, strict=True)]
    found = [topic for topic in found if topic.title]
    for n, topic in enumerate(found):
        topic.position = n if len(found) > 1 else None
    return found


def _starts(lines: Sequence[str]) -> list[int]:
    """The lines that begin a topic; a chapter that only has sections is none."""
    heads: list[tuple[int, int]] = []
    items: list[tuple[int, int]] = []
    for n, line in enumerate(lines):
        if (found := _HEADING.match(line)) and not _LABEL.match(found[2]):
            heads.append((n, len(found[1])))
        elif (item := _ITEM.match(line)) and not item[1] and not _LABEL.match(line):
            items.append((n, (item[2] or "").count(".")))
    top = min((level for _, level in heads), default=0)
    if len(heads) > 1 and sum(level == top for _, level in heads) == 1:
        heads = [(n, level) for n, level in heads if level > top]
    sections = _leaves(heads, lines)
    entries = _leaves(items, lines)
    return entries if len(entries) > 1 >= len(sections) else sections


def _leaves(rows: Sequence[tuple[int, int]], lines: Sequence[str]) -> list[int]:
    found: list[int] = []
    for (n, level), (after, below) in pairwise([*rows, (len(lines), 0)]):
        if below <= level or any(map(str.strip, lines[n + 1 : after])):
            found.append(n)
    return found


def _topic(text: Text, lines: Sequence[tuple[int, str]]) -> Topic:
    """A topic from the line with its title, and what is said of it below."""
    topic, label, prose = _titled(text, *lines[0]), "", list[str]()
    for offset, whole in lines[1:]:
        line = whole.lstrip("# ")
        if found := _LABEL.match(line):
            label, line = next(name for name in _LABELS if found[name]), found["rest"]
        elif line and not _ITEM.match(line) and label not in ("question", "solution"):
            label = ""
        words = re.sub(r"^\s*(?:[-*+•]|\d+[.)])\s+", "", line).strip()
        last = topic.exercises[-1] if topic.exercises else None
        match label if words else "nothing":
            case "requires":
                topic.requires += split_names(words)
            case "hours":
                topic.hours = number(_HOURS.sub(r"\1", words)) or topic.hours
            case "goals":
                topic.goals.append(words)
            case "question":
                topic.exercises.append(StatedExercise(question=words, ref=text.ref(offset)))
            case "solution" if last:
                last.solution = f"{last.solution} {words}" if last.solution else words
            case _:
                prose.append(words)
    topic.summary = " ".join(filter(None, (topic.summary, *prose)))
    return topic


def _titled(text: Text, offset: int, line: str) -> Topic:
    """A topic from its title, with hours and needs in brackets: `Loops (2 h; needs: lists)`."""
    hours, requires = None, list[str]()
    item = _ITEM.match(line.strip())
    line = _WEEK.sub("", (item[3] if item else line).lstrip("# "))
    for bracket in re.findall(r"\s*\([^()]*\)", line):
        taken, needed = _HOURS.search(bracket), _REQUIRES.search(bracket)
        if taken or needed:
            line = line.replace(bracket, "")
        hours = float(taken[1].replace(",", ".")) if taken else hours
        requires += split_names(needed[1]) if needed else []
    title, _, summary = re.sub(r"\s+[–—-]\s+|:\s+", "\0", line, count=1).partition("\0")
    title = title.strip(" *_`.:")[:_MOST_TITLE]
    topic = Topic(id=slug(title), title=title, summary=summary.strip(), hours=hours)
    return topic.model_copy(
        update={"requires": requires, "file": text.name, "ref": text.ref(offset)}
    )
