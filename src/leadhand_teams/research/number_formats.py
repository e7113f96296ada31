"""Recognises numbers in texts: `1,234.50`, `€ 1.2m`, `(300)`, `12 %`; pure functions."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from leadhand.tools.sql import quoted_name

_NO_VALUE: Final = frozenset(
    ["", "-", "–", "—", ".", "?", "n/a", "na", "n.a.", "nan", "nil", "none", "null", "tbd"]
)
"""Texts of empty cells."""
_UNITS: Final = r"(?P<unit>%|[$€£¥]|[A-Za-z]{1,4})?"
_ENGLISH: Final = re.compile(
    rf"\(?[-+]?\s*[$€£¥]?\s*[-+]?(\d{{1,3}}([, '\u00a0\u202f]\d{{3}})+|\d+)(\.\d+)?\s*{_UNITS}\)?"
)
_COMMA: Final = re.compile(
    rf"\(?[-+]?\s*[$€£¥]?\s*[-+]?(\d{{1,3}}([. '\u00a0\u202f]\d{{3}})+|\d+)(,\d+)?\s*{_UNITS}\)?"
)
_SCALES: Final = {
    **dict.fromkeys(("k", "tsd"), 1000),
    **dict.fromkeys(("m", "mn", "mio"), 1000000),
    **dict.fromkeys(("b", "bn", "mrd"), 1000000000),
}


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """The format of the numbers in a column of texts."""

    decimal: Literal[".", ","]
    scale: int
    """The factor of `k`, `m` or `bn` after the numbers, else 1."""
    is_percent: bool

    def sql(self, column: str) -> str:
        """SQL for the number in `column`, NULL if there is none."""
        text = f"replace(trim({quoted_name(column)}), '−', '-')"
        text = f"regexp_replace({text}, '^\\((.*)\\)$', '-\\1')"
        kept = f"regexp_replace({text}, '[^0-9{self.decimal}+-]', '', 'g')"
        if self.decimal == ",":
            kept = f"replace({kept}, ',', '.')"
        return f"(TRY_CAST({kept} AS DOUBLE) * {self.scale})"


def is_empty_cell(text: str) -> bool:
    """Whether the text of a cell means that it is empty."""
    return text.strip().lower() in _NO_VALUE


def number_format(texts: Sequence[str]) -> NumberFormat | None:
    """The format of `texts`; None unless all are numbers of one unit."""
    values = [text.strip().replace("−", "-") for text in texts if not is_empty_cell(text)]
    if not values:
        return None
    for decimal, form in ((".", _ENGLISH), (",", _COMMA)):
        found = [form.fullmatch(value) for value in values]
        units = {(one["unit"] or "").lower() for one in found if one is not None}
        if None in found or len(units) > 1:
            continue
        unit = units.pop()
        return NumberFormat("," if decimal == "," else ".", _SCALES.get(unit, 1), unit == "%")
    return None
