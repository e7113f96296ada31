"""Validated data: fields, the arguments that people construct, records, and the types of users."""

import ast
import dataclasses
import functools
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    JsonValue,
    RootModel,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic_core import CoreSchema, ErrorDetails, to_json

from leadhand.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


class _AsTuple:
    @staticmethod
    def __get_pydantic_core_schema__(source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(tuple[get_args(source)[0], ...])


Many = Annotated[Sequence[T], _AsTuple]
"""A sequence for type checkers, because users write lists; a tuple, so that contracts never
change."""


class _FieldDocs:
    """The docstring of a class and its fields. Their source is read when it is asked for."""

    def __init__(self, doc: str) -> None:
        self._doc = doc

    def __get__(self, instance: object, kind: type) -> str:
        try:
            own = [one for one in reversed(kind.__mro__[:-1]) if one is not Generic]
            fields = [line for one in own for line in _fields(one)]
        except (OSError, SyntaxError):  # there is no source
            return self._doc
        return "\n".join([inspect.cleandoc(self._doc), "", "Fields:", *fields])


def with_field_docs(kind: type[T]) -> type[T]:
    """The class, a dataclass, whose docstring ends with its fields and what is said of each."""
    kind.__doc__ = _FieldDocs(kind.__doc__ or kind.__name__)  # pyright: ignore[reportAttributeAccessIssue]
    return kind


@functools.cache
def _fields(kind: type) -> list[str]:
    (source,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    lines: list[str] = []
    for part in getattr(source, "body", []):
        for one in part.orelse if isinstance(part, ast.If) else [part]:
            match one:
                case ast.AnnAssign(target=ast.Name(id=name)) if name != "_":
                    lines.append(f"  {ast.unparse(one)}")
                case ast.Expr(value=ast.Constant(value=str(said))) if lines:
                    lines.append(textwrap.indent(inspect.cleandoc(said), " " * 6))
                case _:
                    pass
    return lines


_MAX_PROBLEMS = 5
_DATA = ConfigDict(arbitrary_types_allowed=True, extra="forbid", protected_namespaces=())


def argument(kind: type[T]) -> type[T]:
    """The dataclass, which people construct: `help` shows its fields, and no other key fits."""
    kind.__pydantic_config__ = _DATA  # pyright: ignore[reportAttributeAccessIssue]
    return with_field_docs(kind)


def check_fields(given: "DataclassInstance") -> None:
    """Validate the fields of a dataclass, and keep lists as tuples. Raises `InputError`."""
    kind = type(given)
    named = {one.name: getattr(given, one.name) for one in dataclasses.fields(kind)}
    try:
        found = _model(kind)(**named)
    except ValidationError as error:
        raise InputError(in_one_line(error, named)) from None
    for name in named:
        object.__setattr__(given, name, getattr(found, name))


@functools.cache
def _model(kind: "type[DataclassInstance]") -> type[BaseModel]:
    hints = get_type_hints(kind, include_extras=True)
    names = [one.name for one in dataclasses.fields(kind)]
    fields: dict[str, Any] = {name: (hints[name], ...) for name in names}
    return create_model(kind.__name__, __config__=_DATA, **fields)


def check_values(**named: tuple[object, object]) -> None:
    """Check that each value is of the type beside it, strictly. Raises `InputError`."""
    for name, (value, kind) in named.items():
        try:
            adapter_of(cast("type[object]", kind)).validate_python(value, strict=True)
        except ValidationError as error:
            row = error.errors(include_url=False)[0]
            raise InputError(f"{name} is {_shown(value)}; it {expected(row)}") from None


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
        case "string_too_short" | "too_short":
            return "must not be empty"
        case "value_error":
            return str(bounds["error"])
        case "dataclass_type" | "dataclass_exact_type" | "model_type":
            return f"must be a {bounds['class_name']}"
        case _:  # "Input should be less than 5"
            _, should, rest = row["msg"].partition(" should ")
            return f"must {rest}" if should else f"is not valid: {row['msg']}"


def in_one_line(error: ValidationError, named: Mapping[str, object] | None = None) -> str:
    """What is wrong with the fields `named` of what was to be constructed."""
    # A value that fits no part of a union has a problem for each of them: the first place counts.
    places = dict[object, str]()
    for row in error.errors(include_url=False):
        places.setdefault(row["loc"][:1], _sentence(row))
    shown = [*places.values()][:_MAX_PROBLEMS]
    if len(places) > len(shown):
        shown.append(f"and {len(places) - len(shown)} more problems")
    given = (named or {}).get("name")
    name = f" {given!r:.60}" if isinstance(given, str) else ""
    return f"{error.title}{name}: {'; '.join(shown)}"


def _sentence(row: ErrorDetails) -> str:
    # These name a part of a union, or a check, which no user wrote.
    parts = (str(part) for part in row["loc"])
    kept = [one for one in parts if one != "callable" and not one.startswith("function-")]
    field = f"`{'.'.join(kept)}`"
    match row["type"]:
        case "unexpected_keyword_argument" | "extra_forbidden":
            return f"there is no {field}"
        case "missing":
            return f"{field} is missing"
        case _:
            return f"{field} is {_shown(row['input'])} and {expected(row)}"


def _shown(value: object) -> str:
    if isinstance(value, str | int | float | None):
        return f"{value!r:.60}"
    return f"a {type(value).__name__}"


class Record(BaseModel):
    """Immutable, validated data. Validators are built on first use: that takes longer than the
    import."""

    model_config = ConfigDict(frozen=True, defer_build=True)


def read_as(kind: type[T], data: JsonValue) -> T:
    """`data` as an instance of `kind`. Raises `ValidationError`."""
    # As JSON, because strict types accept dates and enums only from JSON. Names are accepted beside
    # aliases, because models write aliases, and dumped data has names.
    adapter: TypeAdapter[T] = adapter_of(kind)
    return adapter.validate_json(to_json(data), by_alias=True, by_name=True)


@functools.lru_cache(maxsize=256)
def adapter_of(kind: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(kind)


def type_name(kind: object) -> str:
    """The name of a type, as a message shows it."""
    return kind.__qualname__ if isinstance(kind, type) else str(kind)


def check_return(of: str, function: object, declared: object, *, who: str) -> None:
    """Raises `InputError` if a worker's function says that it returns something else. Mappings
    may have a class's fields."""
    try:
        given: object = get_type_hints(function).get("return")
        given = get_origin(given) or given
    except Exception:  # names that can't be resolved
        return
    if not (isinstance(declared, type) and isinstance(given, type)) or issubclass(given, declared):
        return
    plain = {str, int, float, list, tuple, set, type(None)}
    if _has_fields(declared) and (_has_fields(given) or plain & {*given.__mro__}):
        raise InputError(
            f"{of}: its output is {type_name(declared)}, and worker {who!r} returns "
            f"{type_name(given)}: annotate it alike, or name a model"
        )


def _has_fields(kind: type[object]) -> bool:
    """Whether it is a class with fields of its own; those of outcomes hold any output."""
    own = not kind.__module__.startswith("leadhand.") and not issubclass(kind, RootModel)
    return own and (issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind))
