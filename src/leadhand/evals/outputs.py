"""Compares outputs with golden values and assertions. Pure."""

import math
import re
from collections.abc import Iterator

from pydantic import JsonValue

from leadhand.evals.cases import Assertion, ExpectedOutput
from leadhand.evals.trials import CaseScore
from leadhand.plans.routes import matches

_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "true_or_false",
    str: "text",
    int: "number",
    float: "number",
    list: "list",
    dict: "object",
}


def output_scores(level: str, expected: ExpectedOutput, output: JsonValue) -> Iterator[CaseScore]:
    """The scores of an output: `LEVEL.output` and `LEVEL.check`."""
    if "output" in expected.model_fields_set:
        found = [*differences(output, expected.output, expected.tolerance)]
        yield CaseScore(name=f"{level}.output", value=float(not found), why="; ".join(found[:5]))
    if expected.check:
        failed = [[*_failures(one, output)] for one in expected.check]
        value = 1 - sum(map(bool, failed)) / len(failed)
        why = "; ".join(why for each in failed for why in each[:5])
        yield CaseScore(name=f"{level}.check", value=value, why=why)


def differences(
    found: JsonValue, wanted: JsonValue, tolerance: float, path: str = ""
) -> Iterator[str]:
    """How `found` differs from a golden value; an object may have more keys than that."""
    where = path or "the output"
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            if key not in found:
                yield f"{where} has no {key!r}"
            else:
                yield from differences(found[key], value, tolerance, f"{path}.{key}".lstrip("."))
    elif isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        for place, (one, value) in enumerate(zip(found, wanted, strict=True)):
            yield from differences(one, value, tolerance, f"{path}.{place}".lstrip("."))
    elif not _same(found, wanted, tolerance):
        off = f" within {tolerance:g}" if tolerance else ""
        yield f"{where} is {found!r:.80} and not {wanted!r:.80}{off}"


def states(text: str, fact: str) -> bool:
    """Whether a text has these words, in any case; `/.../` is a regular expression.

    A number is not found within another one, and commas between digits don't count.
    """
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    if len(fact) > 2 and fact[0] == fact[-1] == "/":
        return matches(fact[1:-1], plain)
    fact = re.sub(r"(?<=\d),(?=\d{3})", "", fact)
    words = r"\s+".join(map(re.escape, fact.split()))
    before = r"(?<!\d)(?<!\d[.,])" if fact[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if fact[-1:].isdigit() else ""
    return re.search(f"{before}{words}{after}", plain, re.IGNORECASE) is not None


def _same(found: JsonValue, wanted: JsonValue, tolerance: float) -> bool:
    if _KINDS[type(found)] == _KINDS[type(wanted)] == "number":
        return math.isclose(_number(found), _number(wanted), rel_tol=1e-9, abs_tol=tolerance)
    if isinstance(found, str) and isinstance(wanted, str):
        return found.split() == wanted.split()
    return type(found) is type(wanted) and found == wanted


def _number(value: JsonValue) -> float:
    """The value; not a number for anything else."""
    return float(str(value)) if _KINDS[type(value)] == "number" else math.nan


def _failures(check: Assertion, output: JsonValue) -> Iterator[str]:
    where, value = check.path or "the output", output
    for part in filter(None, check.path.split(".")):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            yield f"there is no {check.path!r} in the output"
            return
    if "equals" in check.model_fields_set:
        yield from differences(value, check.equals, check.tolerance, check.path)
    text = value if isinstance(value, str) else str(value)
    length = len(value) if isinstance(value, str | list | dict) else None
    said = f"{where} is {value!r:.80} and not"
    if check.type is not None and _KINDS[type(value)] != check.type:
        yield f"{said} of the type {check.type}"
    if check.at_least is not None and not _number(value) >= check.at_least:
        yield f"{said} at least {check.at_least:g}"
    if check.at_most is not None and not _number(value) <= check.at_most:
        yield f"{said} at most {check.at_most:g}"
    if check.contains is not None and not states(text, check.contains):
        yield f"{where} does not contain {check.contains!r}"
    if check.length is not None and length != check.length:
        yield f"{where} has the length {length} and not {check.length}"
