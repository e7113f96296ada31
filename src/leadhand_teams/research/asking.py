"""Reads a question by the grammar, for one table and those joined to it. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from leadhand_teams.research.grammar import (
    BOUND,
    LEAST,
    MOST,
    NUMBERS,
    OPERATORS,
    Ask,
    Bound,
    Filter,
    Grain,
    kind_of,
    limit_of,
)
from leadhand_teams.research.schema import Field, View, join
from leadhand_teams.research.words import Word, alike, is_doing, name_stems, naming, words_of
from leadhand_teams.shared import values
from leadhand_teams.shared.values import Period

MAX_PARTS: Final = 500
"""Values with a word in them, of a filter by that word."""
_GROUP_BEFORE: Final = re.compile(
    r"\b(?P<split>each|every|per|by|for each|for every)\s+(?:the\s+)?|"
    r"\b(?:which|what|whose|rank(?:ed)?(?: all)?|list|top \w+|"
    rf"(?:the )?(?:{'|'.join(NUMBERS)}|\d+))(?: of)?(?: are| is| were| was)?(?: the)?\s+",
    re.IGNORECASE,
)
_SHARE_OF: Final = re.compile(
    r"\b(?:share|percentage|percent|proportion|part) of\b(?P<whole>.*?)"
    r"\b(?:were|was|are|is)\b(?P<part>.*)",
    re.IGNORECASE,
)
_PAY: Final = frozenset(name_stems("salary wage pay"))
_HEADS: Final = frozenset(name_stems("fte headcount"))
_UNITS: Final = frozenset(name_stems("units"))
_MONEY: Final = frozenset(name_stems("revenue sales turnover amount income"))
"""Columns that are taken first if a question names none."""
_PLACE_WORDS: Final = "city place location country region site office branch state"
_PLACES: Final = frozenset(_PLACE_WORDS.split())
_GRAINS: Final[tuple[Grain, ...]] = ("year", "quarter", "month", "day")


def read(question: str, tables: Sequence[View]) -> list[Ask]:
    """The question as each table could answer it, the best first."""
    found = [ask for view in tables if (ask := _Reader(question, view, tables).ask()) is not None]
    return sorted(found, key=_rank)


def _rank(ask: Ask) -> tuple[int, int, int, int]:
    needs_date = ask.kind == "growth" and not (ask.date and ask.date.is_series)
    needs_figures = ask.kind not in ("count", "value", "share") and ask.measure is None
    return (len(ask.unknown), needs_date + needs_figures, -ask.explained, len(ask.joins))


class _Reader:
    """Reads one question for one table; each step marks the words that it explains."""

    def __init__(self, question: str, view: View, tables: Sequence[View]) -> None:
        self.question = question
        self.words = words_of(question)
        self.used: set[int] = set()
        self.measure_words: set[int] = set()
        self.made = Ask(view, kind_of(question))
        self.joined = [
            (one, found) for one in tables if one is not view and (found := join(view, one))
        ]

    def ask(self) -> Ask | None:
        made = self.made
        self._read_periods()
        self._read_measure()
        self._read_filters()
        self._read_group()
        self._read_others()
        has_part = made.measure or made.group or made.filters or made.attribute
        is_counted = made.kind == "count" and any(made.view.is_rows(w.stem) for w in self.words)
        if made.explained == 0 or not (has_part or is_counted):
            return None
        self._settle()
        is_bare = made.measure is None and made.group is None
        return None if is_bare and made.kind in ("max", "min", "ranking") else made

    def _fields(self) -> list[Field]:
        others = [f for view, _ in self.joined for f in view.fields]
        return [*self.made.view.fields, *others]

    def _join_for(self, wanted: Field) -> None:
        for view, found in self.joined:
            if wanted.table is view and found not in self.made.joins:
                self.made.joins.append(found)

    def _use(self, indices: Iterable[int]) -> None:
        new = set(indices) - self.used
        self.used |= new
        self.made.explained += len(new)

    def _read_periods(self) -> None:
        made, text = self.made, self.question
        made.periods = values.periods(text)
        days = values.dates(text)
        spans = [(at, at + len(p.text)) for p in made.periods if (at := text.find(p.text)) >= 0]
        spans += [(one.start, one.end) for one in days]
        for n, word in enumerate(self.words):
            if any(start <= word.start < end for start, end in spans):
                self.used.add(n)
            elif (month := values.MONTHS.get(word.text.lower())) and word.is_name and n:
                made.months.append(month)
                self.used.add(n)
        made.periods = [p for p in made.periods if not _is_within(p, made.periods)]
        only = made.periods[0] if len(made.periods) == 1 else None
        if made.kind == "difference" and only and only.kind == "month" and len(made.months) == 1:
            # "from January to December 2025"
            first = Period("month", only.start.replace(month=made.months.pop()))
            made.periods = sorted((first, only), key=lambda one: one.start)

    def _read_measure(self) -> None:
        best: tuple[float, Field, list[int]] | None = None
        for one in self.made.view.fields:
            if one.role not in ("measure", "rate"):
                continue
            hits = self._hits((*one.stems, *one.unit_stems))
            named = {self.words[n].stem for n in hits}
            share = len(named & set(one.stems)) / len(set(one.stems))
            if named and (share >= 0.34 or not set(one.stems) - named):
                score = len(named) + share
                if best is None or score > best[0]:
                    best = (score, one, hits)
        if best:
            self.made.measure = best[1]
            self.measure_words = set(best[2])
            self._use(best[2])
            self._read_rate(best[1])

    def _read_rate(self, part: Field) -> None:
        """`The no-show rate`: one column of counts in percent of the only other."""
        at = self._hits(name_stems("rate"))
        is_over_time = self.made.kind == "growth" and len(self.made.periods) < 2
        if not at or part.role != "measure" or is_over_time:
            return
        numbers = part.column.numbers
        wholes = [
            one
            for one in self.made.view.fields
            if one is not part and one.role == "measure" and one.column.unit == part.column.unit
            and all((a or 0) <= (b or 0) for a, b in zip(numbers, one.column.numbers, strict=True))
        ]  # fmt: skip
        if len(wholes) == 1:
            self._use(at)
            self.made.whole, self.made.is_rate = wholes[0], True
            self.made.doubts.append(
                f"No column is a rate: {part.name} was divided by {wholes[0].name}."
            )

    def _read_filters(self) -> None:
        stems = [word.stem for word in self.words]
        found: list[tuple[int, int, Field, list[str]]] = []
        for one in self._fields():
            for named, texts in one.named.items():
                size = len(named)
                found += [
                    (size, n, one, texts)
                    for n in range(len(stems) - size + 1)
                    if tuple(stems[n : n + size]) == named and self._may_name(n, size, one)
                ]
        taken: set[int] = set()
        own = self.made.view
        for size, n, one, texts in sorted(
            found, key=lambda f: (-f[0], f[2].table is not own, f[1])
        ):
            span = set(range(n, n + size))
            if span & taken:
                continue
            taken |= span
            self._use(span)
            self._join_for(one)
            self._add_filter(one, tuple(texts))

    def _may_name(self, start: int, size: int, one: Field) -> bool:
        """Whether these words may be a value: a single common word only as written."""
        if any(n in self.used and n not in self.measure_words for n in range(start, start + size)):
            return False
        word = self.words[start]
        if size > 1:
            return True
        if start in self.used:  # It names the measure too: `Sales` after "in".
            return word.text[0].isupper() and start > 0
        if word.stem in one.stems and not word.is_name:
            return False
        return not (word.text.isdigit() and one.role == "key" and len(word.text) < 3)

    def _add_filter(self, one: Field, texts: tuple[str, ...]) -> None:
        same = next((n for n, f in enumerate(self.made.filters) if f.field is one), None)
        if same is None:
            self.made.filters.append(Filter(one, texts))
        else:
            self.made.filters[same] = Filter(one, (*self.made.filters[same].texts, *texts))

    def _read_group(self) -> None:
        made = self.made
        for grain in _GRAINS:
            pattern = rf"\b(?:which|what|per|by|each) {grain}\b"
            if made.date and re.search(pattern, self.question, re.I):
                made.group, made.grain = made.date, grain
                return
        if re.match(r"\s*(?:.*\b)?who\b", self.question, re.I) and (label := made.view.label):
            made.group = label
            # `Who owns it` asks for a column `Owner`.
            made.attribute = next((f for f in made.view.fields if self._is_asked_by(f)), None)
        elif re.search(r"\bwhere\b", self.question, re.I):
            places = [f for f in self._fields() if set(f.stems) & _PLACES]
            made.group = places[0] if places else made.view.label
        for match in _GROUP_BEFORE.finditer(self.question):
            after = [n for n, word in enumerate(self.words) if word.start >= match.end()][:4]
            chosen = self._group_of(after)
            if chosen:
                made.group = chosen[0]
                made.is_split = match["split"] is not None
                self._use([chosen[1]])
                self._join_for(made.group)
                return

    def _is_asked_by(self, one: Field) -> bool:
        verbs = [word for word in self.words if len(word.stem) > 2 and word.stem not in one.stems]
        named = [stem.removesuffix("er") for stem in name_stems(one.name)]
        return one.role == "group" and any(word.stem in named for word in verbs)

    def _group_of(self, indices: Sequence[int]) -> tuple[Field, int] | None:
        for n in indices:
            word = self.words[n]
            if n in self.measure_words or word.text.lower() in ("of", "in", "did", "does", "do"):
                return None
            for one in self._fields():
                if one.role in ("group", "key") and word.stem in one.stems:
                    return self._label_of(one), n
            for view in [self.made.view, *(view for view, _ in self.joined)]:
                if word.stem in view.stems and view.label:
                    return view.label, n
        return None

    def _label_of(self, one: Field) -> Field:
        """The name beside a key of another table, if there is one."""
        for view, found in self.joined:
            if found.many is one and view.label and view.label is not found.one:
                return view.label
        return one

    def _read_others(self) -> None:
        """Words that name columns, tables or parts of values."""
        made = self.made
        for n, word in enumerate(self.words):
            if n in self.used:
                continue
            named = [one for one in self._fields() if word.stem in (*one.stems, *one.unit_stems)]
            if named:
                one = named[0]
                if one.table is made.view or len(word.stem) > 2:
                    self._use([n])
                    if made.attribute is None and one.role in ("group", "date", "key"):
                        made.attribute = one
            elif word.stem in made.view.stems or any(
                word.stem in view.stems for view, _ in self.joined
            ):
                self._use([n])
        for word in naming(self.words):
            n = self.words.index(word)
            if n in self.used or made.view.is_rows(word.stem):
                continue
            part = self._part(word)
            if part is not None:
                one, texts = part
                self._use([n])
                self._join_for(one)
                made.filters.append(Filter(one, tuple(texts), word.text))
            elif any(alike(word.stem, stem) for one in self._fields() for stem in one.stems):
                self._use([n])
            elif is_doing(word) and made.explained:
                made.doubts.append(f"No column or value is named “{word.text}”; it was not used.")
            else:
                made.unknown.append(word.text)

    def _part(self, word: Word) -> tuple[Field, list[str]] | None:
        """The column with values that have the word among others, and these values."""
        for one in self._fields():
            texts = [t for stems, texts in one.named.items() if word.stem in stems for t in texts]
            if one.role == "group" and 0 < len(texts) <= MAX_PARTS:
                return one, texts
        return None

    def _hits(self, stems: Sequence[str]) -> list[int]:
        return [n for n, word in enumerate(self.words) if word.stem in stems and n not in self.used]

    def _settle(self) -> None:
        """Make the parts fit each other."""
        made, low = self.made, self.question.lower()
        made.is_mean = re.search(r"\b(?:average|mean)\b", low) is not None
        self._read_bound(low)
        made.is_lowest = _has(low, LEAST) and not _has(low, MOST)
        made.is_figure = re.search(
            r"\bwhat(?: is| was|'s| are| were)? the (?:\w+ )?(?:" + "|".join(MOST + LEAST) + r")\b",
            low,
        ) is not None and (made.group is None or made.measure is not None)
        made.limit = limit_of(low)
        self._find_measure(low)
        if made.periods and made.date is None:
            named = [p.text for p in made.periods]
            titles = f"{made.view.source.name} {' '.join(f.name for f in self._fields())}"
            made.unknown += [] if any(text in titles for text in named) else named
            made.periods = []
        if made.kind in ("max", "min") and made.measure is None and made.group is not None:
            date = next((f for f in made.view.fields if f.role == "date"), None)
            if date and re.search(r"oldest|newest|youngest|latest|earliest|first|last", low):
                made.measure = date
        has_two = len(made.periods) >= 2 or any(len(one.texts) == 2 for one in made.filters)
        if made.kind == "difference" and not has_two:
            made.kind = "value"
        if made.kind == "count" and made.measure is None and made.filters and not made.bound:
            # "How many chairs": pieces are counted where the table has them, not its rows.
            counted = not any(word.stem in made.view.stems for word in self.words)
            pieces = [f for f in made.view.fields if f.role == "measure" and _UNITS & set(f.stems)]
            made.measure = pieces[0] if pieces and counted else None
        if made.kind == "count" and made.measure is not None:
            made.kind = "sum"
        if made.kind == "sum" and made.measure and _PAY & set(made.measure.stems):
            made.doubts += [
                f"“{one.name}” was not used: {made.measure.name} is added up row by row."
                for one in made.view.fields
                if _HEADS & set(one.stems) and one is not made.measure
            ]
        column = made.measure.name.lower() if made.measure else ""
        is_in_column = {
            "median": "median" in column,
            "mean": re.search(r"avg|average|mean", column) is not None,
            "sum": not column,
        }
        if is_in_column.get(made.kind):
            made.kind = "value"
        if made.is_rate and made.kind in ("value", "sum", "mean"):
            made.kind = "mean" if made.is_split else "share"
        elif (
            made.kind == "share" and not made.is_rate and (found := _SHARE_OF.search(self.question))
        ):
            self._read_whole(name_stems(found["whole"]), name_stems(found["part"]))
        if made.attribute in [one.field for one in made.filters]:
            made.attribute = None

    def _read_bound(self, low: str) -> None:
        """A condition such as "more than 60,000" of the named measure."""
        made = self.made
        found = BOUND.search(low)
        if found is None or any(found["number"] in one.text for one in made.periods):
            return
        every = [one for one in made.view.fields if one.role == "measure"]
        measure = made.measure or (every[0] if len(every) == 1 and "worth" in low else None)
        number = values.number(found["number"])
        if "at least" in low or "at most" in low:
            made.kind = kind_of(low.replace(found[0], ""))
        made.kind = "count" if re.match(r"\s*how many\b", low) else made.kind
        if measure is None or number is None or made.kind not in ("count", "value"):
            made.unknown.append(found[0])
            return
        made.bound = Bound(measure, OPERATORS[found["how"]], number)
        made.measure = None
        if made.kind == "value":
            made.attribute = made.view.label

    def _read_whole(self, whole: Sequence[str], part: Sequence[str]) -> None:
        """The two measures of a share, if both are named and count in the same unit."""
        fields = [one for one in self.made.view.fields if one.role == "measure"]
        wholes = [one for one in fields if set(one.stems) <= set(whole)]
        parts = [one for one in fields if set(one.stems) <= set(part) and one not in wholes]
        if wholes and parts and wholes[0].column.unit == parts[0].column.unit:
            self.made.whole, self.made.measure = wholes[0], parts[0]

    def _find_measure(self, low: str) -> None:
        """The measure of a question that names none: the only one of the table."""
        made = self.made
        counts = re.search(r"\b(?:most|fewest|many)\b", low) and made.kind != "growth"
        if made.measure or counts or made.kind not in ("growth", "max", "min", "ranking"):
            return
        found = [one for one in made.view.fields if one.role == "measure"]
        found.sort(key=lambda one: not (one.column.unit or set(one.stems) & _MONEY))
        if found and (made.group or made.kind == "growth"):
            made.measure = found[0]
            if len(found) > 1:
                made.doubts.append(f"No column was named; {found[0].name} was taken.")


def _is_within(one: Period, others: Sequence[Period]) -> bool:
    return any(
        o is not one and o.start <= one.start and one.end <= o.end and o != one for o in others
    )


def _has(text: str, words: Sequence[str]) -> bool:
    return re.search(rf"\b(?:{'|'.join(words)})\b", text) is not None
