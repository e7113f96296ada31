"""Values on which results may disagree: which of them can be compared, and which are equal. Pure.

Values are numbers, truths, labels and lists of them. A label is a string as an enumeration may have
it: one line of at most three words and 40 characters, not ended like a sentence. Any other string
is text, which is never compared.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

ValueKind = Literal["number", "truth", "label", "list"]

TOLERANCE = 0.005
"""How much two numbers may differ, as a share of the larger one, if one is the other rounded."""
MAX_LABEL_CHARS = 40
MAX_LABEL_WORDS = 3
_MAX_BITS = 128
_MAX_PAIRED = 500
"""Elements of lists that are paired one by one; longer lists are equal if their elements are."""
_MAX_SHOWN_CHARS = 300
_BETWEEN = re.compile(r"(?<=\w)[\s_-]+(?=\w)")
_NUMERAL = re.compile(r"[+-]?\d{1,30}(\.\d{1,30})?")


def kind_of(value: JsonValue) -> ValueKind | None:
    """What kind of value it is; None: it can't be compared."""
    match value:
        case bool():
            return "truth"
        case int():
            return "number"
        case float():
            return "number" if math.isfinite(value) else None
        case str():
            return "label" if _is_label(value.strip()) else None
        case list():
            return "list" if all(map(_is_element, value)) else None
        case _:
            return None


def aligned(values: Sequence[JsonValue]) -> list[JsonValue]:
    """The values under one key, written alike: beside numbers, numerals in strings are numbers too;
    beside truths, 0 and 1 are truths."""
    found = [*values]
    if any(kind_of(value) == "number" for value in found):
        found = [_number(value) for value in found]
    numbers = [value for value in found if kind_of(value) == "number"]
    if any(isinstance(value, bool) for value in found) and all(n in (0, 1) for n in numbers):
        found = [bool(value) if kind_of(value) == "number" else value for value in found]
    return found


def same(one: JsonValue, other: JsonValue) -> bool:
    """Whether two values are equal: numbers rounded, labels in any case, lists in any order."""
    match one, other:
        case (bool(), _) | (_, bool()):
            return one is other
        case ((int() | float()), (int() | float())):
            return _same_number(one, other)
        case str(), str():
            return _plain(one) == _plain(other)
        case list(), list():
            return _same_elements(one, other)
        case dict(), dict():
            return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
        case _:
            return False


def shown(value: JsonValue) -> str:
    """The value as it is written in a sentence."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() if value.bit_length() > _MAX_BITS:
            return f"a number of {value.bit_length()} bits"
        case list():
            text = ", ".join(map(shown, value[:10]))
            text = f"[{text}{', ...' if value[10:] else ''}]"
        case dict():
            text = f"{{{', '.join(f'{key}: {shown(inner)}' for key, inner in value.items())}}}"
        case _:
            text = str(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}..."


def _is_label(text: str) -> bool:
    if not text or len(text) > MAX_LABEL_CHARS or "\n" in text or text[-1] in ".!?":
        return False
    return len(text.split()) <= MAX_LABEL_WORDS


def _is_element(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return all(map(_is_element, value.values()))
    return kind_of(value) is not None


def _number(value: JsonValue) -> JsonValue:
    text = value.strip() if isinstance(value, str) else ""
    if not _NUMERAL.fullmatch(text):
        return value
    return float(text) if "." in text else int(text)


def _same_number(one: float, other: float) -> bool:
    """Integers are exact. Of other numbers, one may be the other one rounded."""
    if one == other or (isinstance(one, int) and isinstance(other, int)):
        return one == other
    try:
        if math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9):
            return True
        half = 0.5 * 10.0 ** -min(_decimals(one), _decimals(other))
        return math.isclose(one, other, rel_tol=TOLERANCE) and abs(one - other) <= half * 1.000001
    except OverflowError:  # an integer that is too long for a float
        return False


def _decimals(number: float) -> int:
    if isinstance(number, int) or number.is_integer():
        return 0
    exponent = Decimal(repr(number)).as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


def _same_elements(one: Sequence[JsonValue], other: Sequence[JsonValue]) -> bool:
    if len(one) != len(other):
        return False
    if Counter(map(_key, one)) == Counter(map(_key, other)):
        return True
    left = [*other] if len(other) <= _MAX_PAIRED else []
    for value in one:
        match = next((at for at, candidate in enumerate(left) if same(value, candidate)), None)
        if match is None:
            return False
        del left[match]
    return True


def _key(value: JsonValue) -> str:
    return _plain(value) if isinstance(value, str) else f"{type(value).__name__} {value!r}"


def _plain(text: str) -> str:
    return _BETWEEN.sub(" ", text.strip().casefold())
