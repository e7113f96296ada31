"""Resolves the words of a question to the columns, values and periods of tables. Pure.

A word is used once: for a period, a bound, a name, a measure, another value, the group, another
column, or a part of a value, in this order. What is left is unknown if it is a name, missing if it
may be a noun, and else left out.
"""

from collections import ChainMap
from collections.abc import Iterable, Sequence
from functools import cached_property

from leadhand_teams.research import grammar
from leadhand_teams.research.asking import Ask, Grain, RowFilter, has_value
from leadhand_teams.research.grammar import GRAMMAR, asks, compiled
from leadhand_teams.research.schema import Field, View, join
from leadhand_teams.research.settling import fits, read_times, settle
from leadhand_teams.research.times import (
    blanked,
    count,
    in_years,
    spans,
)
from leadhand_teams.research.words import (
    Word,
    alike,
    listed,
    naming,
    stems_in,
    stems_of,
    translated,
    words_of,
)
from leadhand_teams.shared import values

_GRAINS: tuple[Grain, ...] = ("year", "quarter", "month", "day")


def resolve(question: str, tables: Sequence[View]) -> list[Ask]:
    """The question as each table could answer it, the best first."""
    return sorted((_Resolver(question, view, tables).resolved() for view in tables), key=_rank)


def _rank(ask: Ask) -> tuple[int, int, bool, int, float, int]:
    lacking = (len(ask.unknown), len(ask.missing), ask.intent is None or ask.is_outside)
    return (*lacking, -ask.explained, -ask.fit, len(ask.joins))


