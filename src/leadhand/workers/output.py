"""Turns the return value of a worker function into an outcome that JSON gives back unchanged. No
return value is trusted, and nothing here raises."""

import dataclasses
import itertools
import math
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json, to_jsonable_python

from leadhand.contracts.data import adapter_of, type_name
from leadhand.contracts.outcome import Completed, Escalated, Failed, Outcome, Result, Usage
from leadhand.engine.failures import MAX_MESSAGE, bounded, described, legible
from leadhand.untrusted.cutting import cut

MAX_BYTES = 10_000_000
"""The limit of a result as JSON. Larger outputs belong in a file."""

_MARGIN = 32
"""Levels that an event or a report may add around an output; the JSON parser takes 200 in all."""

_SHORT = 100_000

_MAX_VISITS = 10_000
"""Values that are searched for the one that is not JSON."""

_complete = Completed.model_validate
_Dump = Callable[[object], bytes]


def outcome_of(value: object, output: object = None) -> Outcome:
    """The outcome in `value`; `output` is the type that its data must have, if any.

    An outcome stays, a `Result` completes, and any other value is a completed result's output. A
    value that is not JSON data is a `Failed` that says what and where.
    """
    if output is None and _is_simple(value):
        return _complete({"result": {"output": value}})
    try:
        if output is None and type(value) is Completed and _is_sound(value):
            return value
        if isinstance(value, Result):
            value = Completed(result=value)
        if not isinstance(value, Completed | Escalated | Failed):
            return _complete({"result": {"output": _data(value, output)}})
        if output is not None and isinstance(value, Completed):
            data = _data(value.result.output, output)
            value = value.model_copy(
                update={"result": value.result.model_copy(update={"output": data})}
            )
        return _repaired(value)
    except _Unfit as unfit:
        return Failed(kind="invalid_output", message=bounded(str(unfit)))
    except ValidationError as error:
        message = f"the worker returned a malformed outcome: {_problems(error)}"
        return Failed(kind="invalid_output", message=bounded(message))
    except Exception as error:
        # Serialisers of the worker's own types may raise anything.
        return Failed(kind="invalid_output", message=bounded(described(error)))


class _Unfit(Exception):
    """The value can't be an output; the message says why and where."""


def _data(value: object, output: object) -> JsonValue:
    if output is None:
        return _plain(value, _to_json)
    adapter = _adapter(output)
    try:
        valid = adapter.validate_python(value)
    except ValidationError as error:
        raise _Unfit(f"the output is not {type_name(output)}: {_problems(error)}") from error
    return _plain(valid, adapter.dump_json)


def _to_json(value: object) -> bytes:
    return to_json(value, inf_nan_mode="constants")


def _plain(value: object, dump: _Dump) -> JsonValue:
    if isinstance(value, types.GeneratorType):
        raise _Unfit("the worker returned a generator; return a list of what it gives")
    try:
        try:
            text = dump(value)
        except PydanticSerializationError as error:
            if "surrogates not allowed" not in str(error):
                raise
            text = _to_json(_legible_data(value))
        _check_size(len(text))
        nested = from_json(b"[" * _MARGIN + text + b"]" * _MARGIN, allow_inf_nan=False)
    except ValueError as error:
        raise _Unfit(_fault(value) or described(error)) from error
    for _ in range(_MARGIN):
        nested = nested[0]
    return cast("JsonValue", nested)


def _check_size(count: int) -> None:
    if count > MAX_BYTES:
        raise _Unfit(
            f"the output is {count:,} bytes of JSON and may be {MAX_BYTES:,}: write it to a file, "
            "and return where it is"
        )


def _legible_data(value: object) -> object:
    """`value` with every text made legible. Raises RecursionError if it is nested too deep."""
    if isinstance(value, str):
        return legible(value)
    if isinstance(value, Mapping):
        rows = cast("Mapping[object, object]", value).items()
        return {_legible_data(key): _legible_data(item) for key, item in rows}
    if isinstance(value, list | tuple | set | frozenset):
        return [_legible_data(item) for item in cast("Iterable[object]", value)]
    if isinstance(value, BaseModel) or dataclasses.is_dataclass(value):
        return _legible_data(to_jsonable_python(value, inf_nan_mode="constants"))
    return value


