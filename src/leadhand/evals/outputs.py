"""Compares outputs with golden values and assertions. Pure."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from leadhand.evals.cases import Assertion, ExpectedOutput
from leadhand.evals.trials import CaseScore, shown_json

_MISSING = object()


def output_scores(level: str, expected: ExpectedOutput, output: JsonValue) -> Iterator[CaseScore]:
    """The scores of an output: `LEVEL.output` and `LEVEL.check`."""
    if "output" in expected.model_fields_set:
        found = [*differences(output, expected.output, expected.tolerance)]
        total = max(1, _leaves(expected.output))
        value = max(0.0, 1 - len(found) / total)
        yield CaseScore(name=f"{level}.output", value=value, why="; ".join(found[:5]))
    if expected.check:
        failed = [why for one in expected.check for why in _failures(one, output)]
        wrong = sum(1 for one in expected.check if any(_failures(one, output)))
        value = 1 - wrong / len(expected.check)
        yield CaseScore(name=f"{level}.check", value=value, why="; ".join(failed[:5]))


def differences(
    found: JsonValue, wanted: JsonValue, tolerance: float, path: str = ""
) -> Iterator[str]:
    """How `found` differs from a golden value; an object may have more keys than that."""
    where = path or "the output"
    if isinstance(wanted, Mapping):
        if not isinstance(found, Mapping):
            yield f"{where} is {shown_json(found)} and no object"
            return
        for key, value in wanted.items():
            if key not in found:
                yield f"{where} has no {key!r}"
            else:
                yield from differences(found[key], value, tolerance, f"{path}.{key}".lstrip("."))
    elif isinstance(wanted, list):
        if not isinstance(found, list) or len(found) != len(wanted):
            yield f"{where} is {shown_json(found)} and no list of {len(wanted)}"
            return
        for place, (one, value) in enumerate(zip(found, wanted, strict=True)):
            yield from differences(one, value, tolerance, f"{path}.{place}".lstrip("."))
    elif not _same(found, wanted, tolerance):
        off = f" within {tolerance:g}" if tolerance and _is_number(wanted) else ""
        yield f"{where} is {shown_json(found)} and not {shown_json(wanted)}{off}"


def _same(found: JsonValue, wanted: JsonValue, tolerance: float) -> bool:
    if _is_number(wanted) and _is_number(found):
        one, other = float(str(found)), float(str(wanted))
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=tolerance)
    if isinstance(found, str) and isinstance(wanted, str):
        return " ".join(found.split()) == " ".join(wanted.split())
    return type(found) is type(wanted) and found == wanted


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _leaves(value: JsonValue) -> int:
    if isinstance(value, Mapping):
        return sum(_leaves(one) for one in value.values())
    return sum(_leaves(one) for one in value) if isinstance(value, list) else 1


def _failures(check: Assertion, output: JsonValue) -> Iterator[str]:
    """Why an assertion does not hold; nothing if it does."""
    where = check.path or "the output"
    value = _at(output, check.path)
    if value is _MISSING:
        yield f"there is no {check.path!r} in the output"
        return
    if "equals" in check.model_fields_set:
        yield from differences(value, check.equals, check.tolerance, check.path)
    if check.type is not None and _kind(value) != check.type:
        yield f"{where} is {shown_json(value)} and no {check.type.replace('_', ' ')}"
    number = float(str(value)) if _is_number(value) else math.nan
    if check.at_least is not None and not number >= check.at_least:
        yield f"{where} is {shown_json(value)} and not at least {check.at_least:g}"
    if check.at_most is not None and not number <= check.at_most:
        yield f"{where} is {shown_json(value)} and not at most {check.at_most:g}"
    text = value if isinstance(value, str) else str(value)
    if check.contains is not None and check.contains.casefold() not in text.casefold():
        yield f"{where} does not contain {check.contains!r}"
    if check.matches is not None and not re.search(check.matches, text):
        yield f"{where} does not match {check.matches!r}"
    if check.length is not None:
        length = len(value) if isinstance(value, str | list | dict) else None
        if length != check.length:
            yield f"{where} has the length {length} and not {check.length}"


def _at(value: JsonValue, path: str) -> JsonValue:
    for part in filter(None, path.split(".")):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, Sequence) and not isinstance(value, str) and part.isdigit():
            if int(part) >= len(value):
                return _MISSING  # pyright: ignore[reportReturnType]
            value = value[int(part)]
        else:
            return _MISSING  # pyright: ignore[reportReturnType]
    return value


def _kind(value: JsonValue) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true_or_false"
        case str():
            return "text"
        case int() | float():
            return "number"
        case list():
            return "list"
        case _:
            return "object"
