"""The grammar of questions about tables: what is computed, of what, for which rows. Pure.

`KINDS` is the whole of it: the first line whose words are in a question says what it asks for.

    share        part of a whole: rows of a named value against all, or against the other filters
    growth       percent between two periods; with a group, of each
    difference   between two named values, or two periods
    ranking      groups in order, all or the first so many
    max, min     the group, row or figure with the highest or lowest
    mean, median, sum of the figures, or of each group after "by" or "per"
    count        rows
    value        the cell or cells of a column

A question's words name a measure (a column of figures), a group (the noun after "which", "by" or
"per", or who, where, when), filters (values of other columns) and periods. A word that names
something and is none of these is `unknown`, and then the tables have no answer.
"""

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from leadhand_teams.research.schema import Field, Join, View
from leadhand_teams.shared.values import Period

Kind = Literal[
    "share", "growth", "difference", "ranking", "max", "min", "count", "mean", "median", "sum",
    "value",
]  # fmt: skip
Grain = Literal["year", "quarter", "month", "day"]

_MOST_WORDS: Final = """
highest most largest biggest greatest best maximum longest top strongest heaviest richest dearest
tallest widest busiest latest newest youngest fastest quickest steepest
"""
_LEAST_WORDS: Final = """
lowest least smallest fewest minimum worst shortest weakest lightest poorest cheapest earliest
oldest first slowest narrowest
"""
NUMBERS: Final = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
MOST: Final = _MOST_WORDS.split()
LEAST: Final = _LEAST_WORDS.split()
RISING: Final = (
    r"gr(?:o|e)w(?:n|s|ing|th)?|increas\w+|ris(?:e|es|en|ing)|rose|gain(?:s|ed)?|expand\w*"
)
FALLING: Final = (
    r"f(?:a|e)ll(?:s|en|ing)?|declin\w+|drop\w*|shr(?:i|a|u)nk\w*|decreas\w+|los(?:t|e|es)|sank"
)
_MORE: Final = (
    r"more|less|fewer|larger|higher|longer|smaller|lower|shorter|bigger|greater|better|worse"
)
_COUNT: Final = rf"(?:\d+|{'|'.join(NUMBERS)})"
_PATTERNS: Final[dict[Kind, str]] = {
    "share": r"share|proportion|fraction|percentage|what percent|percent of|how big a part",
    "growth": rf"{RISING}|{FALLING}|develop(?:s|ed|ment)?|evolv\w+|trend",
    "difference": rf"differen\w+|differs?|how (?:much|many) (?:\w+ )?(?:{_MORE})|changed?|gap",
    "ranking": rf"rank(?:ed|ing)?|top {_COUNT}|in order of|order(?:ed)? by|sort(?:ed)?|"
    rf"{_COUNT} (?:\w+ )?(?:{'|'.join(MOST + LEAST)})|{_COUNT} \w+ (?:with|that|which|who|by)",
    "max": "|".join(word for word in MOST if word != "top"),
    "min": "|".join(LEAST),
    "mean": r"average|mean|on average|typical|per capita",
    "median": r"median",
    "count": r"how many|number of|count|how often",
    "sum": r"total|sum|altogether|in all|overall|combined|how much|together",
}
KINDS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for kind, words in _PATTERNS.items()
)

_QUESTION: Final = re.compile(
    r"(?:[,;]?\s+and\s+(?:also\s+)?|\?\s+(?:and\s+)?)"
    r"(?P<rest>(?:how|what|which|who|whom|whose|when|where)\b.+)",
    re.IGNORECASE | re.DOTALL,
)
_PART: Final = re.compile(
    r"[,;]\s+and\s+(?P<rest>(?:in|at|for|of|on|from|during|by)\b.+)", re.IGNORECASE | re.DOTALL
)
"""Where a second question begins, whole or in short."""

OPERATORS: Final[dict[str, Literal["<", "<=", ">", ">="]]] = {
    "more than": ">", "over": ">", "above": ">", "at least": ">=",
    "less than": "<", "fewer than": "<", "under": "<", "below": "<", "at most": "<=",
}  # fmt: skip
BOUND: Final = re.compile(
    rf"\b(?P<how>{'|'.join(OPERATORS)})\s+[$€£]?(?P<number>\d[\d,.]*\d|\d|"
    rf"one|{'|'.join(NUMBERS)})\b(?!\s*(?:years|months|weeks|days)\b)"
)


@dataclass(frozen=True, slots=True)
class Filter:
    """Rows of which a column has one of these texts."""

    field: Field
    texts: tuple[str, ...]
    word: str = ""
    """The word that all of them have; empty if they are named whole."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Rows of which a figure is above or below a number: `more than 50`."""

    field: Field
    operator: Literal["<", "<=", ">", ">="]
    number: float


@dataclass(slots=True)
class Ask:
    """A question as the grammar reads it, over one table and those joined to it."""

    view: View
    kind: Kind
    measure: Field | None = None
    """None: rows are counted."""
    whole: Field | None = None
    """Another measure of which a share is asked for: `What share of the visits were missed`."""
    is_rate: bool = False
    """Whether the figure is `measure` in percent of `whole`: `the no-show rate`."""
    is_mean: bool = False
    """Whether means are compared: `How did the average price change`."""
    bound: Bound | None = None
    group: Field | None = None
    is_split: bool = False
    """Whether each group is asked for: `by region`."""
    grain: Grain | None = None
    """Of the group, if that is a date."""
    attribute: Field | None = None
    """A column of texts or dates whose cell is asked for."""
    filters: list[Filter] = field(default_factory=list[Filter])
    periods: list[Period] = field(default_factory=list[Period])
    months: list[int] = field(default_factory=list[int])
    """Of any year."""
    limit: int | None = None
    is_lowest: bool = False
    is_figure: bool = False
    """Whether the figure is asked for, not who has it."""
    joins: list[Join] = field(default_factory=list[Join])
    unknown: list[str] = field(default_factory=list[str])
    doubts: list[str] = field(default_factory=list[str])
    explained: int = 0
    """Words that name something here."""

    @property
    def date(self) -> Field | None:
        """The date that periods are about."""
        fields = [*self.view.fields, *(f for j in self.joins for f in j.one.table.fields)]
        return next((one for one in fields if one.role == "date"), None)


def first_question(question: str) -> tuple[str, str]:
    """The first question of a request, and what else it asks; a reason is asked with the first."""
    is_compared = kind_of(question) in ("growth", "difference") or "between" in question.lower()
    found = _QUESTION.search(question, 12) or (None if is_compared else _PART.search(question, 12))
    if found is None:
        return question, ""
    return f"{question[: found.start()]}?", found["rest"].rstrip(" ?.")


def kind_of(question: str) -> Kind:
    """What a question asks for, by the first line of `KINDS`."""
    for kind, pattern in KINDS:
        if pattern.search(question):
            return kind
    return "value"


def is_falling(question: str) -> bool:
    """Whether it asks for what fell."""
    return re.search(rf"\b(?:{FALLING})\b", question, re.IGNORECASE) is not None


def limit_of(text: str) -> int | None:
    """How many are asked for: `the three largest`."""
    pattern = rf"\b(?:top|the|first|which|best|what are) (\d+|{'|'.join(NUMBERS)})\b"
    found = re.search(pattern, text)
    word = str(found[1]) if found else ""
    if word.isdigit():
        return int(word) if len(word) < 4 else None
    return next((n for n, one in enumerate(NUMBERS, 2) if one == word), None)
