"""Resolves the words of a question to the columns, values and periods of tables. Pure.

A word is used once: for a period, a measure, a named value, the group, another column, or a part of
a value, in this order. What is left and names something is unknown.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from leadhand_teams.research import grammar
from leadhand_teams.research.asking import Ask, Grain, RowFilter, has_value, within
from leadhand_teams.research.grammar import asks
from leadhand_teams.research.schema import Field, View, join
from leadhand_teams.research.words import alike, any_of, listed, naming, stems_of, words_of
from leadhand_teams.research.years import count, with_years
from leadhand_teams.shared import values
from leadhand_teams.shared.values import Period

_GROUP_BEFORE: Final = re.compile(
    r"\b(?:(?P<split>each|every|per|by(?! (?:the )?\w+ (?:who|that|which)\b))\s+(?:the\s+)?|"
    r"(?:which|what|whose|rank(?:ed)?(?: all)?|list|top \w+|"
    rf"(?:the )?(?:{grammar.pattern('count')}))(?: of)?(?: are| is| were| was)?(?: the)?\s+)",
    re.IGNORECASE,
)
_SINCE: Final = {"since": ">= DATE '{0.start}'", "after": "> DATE '{0.end}'",
                 "before": "< DATE '{0.start}'", "until": "<= DATE '{0.end}'"}  # fmt: skip
_RELATIVE: Final = re.compile(
    r"\b(?:last|past|this|next|previous|current) (?:\w+ )?(?:years?|quarters?|months?|weeks?)\b",
    re.I,
)
_NESTED: Final = re.compile(rf"\b(?:of|for|by|from) the ({any_of('dimensions')})\b", re.IGNORECASE)
_GRAINS: Final[tuple[Grain, ...]] = ("year", "quarter", "month", "day")


def resolve(question: str, tables: Sequence[View]) -> list[Ask]:
    """The question as each table could answer it, the best first."""
    found = [_Resolver(question, view, tables).resolved() for view in tables]
    return sorted((ask for ask in found if ask.explained), key=_rank)


def _rank(ask: Ask) -> tuple[int, bool, int, float, int]:
    return (len(ask.unknown), ask.intent is None, -ask.explained, -ask.fit, len(ask.joins))


class _Resolver:
    def __init__(self, question: str, view: View, tables: Sequence[View]) -> None:
        self.used: set[int] = set()
        self.ask = Ask(view)
        self.joined = [
            (one, found) for one in tables if one is not view and (found := join(view, one))
        ]
        self.fields = [*view.fields, *(field for one, _ in self.joined for field in one.fields)]
        self.dates = [one for one in self.fields if one.role == "date"]
        own = [one for one in self.dates if one.table is view] or self.dates
        names = {text for one in self.fields for text in (one.name, *one.column.texts)}
        self.question = with_years(question, names, (one.column.dates for one in own))
        self.words = words_of(self.question)
        self.falling = asks(question, "falling")

    def resolved(self) -> Ask:
        ask = self.ask
        self._read_periods()
        self._read_values(self._read_measures())
        self._read_group()
        self._read_others()
        self._settle()
        ask.intent = grammar.intent_of(self.question, ask)
        if ask.intent and ask.intent.name == "growth":
            ask.is_lowest = self.falling != (ask.is_lowest or asks(self.question, "slowest|least"))
        return ask

    # Each of these marks the words that it resolves.

    def _use(self, indices: Iterable[int]) -> None:
        new = set(indices) - self.used
        self.used |= new
        self.ask.explained += len(new)

    def _take(self, one: Field) -> Field:
        """`one`, with its table joined if it is of another."""
        for view, found in self.joined:
            if one.table is view and found not in self.ask.joins:
                self.ask.joins.append(found)
        return one

    def _read_periods(self) -> None:
        ask, text = self.ask, self.question
        found = [(text.find(one.text), one) for one in values.periods(text)]
        days = values.dates(text)
        spans = [(at, at + len(one.text)) for at, one in found]
        spans += [(one.start, one.end) for one in days]
        bare: list[int] = []
        for n, word in enumerate(self.words):
            if any(start <= word.start < end for start, end in spans):
                self.used.add(n)
            elif n and word.is_name and (month := values.MONTHS.get(word.text.lower())):
                bare.append(month)
                self.used.add(n)
        ask.unknown += [one[0] for one in _RELATIVE.finditer(text)]
        asked = [one for one in self.dates if {w.stem for w in self.words} & set(one.stems)]
        ask.date = next(iter(asked or self.dates), None)
        named = " or ".join(values.MONTH_NAMES[month - 1] for month in bare)
        if ask.date is None:
            titles = f"{ask.view.source.name} {' '.join(one.name for one in self.fields)}"
            missing = [*(one.text for _, one in found), *filter(None, [named])]
            ask.unknown += [one for one in missing if one not in titles]
            return
        ask.when += self._conditions(ask.date, found)
        ask.when += [RowFilter(f"{ask.date.sql} = DATE '{one.value}'", one.text) for one in days]
        if bare:
            months = ", ".join(map(str, bare))
            ask.when.append(RowFilter(f"month({ask.date.sql}) IN ({months})", named))
        if ask.when or ask.compared:
            self._take(ask.date)

    def _conditions(self, date: Field, found: list[tuple[int, Period]]) -> Iterable[RowFilter]:
        found.sort(key=lambda one: one[1].start)
        periods = [one for _, one in found]
        if len(periods) > 1 and asks(self.question, "growth", "difference"):
            self.ask.compared = (periods[0], periods[-1])
        elif len(periods) == 2 and asks(self.question, "from|between"):
            text = f"{periods[0].label} to {periods[1].label}"
            yield RowFilter(within(date, periods[0], periods[1]), text)
        elif len(periods) == 1:
            before = (self.question[: found[0][0]].lower().split() or [""])[-1]
            since = _SINCE.get(before, "").format(periods[0])
            sql = f"{date.sql} {since}" if since else within(date, periods[0], periods[0])
            yield RowFilter(sql, f"{before if since else ''} {periods[0].label}".strip())
        elif periods:
            parts = " OR ".join(within(date, one, one) for one in periods)
            yield RowFilter(f"({parts})", " or ".join(one.label for one in periods))

    def _read_measures(self) -> set[int]:
        """The column of figures with most of the words, and for a share another; their words."""
        ask = self.ask
        found: list[tuple[float, list[int], Field, float]] = []
        for one in ask.view.fields:
            hits = self._hits(one.all_stems) if one.is_figure else []
            named = {self.words[n].stem for n in hits}
            share = len(named & set(one.stems)) / len(set(one.stems))
            if share >= 0.34:
                found.append((len(named) + share, hits, one, share))
        if not found:
            return set()
        found.sort(key=lambda one: -one[0])
        _, hits, ask.measure, ask.fit = found[0]
        if asks(self.question, r"(?:share|percent\w*|proportion|part) of"):
            # "What share of the visits were missed"
            others = [one for one in found[1:] if not set(one[1]) & set(hits)]
            others = [one for one in others if one[2].unit == ask.measure.unit]
            for _, more, other, _ in others[:1]:
                ask.measure, ask.part = (
                    (ask.measure, other) if hits < more else (other, ask.measure)
                )
                hits = [*hits, *more]
        self._use(hits)
        return set(hits)

    def _hits(self, stems: Sequence[str]) -> list[int]:
        taken = self.used | self._in_names
        return [n for n, word in enumerate(self.words) if word.stem in stems and n not in taken]

    @cached_property
    def _in_names(self) -> frozenset[int]:
        """The words of values with several: `Harbor Screen` is no figure of screenings."""
        return frozenset(
            place for _, span, _ in self._whole_values if len(span) > 1 for place in span
        )

    @cached_property
    def _whole_values(self) -> list[tuple[int, range, list[str]]]:
        """Fields, the words that name a value of theirs whole, and the texts that have them."""
        stems = tuple(word.stem for word in self.words)
        return [
            (place, range(n, n + len(named)), texts)
            for place, one in enumerate(self.fields)
            for named, texts in one.named.items()
            for n in range(len(stems) - len(named) + 1)
            if stems[n : n + len(named)] == named
        ]

    def _read_values(self, of_measure: set[int]) -> None:
        """Values that are named whole: the longest first, and those of the own table."""
        found = [
            (-len(span), self.fields[place].table is not self.ask.view, span[0], place, texts)
            for place, span, texts in self._whole_values
            if self._may_name(span, self.fields[place], of_measure)
        ]
        taken: set[int] = set()
        chosen: dict[int, list[str]] = {}
        order: dict[int, int] = {}
        for size, _, n, place, texts in sorted(found):
            if not taken & {*range(n, n - size)}:
                taken |= {*range(n, n - size)}
                chosen.setdefault(place, []).extend(texts)
                order.setdefault(place, n)
        self._use(taken)
        for place in sorted(chosen, key=order.__getitem__):
            field, negated = self._take(self.fields[place]), self._is_negated(order[place])
            self.ask.named.append(has_value(field, chosen[place], negated=negated))

    def _is_negated(self, n: int) -> bool:
        before = (word.text.lower() for word in self.words[max(0, n - 3) : n])
        return any(word in listed("negations") or word.endswith("n't") for word in before)

    def _may_name(self, span: range, one: Field, of_measure: set[int]) -> bool:
        """Whether these words may be a value: a single common word only as written."""
        word = self.words[span[0]]
        if (self.used - of_measure) & {*span}:
            return False
        if len(span) > 1:
            return True
        if span[0] in of_measure:  # `Sales` after "in"
            return word.text[0].isupper() and span[0] > 0
        if word.stem in one.stems and not word.is_name:
            return False
        return not (word.text.isdigit() and one.role == "key" and len(word.text) < 3)

    def _read_group(self) -> None:
        ask = self.ask
        for grain in _GRAINS if ask.date else ():
            if asks(self.question, rf"(?:which|what|per|by|each) {grain}"):
                # "the average per month" is one figure
                ask.split = asks(self.question, rf"(?:per|by|each) {grain}")
                is_one = ask.split and grammar.function_of(self.question) == "avg"
                ask.group, ask.grain = (None, None) if is_one else (ask.date, grain)
                ask.split = ask.split and not is_one
                return
        if asks(self.question, "who") and (person := ask.view.person):
            ask.group = person
            # `Who owns it` asks for a column `Owner`.
            done = {f"{word.stem}er" for word in self.words}
            ask.cell = next((one for one in ask.view.fields if done & set(one.stems)), None)
        elif asks(self.question, "where"):
            places = [one for one in self.fields if set(one.stems) & stems_of("places")]
            ask.group = places[0] if places else ask.view.label
        for match in _GROUP_BEFORE.finditer(self.question):
            after = [n for n, word in enumerate(self.words) if word.start >= match.end()][:4]
            if chosen := self._group_of(after):
                ask.group = self._take(chosen[0])
                ask.split = match["split"] is not None
                self._use([chosen[1]])
                return

    def _group_of(self, indices: Sequence[int]) -> tuple[Field, int] | None:
        for n in indices:
            word = self.words[n]
            is_measure = (
                n in self.used and self.ask.measure and word.stem in self.ask.measure.all_stems
            )
            if is_measure or word.text.lower() in ("of", "in", "did", "does", "do"):
                return None
            for one in self.fields:
                if one.role in ("group", "key") and word.stem in one.stems:
                    is_adjective = one.flagged(yes=True) and n + 1 in indices
                    return None if is_adjective else (self._label_of(one), n)
            for view in [self.ask.view, *(view for view, _ in self.joined)]:
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
        """Words that name other columns, tables or parts of values, and those that are unknown."""
        ask = self.ask
        self._read_limit()
        tables = [ask.view, *(view for view, _ in self.joined)]
        for n, word in enumerate(self.words):
            named = [one for one in self.fields if word.stem in one.all_stems]
            if n not in self.used and named and (named[0] in ask.view.fields or len(word.stem) > 2):
                self._use([n])
                if texts := named[0].flagged(yes=not self._is_negated(n)):
                    if all(one.field is not named[0] for one in ask.named):
                        ask.named.append(has_value(self._take(named[0]), texts))
                else:
                    ask.cell = ask.cell or (None if named[0].is_figure else named[0])
            elif any(word.stem in view.stems for view in tables):
                self._use([n])
        for word in naming(self.words):
            n = self.words.index(word)
            part = self._part(word.stem)
            if n in self.used or ask.view.is_rows(word.stem):
                continue
            if part:
                self._use([n])
                ask.named.append(has_value(self._take(part[0]), part[1], word.text))
            elif any(alike(word.stem, stem) for one in self.fields for stem in one.stems):
                self._use([n])
            elif asks(word.text, "extreme"):
                continue
            elif word.is_doing and ask.explained:
                ask.doubts.append(f"No column or value is named “{word.text}”; it was not used.")
            else:
                ask.unknown.append(word.text)

    def _part(self, stem: str) -> tuple[Field, list[str]] | None:
        """The column with values that have the word among others, and these values."""
        for one in self.fields:
            texts = [text for stems, same in one.named.items() if stem in stems for text in same]
            if one.role == "group" and texts:
                return one, texts
        return None

    def _read_limit(self) -> None:
        """How many are asked for: `the three largest`."""
        pattern = rf"\b(?:top|the|first|which|best|what are) ({grammar.pattern('count')})\b"
        found = re.search(pattern, self.question, re.IGNORECASE)
        if found and len(found[1]) < 6:
            self.used |= {n for n, one in enumerate(self.words) if one.start == found.start(1)}
            self.ask.limit = count(found[1])

    def _settle(self) -> None:
        """What the parts mean together."""
        ask = self.ask
        asked = grammar.function_of(self.question)
        ask.is_lowest = asks(self.question, "<least>") and not asks(self.question, "<most>")
        ask.is_of_rows = any(ask.view.is_rows(word.stem) for word in self.words)
        if ask.measure and (nested := _NESTED.search(self.question)):
            ask.unknown.append(nested[1])  # the fee of the heaviest: two questions in one
        pair = next((one for one in ask.named if one.count == 2), None)
        if pair and ask.group is None:
            ask.group = pair.field
        named = [one.field for one in ask.named]
        is_listed = not asks(self.question, "who") or ask.group is ask.view.label
        found = (ask.cell, ask.group if is_listed else None)
        ask.cell = next((one for one in found if one and one not in named), None)
        ask.split = ask.split and ask.group not in named
        if asks(self.question, "growth") and not ask.compared:
            ask.compared = _ends(ask)
        if asked == "count_of":
            self._settle_count()
        elif ask.measure is None:
            self._settle_measure()
        measure = ask.measure
        if measure is None:
            ask.function = "count"
        elif measure.role == "date" or (ask.group is None and asks(self.question, "extreme")):
            ask.function = "min" if ask.is_lowest else "max"
        elif asked == "median" and "median" not in measure.name.lower():
            ask.function = "median"
        else:  # Rates, medians and percentages are never added up.
            ask.function = "avg" if asked == "avg" or measure.role == "rate" else "sum"

    def _settle_count(self) -> None:
        ask = self.ask
        if ask.measure and ask.measure.unit in values.CURRENCIES.values():
            ask.measure = None  # Money is not counted, its rows are.
        if ask.measure is None and ask.named:
            # "How many chairs": pieces are counted where the table has them, not its rows.
            is_rows = any(word.stem in ask.view.stems for word in self.words)
            pieces = [one for one in ask.view.fields if one.role == "measure"]
            pieces = [one for one in pieces if stems_of("units") & set(one.stems)]
            ask.measure = pieces[0] if pieces and not is_rows else None

    def _settle_measure(self) -> None:
        """The measure of a question that names none."""
        ask, fields = self.ask, self.ask.view.fields
        if asks(self.question, "oldest|newest|youngest|latest|earliest|first"):
            ask.measure = next((one for one in fields if one.role == "date"), None)
        is_growth = asks(self.question, "growth")
        if ask.measure or (asks(self.question, "most|fewest|many") and not is_growth):
            return
        found = [one for one in fields if one.role == "measure"]
        found.sort(key=lambda one: not (one.column.unit or set(one.stems) & stems_of("money")))
        is_only = len(found) == 1 and grammar.function_of(self.question) == "sum"
        if found and (is_growth or is_only or (ask.group and asks(self.question, "extreme"))):
            ask.measure = found[0]
            if len(found) > 1:
                ask.doubts.append(f"No column was named; {found[0].name} was taken.")


def _ends(ask: Ask) -> tuple[Period, Period] | None:
    """The first and the last year of the dates that have all months, else the months."""
    if ask.date is None or not ask.date.is_series:
        return None
    months = sorted({day.replace(day=1) for day in ask.date.column.dates if day})
    counts = Counter(day.year for day in months)
    whole = [year for year, count in counts.items() if count == max(counts.values())]
    if len(whole) > 1 and not ask.when:
        return Period("year", dt.date(whole[0], 1, 1)), Period("year", dt.date(whole[-1], 1, 1))
    return (Period("month", months[0]), Period("month", months[-1])) if months[1:] else None
