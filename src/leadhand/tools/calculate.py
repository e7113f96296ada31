"""A calculator for models: exact arithmetic on numbers, and nothing else that Python can do.

Only allowed nodes of the expression's syntax tree are evaluated. Sizes are limited beforehand, so
that no expression takes more than milliseconds. Whole numbers and fractions are exact; longer and
irrational numbers have 50 digits.
"""

import ast
import math
import operator
import statistics
from collections.abc import Callable, Sequence
from decimal import (
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
)
from fractions import Fraction
from typing import Final

from leadhand.tools.errors import ToolCallError
from leadhand.untrusted.cutting import cut

MAX_CHARS: Final = 1_000
MAX_DEPTH: Final = 250
"""The maximum nesting of an expression; a sum of n terms is n deep."""
MAX_DIGITS: Final = 1_000
"""The maximum digits of a whole number, and the maximum exponent of any number."""

_MAX_BITS: Final = int(MAX_DIGITS * math.log2(10))
_EXACT_DIGITS: Final = 30
_MAX_PLACES: Final = 100
_REAL: Final = Context(
    prec=50,
    rounding=ROUND_HALF_UP,
    Emax=MAX_DIGITS,
    Emin=-MAX_DIGITS,
    traps=[DivisionByZero, InvalidOperation, Overflow, Underflow],
)
_SHORT: Final = Context(prec=15, rounding=ROUND_HALF_UP)

_Numbers = tuple[Fraction, ...]
_Value = Fraction | bool | _Numbers


def calculate(expression: str) -> str:
    """Compute an arithmetic expression exactly, for example `percent_change(1200, 1350)`.

    Operators: `+ - * / // % **`, comparisons, parentheses. Functions: abs, ceil, exp, floor, log
    (natural, or `log(x, base)`), log10, max, mean, median, min, percent_change(old, new),
    round(x, places), sqrt, stdev (of a sample), sum; functions of many numbers take a list.
    Constants: pi, e.
    """
    if len(expression) > MAX_CHARS:
        raise ToolCallError(
            f"the expression has {len(expression)} characters; split it: at most {MAX_CHARS}"
        )
    text = " ".join(expression.split()).replace("^", "**")
    if not text.isascii() or set(text) & set("'\"\\`"):
        raise ToolCallError("only numbers, operators and functions: no text, quotes or symbols")
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ToolCallError(
            f"{_cut(text)!r} is not an expression: write it like `(3 + 4) * 2`"
        ) from None
    try:
        return _shown(_Evaluation(text).value(tree.body, 1))
    except (ZeroDivisionError, DivisionByZero):
        raise ToolCallError("division by zero: check the divisor first") from None
    except (Overflow, Underflow):
        raise ToolCallError(_TOO_LARGE) from None
    except InvalidOperation:
        raise ToolCallError(f"{_cut(text)!r} has no real value") from None


_TOO_LARGE: Final = f"a result is out of range: numbers stay within 10 to the power {MAX_DIGITS}"


