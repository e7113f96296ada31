"""Finds topics in files: JSON Lines, tables, notes, a syllabus, a textbook's contents, lists."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, cast

import jmespath

from leadhand_teams.curriculum.output import LessonExercise
from leadhand_teams.curriculum.topics import VOCABULARY, Topic, has, slug
from leadhand_teams.shared.reading import Reading, Text, read_once
from leadhand_teams.shared.tables import DataTable
from leadhand_teams.shared.values import number

_HEADING: Final = re.compile(r"^(#{1,6})\s+(.+?)\s*#*$")
_ITEM: Final = re.compile(
    r"^(\s*)(?:[-*+•]|(\d+(?:\.\d+)*)[.)]?)\s+(\S.*?)(?:\s*\.{3,}\s*\d+)?\s*$"
)
_BULLET: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")
_PART: Final = re.compile(rf"^(?i:{VOCABULARY.patterns['part']})\s*[:.–—-]\s*")
_LABEL: Final = re.compile(
    r"^[\s*_>•+-]*(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in VOCABULARY.labels.items())
    + r")(?:\s+\d+)?[\s*_]*(?::|：|$)[\s*_]*(?P<rest>.*)$",
    re.IGNORECASE,
)
_HOURS: Final = rf"(\d+(?:[.,]\d+)?)\s*(?:(?:{VOCABULARY.patterns['hour']})(?:\s?(\d\d))?|(min\w*))"
_REQUIRES: Final = re.compile(
    rf"(?:{VOCABULARY.labels['requires']}|after|nach)\s*:?\s+([^;()]+)", re.IGNORECASE
)
_NAMED: Final = jmespath.compile("[].[resolved || concept || id || title || @][]")
_PAGE: Final = re.compile(r"\s+(\d+)$")
_OTHER: Final = re.compile("|".join(VOCABULARY.no_topic), re.IGNORECASE)


class CourseFiles(NamedTuple):
    """What was handed in."""

    topics: Mapping[str, list[Topic]]
    """By file."""
    texts: Sequence[Text]
    """What a model may quote."""
    unread: Sequence[str]
    left_out: Sequence[str]
    """Sections and weeks that are no topics, such as exams."""

    @property
    def every(self) -> list[Topic]:
        """The topics of all files."""
        return [topic for topics in self.topics.values() for topic in topics]


@read_once
def files_of(reading: Reading) -> CourseFiles:
    """The topics in the files at some paths."""
    topics = {name: list(_rows(name, reading)) for name in reading.files}
    by_json = {name for name, found in topics.items() if found}
    for table in reading.tables:
        topics[table.file] += [] if table.file in by_json else _of_table(table)
    texts = [Text(one.file, one.text, id=one.ref) for rows in topics.values() for one in rows]
    for text in reading.texts:
        if text.name not in by_json:
            texts.append(text)
            topics[text.name] = topics[text.name] or of_text(text)
    left_out: list[str] = []
    for name, every in topics.items():
        other = [one for one in every if one.position is not None and _OTHER.fullmatch(one.title)]
        topics[name] = [one for one in every if one not in other]
        left_out += [f"{one.title} [{one.ref}]" for one in other]
    why = dict.fromkeys((name for name in topics if not topics[name]), "no topics were found in it")
    why |= {one.name: one.why for one in reading.unread}
    unread = [f"{name}: {one}" for name, one in why.items()]
    found = {name: every for name, every in topics.items() if every}
    return CourseFiles(found, texts, unread, left_out)


def _rows(name: str, reading: Reading) -> Iterator[Topic]:
    """The topics of a file of JSON Lines."""
    is_json = name.lower().endswith((".jsonl", ".ndjson"))
    for n, line in enumerate(reading.lines.get(name, ()) if is_json else (), start=1):
        try:
            row: object = json.loads(line or "0")
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            fields = cast("dict[str, object]", row)
            yield from _of_fields(fields, name, str(fields.get("id") or f"{name}:{n}"))


def _of_table(table: DataTable) -> Iterator[Topic]:
    has = {name for name, names in VOCABULARY.columns.items() if table.column(*names)}
    is_course = "title" in has or {"name"} < has  # names of what? of pupils, perhaps
    for n, row in enumerate(table.records(VOCABULARY.columns) if is_course else ()):
        for topic in _of_fields(row, table.file, row["ref"]):
            topic.position = n if "week" in has else None
            yield topic


def _of_fields(row: Mapping[str, object], file: str, ref: str) -> Iterator[Topic]:
    key = str(row["id"]) if row.get("id") not in (None, "") else ""
    title = str(row.get("title") or row.get("name") or key).strip()
    goals = row.get("goals")
    listed = isinstance(goals, list)
    lines = cast("list[object]", goals) if listed else re.split(r"[\n;]", str(goals or ""))
    stripped = [_BULLET.sub("", str(line)).strip() for line in lines]
    if title:
        yield Topic(
            id=key or slug(title), title=title, file=file, ref=ref,
            summary=str(row.get("summary") or row.get("description") or ""),
            goals=[line for line in stripped if line and not line.startswith("#")],
            requires=_names(row.get("prerequisites")), hours=hours_in(str(row.get("hours"))),
        )  # fmt: skip


def hours_in(text: str, *, is_bare: bool = True) -> float | None:
    """The hours of `1.5 h`, `2 h 30` or `90 min`, or of a bare number."""
    hours = number(text) if is_bare else None
    if found := has(text, _HOURS):
        hours = float(found[1].replace(",", ".")) / (60 if found[3] else 1)
        hours += float(found[2] or 0) / 60
    return hours if hours is not None and 0 < hours < 10_000 else None


def _names(requires: object) -> list[str]:
    """The names in a list of strings and objects, or in a text."""
    if isinstance(requires, list):
        return [str(one) for one in cast("list[object]", _NAMED.search(requires)) if one]
    return split_names(str(requires or ""))


def split_names(text: str) -> list[str]:
    """The names in a list such as `loops, lists`."""
    names = [name.strip(" .*_`") for name in re.split(r"[;,\n]", text)]
    return [name for name in names if name.lower() not in VOCABULARY.none]


def of_text(text: Text) -> list[Topic]:
    """The topics of a text: its sections or weeks, or the entries of its lists."""
    lines = [(line.start(), line[0]) for line in re.finditer(r"(?m)^.*$", text.text)]
    starts = _starts([line for _, line in lines])
    every = [_topic(text, lines[a:b]) for a, b in pairwise([*starts, len(lines)])]
    found = [topic for topic in every if topic.title]
    pages = [_PAGE.search(topic.title) for topic in found]
    numbers = [int(page[1]) for page in pages if page]
    if len(found) > 2 and len(numbers) > 0.8 * len(found) and numbers == sorted(numbers):
        for topic in found:  # a textbook's contents
            topic.title = _PAGE.sub("", topic.title)
            topic.id = slug(topic.title)
    for n, topic in enumerate(found):
        topic.position = n if len(found) > 1 else None
    return found


def _starts(lines: Sequence[str]) -> list[int]:
    """The lines that begin a topic; a chapter that only has sections is none."""
    heads, items = list[tuple[int, int]](), list[tuple[int, int]]()
    weeks, below_label = list[int](), False
    for n, line in enumerate(lines):
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if _LABEL.match(line.lstrip("# ")):
            below_label = True
        elif heading:
            heads.append((n, len(heading[1])))
            below_label = False
        elif item and not item[1] and not below_label:
            items.append((n, (item[2] or "").count(".")))
        elif _PART.match(line):
            weeks.append(n)
            below_label = False
    top = min((level for _, level in heads), default=0)
    if len(heads) > 1 and sum(level == top for _, level in heads) == 1:
        heads = [(n, level) for n, level in heads if level > top]
    sections = _leaves(heads, lines)
    if len(sections) > 1:
        return sections
    entries = weeks if len(weeks) > 1 else _leaves(items, lines)
    return entries if len(entries) > 1 else sections


def _leaves(rows: Sequence[tuple[int, int]], lines: Sequence[str]) -> list[int]:
    return [
        n
        for (n, level), (after, below) in pairwise([*rows, (len(lines), 0)])
        if below <= level or any(map(str.strip, lines[n + 1 : after]))
    ]


def _topic(text: Text, lines: Sequence[tuple[int, str]]) -> Topic:
    """A topic from the line with its title, and what is said of it below."""
    topic, label, prose = _titled(text, *lines[0]), "", list[str]()
    is_week, solved = _PART.match(lines[0][1]), None
    for offset, whole in lines[1:]:
        line = whole.lstrip("# ")
        item = _ITEM.match(line)
        if found := _LABEL.match(line):
            label, line = next(name for name in VOCABULARY.labels if found[name]), found["rest"]
            solved = topic.exercises[-1] if topic.exercises else None
        elif is_week and not line:  # what follows is not about the last week
            break
        elif line and not item and label not in ("question", "solution"):
            label = ""
        words = _BULLET.sub("", line).strip()
        match label if words else "nothing":
            case "requires":
                topic.requires += split_names(words)
            case "hours":
                topic.hours = hours_in(words) or topic.hours
            case "goals":
                topic.goals.append(words)
            case "question":
                topic.exercises.append(LessonExercise(question=words, ref=text.ref(offset)))
            case "solution" if solved:
                if item:  # a list of solutions is in the order of the questions
                    solved = next((one for one in topic.exercises if not one.solution), solved)
                solved.solution = f"{solved.solution} {words}" if solved.solution else words
            case _:
                prose.append(words)
    topic.summary = " ".join(filter(None, (topic.summary, *prose)))
    return topic


def _titled(text: Text, offset: int, line: str) -> Topic:
    """A topic from its title, with hours and needs in brackets: `Loops (2 h; needs: lists)`."""
    item = _ITEM.match(line.strip())
    line = _PART.sub("", (item[3] if item else line).lstrip("# "), count=1)
    hours, requires = None, list[str]()
    for bracket in re.findall(r"\s*\([^()]*\)", line):
        taken, needed = hours_in(bracket, is_bare=False), _REQUIRES.search(bracket)
        line = line.replace(bracket, "") if taken or needed else line
        hours = taken or hours
        requires += split_names(needed[1]) if needed else []
    title, _, summary = re.sub(r"\s+[–—-]\s+|\s*:\s+", "\0", line, count=1).partition("\0")
    title = title.strip(" *_`.:")[:120]
    return Topic(
        id=slug(title), title=title, summary=summary.strip(), hours=hours, requires=requires,
        file=text.name, ref=text.ref(offset),
    )  # fmt: skip