class _Resolver:
    def __init__(self, question: str, view: View, tables: Sequence[View]) -> None:
        self.used: set[int] = set()
        self.ask = Ask(view)
        self.group_at = -1
        self.joined = [
            (one, found) for one in tables if one is not view and (found := join(view, one))
        ]
        self.tables = [view, *(one for one, _ in self.joined)]
        self.fields = [field for one in self.tables for field in one.fields]
        dates = [one for one in self.fields if one.role == "date"]
        asked = {*stems_in(question)} - stems_of("small") - stems_of("grains")
        self.dates = [one for one in dates if asked & {*one.stems}] or [
            one for one in dates if one.is_time
        ]
        own = [one for one in self.dates if one.table is view] or self.dates
        years = {day.year for one in own for day in one.column.dates if day}
        # Months as words, beside the dates that they are, name no values.
        named = [one for one in self.fields if not (own and one.is_of_periods)]
        names = {text for one in named for text in (one.name, *one.column.texts)}
        question, read_as = in_years(question, years, now=all(one.is_of_years for one in own))
        self.spans, text = spans(question, names, years)
        self.ask.unknown += [one[0] for one in compiled("<coming>").finditer(question)]
        self.question = self._without_bounds(text)
        known = ChainMap(*(one.terms for one in self.tables))
        every = frozenset[str]().union(*(one.vocabulary for one in tables))
        figures = {stem for one in view.fields if one.is_figure for stem in one.stems}
        self.words, translations = translated(words_of(self.question), known, every, figures)
        self.ask.read_as = read_as | translations

    def resolved(self) -> Ask:
        ask = self.ask
        self._use(read_times(ask, self.question, self.words, self.spans, self.dates))
        self._read_values(names=True)
        self._read_measures()
        self._read_values(names=False)
        self._read_group()
        self._read_others()
        settle(ask, self.question, self.words)
        ask.intent = grammar.intent_of(self.question, ask)
        if ask.intent and ask.intent.name == "growth":
            is_least = ask.is_lowest or asks(self.question, "slowest|least")
            ask.is_lowest = asks(self.question, "falling") != is_least
        if not fits(ask, self.question, self.words):
            ask.intent = None
        is_listed = ask.intent is not None and ask.intent.gives != "number"
        if is_listed and ask.group is None and ask.name and ask.measure and ask.view.texts[1:]:
            ask.doubts.append(f"No column was named; each {ask.name.name} was taken.")
        used = [ask.group, *(one.field for one in ask.named)]
        used += [ask.date] if ask.when or ask.compared else []
        used += [ask.cell] if ask.intent and ask.intent.name == "cell" else []
        tables = [one.table for one in used if one]
        ask.joins = [found for view, found in self.joined if any(view is one for one in tables)]
        return ask

    # Each of these marks the words that it resolves.

    def _use(self, indices: Iterable[int]) -> None:
        new = set(indices) - self.used
        self.used |= new
        self.ask.explained += len(new)

    def _without_bounds(self, text: str) -> str:
        """`text` without its bounds such as `more than 50 %`, which are kept."""
        for sign, words in GRAMMAR.bounds.items():
            for found in compiled(words).finditer(text):
                amount = next(values.amounts(text[found.end() :]), None)
                if amount and not text[found.end() : found.end() + amount.start].strip():
                    end = found.end() + amount.end
                    words = f"{found[0]} {values.amount_text(amount.value, amount.unit)}"
                    self.ask.bounds.append((f"{sign} {amount.value}", words))
                    text = blanked(text, found.start(), end)
        return text

    def _read_measures(self) -> None:
        """The column of figures with most of the words, and for a share another."""
        ask = self.ask
        found: list[tuple[float, Field, list[int]]] = []
        extremes = [n for n, word in enumerate(self.words) if asks(word.text, "extreme")]
        beside = {n + step for n in extremes for step in (-1, 1)}
        for one in ask.view.fields:
            stems = {*one.all_stems} - stems_of("small") if one.is_figure else ()
            hits = [n for n, w in enumerate(self.words) if w.stem in stems and n not in self.used]
            named = {self.words[n].stem for n in hits}
            share = len(named & set(one.stems)) / len(set(one.stems))
            if share >= 0.3:
                found.append((len(named) + share + 2 * bool(beside & set(hits)), one, hits))
        found.sort(key=lambda one: -one[0])
        if not found:
            return
        fit, ask.measure, hits = found[0]
        ask.fit = fit % 1 or 1.0
        if asks(self.question, r"(?:share|percent\w*|proportion|part) of"):
            # "What share of the visits were missed"
            for _, other, more in found[1:]:
                if other.unit == ask.measure.unit and not set(more) & set(hits):
                    pair = (ask.measure, other) if hits < more else (other, ask.measure)
                    ask.measure, ask.part = pair
                    self._use(more)
                    break
        self._use(hits)

    @cached_property
    def _whole_values(self) -> list[tuple[int, Field, range, list[str]]]:
        """Columns, the words that name a value of theirs whole, and the texts that have them."""
        stems = tuple(word.stem for word in self.words)
        return [
            (place, one, range(n, n + len(named)), texts)
            for place, one in enumerate(self.fields)
            for named, texts in one.named.items()
            for n in range(len(stems) - len(named) + 1)
            if stems[n : n + len(named)] == named
        ]

    def _read_values(self, *, names: bool) -> None:
        """Values that are named whole: the longest first, and those of the own table."""
        found = [
            (-len(span), one.table is not self.ask.view, span[0], place, texts)
            for place, one, span, texts in self._whole_values
            if self._may_name(span, one, texts, names)
        ]
        chosen: dict[int, tuple[int, list[str]]] = {}
        for size, _, n, place, texts in sorted(found):
            span = {*range(n, n - size)}
            if not self.used & span:
                chosen[place] = (n, chosen.get(place, (n, []))[1] + texts)
                self._use(span)
                for word in (self.words[at] for at in span):  # "oil change" asks for no change
                    self.question = blanked(self.question, word.start, word.end)
        for place, (n, texts) in sorted(chosen.items(), key=lambda one: one[1][0]):
            field = self.fields[place]
            self.ask.named.append(has_value(field, texts, negated=self._is_negated(n)))

    def _is_negated(self, n: int) -> bool:
        before = (word.text.lower() for word in self.words[max(0, n - 3) : n])
        return any(word in listed("negations") or word.endswith("n't") for word in before)

    def _may_name(self, span: range, one: Field, texts: Sequence[str], names: bool) -> bool:
        """Whether these words may be a value: a single common word only as written."""
        word = self.words[span[0]]
        if names != (len(span) > 1 or (word.is_name and not word.text.isdigit())):
            return False
        if len(span) > 1:
            return True
        if word.stem in one.stems and not word.is_name:
            return False
        if (len(word.text) < 4 or asks(word.text, "growth")) and word.text not in texts:
            return False  # "its" is no department IT, "rise" no colour rose
        return not (word.text.isdigit() and one.role == "key" and len(word.text) < 3)

    def _read_group(self) -> None:
        ask = self.ask
        for grain in _GRAINS if ask.date else ():
            if asks(self.question, rf"(?:which|what|which <was_the>|per|by|each) {grain}"):
                # "the average per month" is one figure
                ask.split = asks(self.question, rf"(?:per|by|each) {grain}")
                is_one = ask.split and grammar.function_of(self.question) == "avg"
                ask.group, ask.grain = (None, None) if is_one else (ask.date, grain)
                ask.split = ask.split and not is_one
                return
        people = [one for view in self.tables for one in view.people]
        people += [ask.view.label] if ask.view.label in ask.view.texts else []
        if asks(self.question, "who|whose|whom") and people:
            ask.group = people[0]
            # `Who owns it` asks for a column `Owner`.
            done = {f"{word.stem}er" for word in self.words}
            ask.cell = next((one for one in ask.view.fields if done & set(one.stems)), None)
        elif asks(self.question, "where"):
            places = [one for one in self.fields if set(one.stems) & stems_of("places")]
            texts = [one for one in ask.view.fields if one.role == "group"]
            ask.group = places[0] if places else texts[0] if len(texts) == 1 else ask.view.label
        matches = [*compiled("<which>").finditer(self.question)]
        aside = {word.start for word in self.words if word.is_aside}
        for match in sorted(matches, key=lambda one: (one.end() in aside, one["split"] is None)):
            after = [n for n, word in enumerate(self.words) if word.start >= match.end()][:4]
            if chosen := self._group_of(after):
                field, n = chosen
                self._use([n])
                self.group_at = n
                is_whose = asks(match[0], "whose") and ask.group
                if is_whose and field is ask.view.label:
                    break  # of these rows, the person
                is_rows = field is ask.view.label or field.name == ask.view.label
                if match["split"] and is_rows and grammar.function_of(self.question) == "avg":
                    return  # "the average per booking" is one figure
                ask.group, ask.split = field, match["split"] is not None
                return

    def _group_of(self, indices: Sequence[int]) -> tuple[Field, int] | None:
        for n in indices:
            word = self.words[n]
            measure = self.ask.measure
            is_measure = n in self.used and measure and word.stem in measure.all_stems
            if is_measure or word.text.lower() in ("of", "in", "did", "does", "do"):
                return None
            for one in self.fields:
                if one.role in ("group", "key") and word.stem in one.stems:
                    is_adjective = one.flagged(yes=True) and n + 1 in indices
                    return None if is_adjective else (self._label_of(one), n)
            for view in self.tables:
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
        for n, word in enumerate(self.words):
            is_asked = word.text.lower() in listed("asking")  # "what" asks for no column `What`
            if n not in self.used and (still := self._still_open(n)):
                self._use([n])
                ask.named.append(RowFilter(f"{still.sql} IS NULL", f"no {still.name}", still))
                continue
            named = [] if is_asked else [f for f in self.fields if word.stem in f.all_stems]
            if n not in self.used and named and (named[0] in ask.view.fields or len(word.stem) > 2):
                self._use([n])
                if texts := named[0].flagged(yes=not self._is_negated(n)):
                    if all(one.field is not named[0] for one in ask.named):
                        ask.named.append(has_value(named[0], texts))
                else:
                    ask.cell = ask.cell or (None if named[0].is_figure else named[0])
                    if word.is_aside and asks(self.question, "whose"):
                        ask.group = ask.cell
                    if named[0].is_figure and named[0] not in (ask.measure, ask.part, None):
                        ask.doubts.append(f"The column {named[0].name} was not used.")
            elif any(word.stem in view.stems for view in self.tables):
                self._use([n])
        self._doubt_adjectives()
        for word in naming(self.words):
            n = self.words.index(word)
            if n in self.used or ask.view.is_rows(word.stem) or asks(word.text, "extreme"):
                continue
            if word.stem in stems_of("persons"):
                # "the people" is said of anyone; counted, they must be those of the table
                is_counted = asks(self.question, f"how many {word.text}")
                if is_counted and not ask.view.people:
                    ask.unknown.append(word.text)
                ask.is_of_rows = True
                continue
            if word.is_name and (initial := self._initial(n)):
                self._use([n, n + 1])
                ask.named.append(has_value(*initial))
                ask.doubts.append(f"“{word.text}” is read as {ask.named[-1].text}.")
                continue
            is_after = n > 0 and asks(self.words[n - 1].text, "extreme")
            if not word.is_name and (n + 1 == self.group_at or (is_after and ask.limit)):
                continue  # "the bike category", "the five priciest bikes"
            if (part := self._part(word)) and not word.is_doing:
                self._use([n])
                ask.named.append(has_value(part[0], part[1], word.text))
                if not word.is_name:
                    ask.doubts.append(f"“{word.text}” is read as {ask.named[-1].text}.")
            elif any(alike(word.stem, stem) for one in self.fields for stem in one.stems):
                self._use([n])
            else:
                self._leave_out(word)

    def _doubt_adjectives(self) -> None:
        """Those that may choose rows and were not used: `late deliveries`, `are sold`."""
        for n, word in enumerate(self.words):
            before = self.words[n - 1].text.lower() if n else ""
            may_choose = word.text.lower() in listed("adjectives")
            is_state = word.is_light and word.text != word.stem and before in listed("being")
            if n in self.used or (is_state and self.ask.measure):
                continue
            if is_state or (may_choose and before not in listed("degrees")):
                self.ask.doubts.append(f"“{word.text}” was not used.")

    def _still_open(self, n: int) -> Field | None:
        """The column of days that has none where it did not happen yet: `has not paid`."""
        word = self.words[n]
        is_unpaid = word.stem in stems_of("unpaid")
        for one in self.ask.view.fields:
            if one.role == "date" and None in one.column.dates:
                is_named = word.stem in one.all_stems and self._is_negated(n)
                if is_named or (is_unpaid and stems_of("paid") & {*one.stems}):
                    return one
        return None

    def _leave_out(self, word: Word) -> None:
        ask = self.ask
        if asks(word.text, "growth", "difference"):
            return
        is_superlative = word.text.endswith("est") and word.is_doing
        is_asked = asks(self.question, rf"(?:what|which|whose|how many|how much) {word.text}")
        if word.is_name or is_superlative or is_asked:
            ask.unknown.append(word.text)
        elif word.is_doing:
            ask.doubts.append(f"No column or value is named “{word.text}”; it was not used.")
            ask.unused.append(word.stem)
        else:
            ask.missing.append(word.text)

    def _part(self, word: Word) -> tuple[Field, list[str]] | None:
        """The column with values that have the word among few others, and these values.

        One that is no name is one of two, or what stands before `of`, in the own table.
        """
        for one in self.fields if word.is_name else self.ask.view.fields:
            texts = [
                text
                for stems, same in one.named.items()
                if word.stem in (stems[:4] if word.is_name or len(stems) < 3 else stems[:1])
                if word.is_name or len(stems) < 3 or stems[1] == "of"
                for text in same
            ]
            if one.role == "group" and texts:
                return one, texts
        return None

    def _initial(self, n: int) -> tuple[Field, list[str]] | None:
        """The column, and its values, that have a name with an initial: `T. Miller`."""
        first, *rest = (word.stem for word in self.words[n : n + 2])
        for one in self.fields:
            for stems, texts in one.named.items():
                if stems == (first[0], *rest) and rest:
                    return one, texts
        return None

    def _read_limit(self) -> None:
        """How many are asked for: `the three largest`."""
        found = compiled("<limit>").search(self.question)
        number = next((one for one in found.groups() if one), "") if found else ""
        if found and number and len(number) < 6:
            self.used |= {n for n, one in enumerate(self.words) if one.text == number}
            self.ask.limit = count(number)