def _is_simple(value: object) -> bool:
    """Whether `value` is obviously plain data. It is quick: runs have tens of thousands of them."""
    kind = type(value)
    return (
        value is None
        or kind is bool
        or (kind is str and len(cast("str", value)) <= _SHORT and cast("str", value).isascii())
        or (kind is int and -(2**63) <= cast("int", value) < 2**63)
    )


def _is_sound(outcome: Completed) -> bool:
    """Whether an outcome is obviously the same after a round trip through JSON."""
    result = outcome.result
    return (
        type(result) is Result
        and _is_simple(result.output)
        and type(result.summary) is str
        and len(result.summary) <= _SHORT
        and result.summary.isascii()
        and not result.evidence
        and not result.missing
        and result.confidence is None
        and type(result.usage) is Usage
        and result.plan_impact is None
    )


def _repaired(outcome: Outcome) -> Outcome:
    """An outcome that the worker made, after a round trip through JSON."""
    result = outcome.result if isinstance(outcome, Completed) else outcome.partial
    if result is not None:
        # A pydantic model would silently write null for a value that is not JSON.
        _plain(result.output, _to_json)
    adapter = _adapter(Outcome)
    try:
        text = outcome.model_dump_json(warnings="error")
        # Now with summary and evidence.
        _check_size(len(text))
        repaired = adapter.validate_json(text)
    except PydanticSerializationError:
        data = _legible_data(outcome.model_dump(warnings=False))
        _check_size(len(_to_json(data)))
        repaired = adapter.validate_python(data)
    same = cast("Outcome", repaired)
    if isinstance(same, Completed) or len(same.message) <= MAX_MESSAGE:
        return same
    return same.model_copy(update={"message": bounded(same.message)})


def _adapter(output: object) -> TypeAdapter[object]:
    return adapter_of(cast("type[object]", output))


# What is wrong, and where


def _problems(error: ValidationError) -> str:
    shown = error.errors(include_url=False, include_context=False)
    texts = [
        f"{'.'.join(map(str, problem['loc'])) or 'it'}: {problem['msg']}, "
        f"not {_excerpt(problem['input'])}"
        for problem in shown[:3]
    ]
    more = len(shown) - len(texts)
    return "; ".join(texts) + (f"; and {more} more" if more else "")


def _excerpt(value: object) -> str:
    if isinstance(value, str | int | float | None):
        return cut(repr(value), 60, "...")
    return f"a {type_name(type(value))}"


def _fault(value: object) -> str | None:
    """The first part of `value` that can't be JSON, with its place; None if it was not found."""
    waiting: list[tuple[str, object, int]] = [("the output", value, 0)]
    for _ in range(_MAX_VISITS):
        if not waiting:
            return None
        place, item, depth = waiting.pop()
        if depth > 200 - _MARGIN:
            return f"the output is nested more than {200 - _MARGIN} deep, or contains itself"
        parts = list(itertools.islice(_parts(place, item), _MAX_VISITS))
        if parts:
            waiting.extend((where, part, depth + 1) for where, part in reversed(parts))
        elif isinstance(item, float) and not math.isfinite(item):
            return f"{place} is {item}, which JSON can't hold"
        elif (complaint := _complaint(item)) is not None:
            kind = type_name(type(item))
            return f"{place} is of type {kind}, which can't be written as JSON: {complaint}"
    return None


def _parts(place: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield f"{place}.{name}", getattr(value, name, None)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield f"{place}.{field.name}", getattr(value, field.name, None)
    elif isinstance(value, Mapping):
        for key, item in cast("Mapping[object, object]", value).items():
            yield f"{place}[{_excerpt(key)}]", item
    elif isinstance(value, list | tuple):
        for index, item in enumerate(cast("list[object]", value)):
            yield f"{place}[{index}]", item
    elif isinstance(value, set | frozenset):
        for item in cast("set[object]", value):
            yield f"an element of {place}", item


def _complaint(value: object) -> str | None:
    """Why `value` by itself can't be written as JSON."""
    try:
        from_json(to_json(legible(value) if isinstance(value, str) else value))
    except ValueError as error:
        if "unknown type" in str(error):
            return "return plain data, a dataclass or a pydantic model"
        return str(error)
    return None
