"""Wrong arguments of teams, plans and options: an `InputError` that says what, where, what to do.

Only for what people construct: data that is read, such as a plan's JSON, keeps pydantic's errors.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from leadhand.errors import InputError

M = TypeVar("M", bound=BaseModel)

_MAX_PROBLEMS = 5
_OF_LIMITS = ("timeout_s", "max_tokens", "max_steps", "tier")


class Checked(type):
    """The metaclass of pydantic dataclasses whose wrong arguments are an `InputError`."""

    if not TYPE_CHECKING:

        def __call__(cls, *args: object, **named: object) -> object:
            """An instance. Raises `InputError`."""
            try:
                return super().__call__(*args, **named)
            except ValidationError as error:
                raise _wrong(cls, error, args, named) from None


def checked(model: type[M]) -> type[M]:
    """The model, whose wrong arguments are an `InputError`."""
    construct = model.__init__

    @functools.wraps(construct)
    def init(self: M, **named: object) -> None:
        try:
            construct(self, **named)
        except ValidationError as error:
            raise _wrong(model, error, (), named) from None

    model.__init__ = init
    return model


def expected(row: ErrorDetails) -> str:
    """What a value must be, for `field is value and ...`."""
    bounds = row.get("ctx", {})
    match row["type"]:
        case "string_type":
            return "must be text"
        case "bool_type" | "bool_parsing":
            return "must be true or false"
        case "int_type" | "int_from_float" | "int_parsing":
            return "must be a whole number"
        case "float_type" | "finite_number" | "float_parsing":
            return "must be a number"
        case "tuple_type" | "list_type":
            return "must be a list"
        case "literal_error":
            return f"must be {bounds['expected']}"
        case "greater_than":
            return f"must be more than {bounds['gt']:g}"
        case "greater_than_equal":
            return f"must be {bounds['ge']:g} or more"
        case "less_than_equal":
            return f"must be {bounds['le']:g} or less"
        case "string_too_short" | "too_short":
            return "must not be empty"
        case "string_too_long":
            return f"must have at most {bounds['max_length']} characters"
        case "value_error":
            return str(bounds["error"])
        case "dataclass_type" | "dataclass_exact_type" | "model_type":
            return f"must be a {bounds['class_name']}"
        case _:
            return f"is not valid: {row['msg']}"


def _wrong(
    kind: type, error: ValidationError, args: Sequence[object], named: Mapping[str, object]
) -> InputError:
    rows = error.errors(include_url=False)
    # A value that fits no part of a union has a problem for each of them: the first place counts.
    places = dict[object, str]()
    for row in rows:
        places.setdefault(row["loc"][:1], _sentence(row, kind))
    shown = [*places.values()][:_MAX_PROBLEMS]
    if len(places) > len(shown):
        shown.append(f"and {len(places) - len(shown)} more problems")
    given = named.get("name", named.get("id", args[0] if args else None))
    name = f" {given!r:.60}" if isinstance(given, str) else ""
    return InputError(f"{kind.__name__}{name}: {'; '.join(shown)}")


def _sentence(row: ErrorDetails, kind: type) -> str:
    names = [*kind.__annotations__]
    names.remove("_") if "_" in names else None
    place = row["loc"]
    if isinstance(place[0], int) and place[0] < len(names):  # an argument without a name
        place = (names[place[0]], *place[1:])
    field = f"`{'.'.join(map(str, place))}`"
    match row["type"]:
        case "unexpected_keyword_argument" | "extra_forbidden" if len(place) == 1:
            return f"there is no {field}: {_instead(str(place[0]), names)}"
        case "unexpected_keyword_argument" | "extra_forbidden":
            return f"there is no {field}"
        case "missing" | "missing_argument" | "missing_keyword_only_argument":
            return f"{field} is missing"
        case "unexpected_positional_argument":
            return f"{row['input']!r:.60} is an argument too many: give it by name"
        case "multiple_argument_values":
            return f"{field} is given twice"
        case _:
            return f"{field} is {_shown(row['input'])} and {expected(row)}"


def _instead(name: str, names: Sequence[str]) -> str:
    if name in _OF_LIMITS and "limits" in names:
        return f"give `limits=Limits({name}=...)`"
    # Imported here because most arguments are right.
    from rapidfuzz import process

    near = process.extractOne(name, names, score_cutoff=70)
    return f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names)}"


def _shown(value: object) -> str:
    if isinstance(value, str | int | float | None):
        return f"{value!r:.60}"
    return f"a {type(value).__name__}"
