"""Decides whether a worker function that returned `None` completed or failed."""

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, cast, get_args, get_origin, is_typeddict

from pydantic import ConfigDict, TypeAdapter, ValidationError

from leadhand.contracts.outcome import Completed, Failed, Outcome, Result

_ANY_CLASS = ConfigDict(arbitrary_types_allowed=True)

_log = logging.getLogger("leadhand")


def outcome_of_none(function: Callable[..., object], output: object, *, worker: str) -> Outcome:
    """The outcome of a function that returned `None`.

    If `output`, or else the function's annotation, excludes `None`, the task fails permanently.
    Without either it completes, and a warning is logged.
    """
    declared = _annotation(function) if output is None else output
    if not _excludes_none(declared):
        if declared is inspect.Signature.empty:
            _warn(worker)
        return Completed(result=Result())
    shown = "what its schema declares" if isinstance(declared, Mapping) else _name(declared)
    return Failed(
        kind="invalid_output",
        message=f"the worker returned None, not {shown}: return the output on every path, or "
        "annotate the function `-> None` if it has none",
    )


@functools.lru_cache(maxsize=1_000)
def _warn(worker: str) -> None:
    """Log once per worker: all its tasks run the same function."""
    _log.warning(
        "worker %r returned nothing: return its output, or annotate the function `-> None`", worker
    )


def _annotation(function: Callable[..., object]) -> object:
    """`Signature.empty` if there is none or it is unknown."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[object]", function).func
    if not inspect.isroutine(function):
        function = getattr(type(function), "__call__", function)  # noqa: B004
    try:
        return inspect.signature(function, eval_str=True).return_annotation
    except Exception:  # a name that can't be evaluated, or that only type checkers know
        return inspect.Signature.empty


def _excludes_none(declared: object) -> bool:
    """Whether an annotation, a type or a JSON Schema definitely excludes `None`."""
    if declared is None or declared is Any or declared is inspect.Signature.empty:
        return False
    if get_origin(declared) in (Awaitable, Coroutine) and get_args(declared):
        return _excludes_none(get_args(declared)[-1])
    if isinstance(declared, Mapping):
        kinds = cast("Mapping[str, object]", declared).get("type")
        return kinds is not None and "null" not in (kinds if isinstance(kinds, list) else [kinds])
    try:
        # In a tuple, because some types do not take another config.
        kind: object = tuple[declared]
        TypeAdapter(kind, config=_ANY_CLASS).validate_python((None,))
    except ValidationError:
        return True
    except Exception:  # for example a protocol, which any value may satisfy
        return is_typeddict(declared)
    return False


def _name(declared: object) -> str:
    return declared.__qualname__ if isinstance(declared, type) else str(declared)