class _Evaluation:
    """Evaluates a syntax tree; decimals are read exactly from the text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, node: ast.expr, depth: int) -> _Value:
        if depth > MAX_DEPTH:
            raise ToolCallError(
                f"nested more than {MAX_DEPTH} deep: split it, or add with `sum([1, 2, 3])`"
            )
        deeper = depth + 1
        match node:
            case ast.Constant():
                return self._literal(node)
            case ast.UnaryOp(op=ast.UAdd() | ast.USub() as op, operand=operand):
                number = _number(self.value(operand, deeper))
                return -number if isinstance(op, ast.USub) else number
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                work = _OPERATORS[type(op)]
                pair = _number(self.value(left, deeper)), _number(self.value(right, deeper))
                return _settled(work(*pair))
            case ast.Compare(left=left, ops=ops, comparators=others):
                if not all(type(op) in _COMPARISONS for op in ops):
                    raise ToolCallError("compare numbers with < <= > >= == !=")
                sides = [_number(self.value(side, deeper)) for side in (left, *others)]
                return all(
                    _COMPARISONS[type(op)](a, b)
                    for op, a, b in zip(ops, sides, sides[1:], strict=False)
                )
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return tuple(_number(self.value(item, deeper)) for item in items)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
                values = [self.value(argument, deeper) for argument in args]
                return _settled(_called(name, values))
            case ast.Name(id=name) if name in _CONSTANTS:
                return _CONSTANTS[name]
            case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
                known = ", ".join(sorted([*_FUNCTIONS, *_CONSTANTS]))
                raise ToolCallError(f"{_cut(name)!r} is not available; use one of: {known}")
            case _:
                piece = self._text[node.col_offset : node.end_col_offset]
                raise ToolCallError(
                    f"{_cut(piece)!r} can't be calculated: use numbers, + - * / // % **, "
                    "comparisons, parentheses and the functions named in the description"
                )

    def _literal(self, node: ast.Constant) -> Fraction:
        written = self._text[node.col_offset : node.end_col_offset]
        if isinstance(node.value, float):
            return _rational(_REAL.create_decimal(written.replace("_", "")))
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            return _settled(Fraction(node.value))
        raise ToolCallError(f"{_cut(written)!r} is not a number")


def _number(value: _Value) -> Fraction:
    if isinstance(value, Fraction):
        return value
    what = "a comparison" if isinstance(value, bool) else "a list"
    raise ToolCallError(f"{what} is used where a number is needed")


def _settled(number: Fraction) -> Fraction:
    """Rounded to 50 digits if it is too long to be kept exactly."""
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits <= _MAX_BITS:
        return number
    if number.denominator == 1:
        raise ToolCallError(_TOO_LARGE)
    return _rational(_real(number))


def _real(number: Fraction) -> Decimal:
    return _REAL.divide(Decimal(number.numerator), Decimal(number.denominator))


def _rational(number: Decimal) -> Fraction:
    # The context limits the exponent; a large one would fill the memory here.
    return Fraction(number)


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    whole = exponent.denominator == 1
    if whole and bits * abs(exponent.numerator) <= 4 * _MAX_BITS:
        return base**exponent.numerator
    if whole and base.denominator == 1 and abs(base) > 1 and exponent > 0:
        raise ToolCallError(_TOO_LARGE)
    return _rational(_REAL.power(_real(base), _real(exponent)))


def _sqrt(number: Fraction) -> Fraction:
    if number < 0:
        raise ToolCallError("sqrt needs a number that is not negative")
    exact = Fraction(math.isqrt(number.numerator), math.isqrt(number.denominator))
    return exact if exact**2 == number else _rational(_REAL.sqrt(_real(number)))


def _log(number: Fraction, base: Fraction | None = None) -> Fraction:
    if number <= 0 or (base is not None and (base <= 0 or base == 1)):
        raise ToolCallError("a logarithm needs a number above 0, and a base above 0 that is not 1")
    if base == 10:
        return _rational(_REAL.log10(_real(number)))
    natural = _REAL.ln(_real(number))
    return _rational(natural if base is None else _REAL.divide(natural, _REAL.ln(_real(base))))


def _round(number: Fraction, places: Fraction = Fraction(0)) -> Fraction:
    """Round to the nearest, with halves away from zero."""
    if places.denominator != 1 or abs(places) > _MAX_PLACES:
        raise ToolCallError(f"round takes a whole number of places, at most {_MAX_PLACES}")
    scale = Fraction(10) ** places.numerator
    size = math.floor(abs(number) * scale + Fraction(1, 2)) / scale
    return -size if number < 0 else size


def _stdev(numbers: _Numbers) -> Fraction:
    if len(numbers) < 2:
        raise ToolCallError("stdev needs at least two numbers")
    return _sqrt(_settled(statistics.variance(numbers)))


_OPERATORS: Final[dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Fraction, Fraction], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ONE: Final[dict[str, Callable[[Fraction], Fraction]]] = {
    "abs": abs,
    "ceil": lambda number: Fraction(math.ceil(number)),
    "exp": lambda number: _rational(_REAL.exp(_real(number))),
    "floor": lambda number: Fraction(math.floor(number)),
    "log10": lambda number: _log(number, Fraction(10)),
    "sqrt": _sqrt,
}
_TWO: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "log": _log,
    "percent_change": lambda old, new: (new - old) / abs(old) * 100,
    "round": _round,
}
_MANY: Final[dict[str, Callable[[_Numbers], Fraction]]] = {
    "max": max,
    "mean": statistics.mean,
    "median": statistics.median,
    "min": min,
    "stdev": _stdev,
    "sum": lambda numbers: sum(numbers, Fraction(0)),
}
_FUNCTIONS: Final = frozenset({*_ONE, *_TWO, *_MANY})
_CONSTANTS: Final = {
    "pi": Fraction("3.1415926535897932384626433832795028841971693993751"),
    "e": Fraction("2.7182818284590452353602874713526624977572470937000"),
}


def _called(name: str, values: Sequence[_Value]) -> Fraction:
    if name in _MANY:
        listed = values[0] if len(values) == 1 and isinstance(values[0], tuple) else values
        numbers = tuple(_number(value) for value in listed)
        if not numbers:
            raise ToolCallError(f"{name} needs numbers: `{name}([1, 2, 3])`")
        return _MANY[name](numbers)
    numbers = tuple(_number(value) for value in values)
    match numbers:
        case (one,) if name in _ONE:
            return _ONE[name](one)
        case (one,) if name == "log":
            return _log(one)
        case (one,) if name == "round":
            return _round(one)
        case (one, two) if name in _TWO:
            return _TWO[name](one, two)
        case _:
            raise ToolCallError(f"{name} does not take {len(numbers)} numbers")


def _shown(value: _Value) -> str:
    match value:
        case bool():
            return str(value).lower()
        case tuple():
            return "[" + ", ".join(_shown(number) for number in value) + "]"
        case Fraction(denominator=1):
            return str(value.numerator)
        case _:
            pass
    real = _real(value)
    is_exact = Fraction(real) == value and len(real.as_tuple().digits) <= _EXACT_DIGITS
    digits = (_REAL if is_exact else _SHORT).normalize(real)
    return f"{digits:f}" if -6 <= digits.adjusted() <= _EXACT_DIGITS else f"{digits:e}"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else cut(text, 57, "...")
