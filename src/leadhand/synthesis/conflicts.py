"""Finds results whose data disagree: the same key with different values. Pure.

Two results contradict each other if their tasks ask the same: in the same words with the same
inputs, or by the team's rule `same_subject`. Other values that differ under one key are only a
difference, and found only if each is the only one of its kind of worker with that key: a false one
is judged, paid for and read. A result that depends on another replaces it. If a key such as `name`
or `year` differs, the objects are about different things.

Values are numbers, truths, labels and lists of them. A label is a line of at most three words and
40 characters, not ended like a sentence. Other strings are text, which is never compared; nor are
findings: objects in a list that have a `line`.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from pydantic import JsonValue

from leadhand.contracts.answer import Conflict, ConflictKind
from leadhand.contracts.outcome import TaskResult
from leadhand.contracts.task import names_earlier
from leadhand.contracts.team import Team
from leadhand.untrusted.cutting import cut_line

MAX_FOUND = 20
"""More would mean that this can't judge such outputs."""
MAX_RESULTS = 5_000
"""More results are not compared, because that would delay the answer."""
MAX_TASKS = 50
"""More tasks with the same intent and inputs only share their words."""
_MAX_DEPTH = 8
TOLERANCE = 0.005
"""A share of the larger number, if one is the other rounded."""
_LABEL = re.compile(r"(?=.{1,40}$)\S+(?:\s+\S+){0,2}(?<![.!?])")
_MAX_SHOWN_CHARS = 300
_BETWEEN = re.compile(r"(?<=\w)[\s_-]+(?=\w)")
_NUMERAL = re.compile(r"[+-]?\d{1,30}(\.\d{1,30})?")

_NAMING = frozenset(
    {
        *("about", "topic", "theme", "scope", "area", "aspect", "section", "part", "focus"),
        *("perspective", "domain", "field", "role", "lens", "team", "worker", "task", "step", "id"),
        *("key", "name", "subject", "entity", "item", "product", "sku", "company", "customer"),
        *("person", "author", "country", "region", "city", "place", "file", "path", "url"),
        *("module", "package", "version", "year", "quarter", "month", "week", "day", "date"),
        *("period", "currency", "unit", "language"),
    }
)
"""Keys that identify an object: with a different value, it is about something else."""
_OF_THE_WORK = frozenset(
    {
        *("confidence", "certainty", "summary", "note", "notes", "comment", "comments", "reason"),
        *("reasoning", "why", "explanation", "rationale", "message", "title", "evidence", "source"),
        *("sources", "reference", "references", "citations", "duration", "duration_s", "elapsed"),
        *("elapsed_s", "cost_usd", "tokens", "usage", "model", "timestamp", "created_at"),
    }
)
"""Keys about the work itself, on which workers can't disagree."""
_VAGUE = frozenset(
    {
        *("answer", "result", "results", "output", "value", "status", "state", "type", "kind"),
        *("count", "counts", "number", "total", "sum", "score", "rating", "rank", "severity"),
        *("priority", "category", "label", "level", "ok", "success", "done", "found", "error"),
        *("errors", "length", "size", "words", "lines"),
    }
)
"""Keys that mean something else for each kind of worker."""


class _Claim(NamedTuple):
    id: str
    value: JsonValue


def compare(
    results: Sequence[TaskResult], team: Team | None = None, request: str = ""
) -> tuple[list[Conflict], str]:
    """The unresolved conflicts between completed tasks, contradictions first; and what could not be
    compared, as a sentence.

    A task with the words of the `request` is one view of it, not the same question.
    """
    given = [one for one in results if one.status == "completed" and one.result is not None]
    if len(given) > MAX_RESULTS:
        why = "they are too many"
        return [], f"The {len(given):,} results were not compared with each other: {why}."
    needs = {one.task.id: one.task.depends_on for one in results}
    questions = [*_questions(given, team, request)]
    found: dict[tuple[str, frozenset[str]], Conflict] = {}
    claimed: list[tuple[ConflictKind, str, list[_Claim]]] = []
    for kind, group in questions:
        if 1 < len(group) <= MAX_TASKS:
            claims_of = _comparable(_outputs(group), asked=True)
            claimed.extend((kind, path, claims) for path, claims in claims_of)
    claimed.extend(("difference", *one) for one in _of_kinds(given, team, questions))
    for kind, path, claims in claimed:
        sides = _sides(_without_replaced(claims, needs)) if len(_sides(claims)) > 1 else []
        if len(sides) > 1:
            conflict = _conflict(kind, path, sides)
            found.setdefault((path, frozenset(conflict.task_ids)), conflict)
        if len(found) > MAX_FOUND:
            note = f"Results disagree on more than {MAX_FOUND} values; the others are not listed."
            return [*found.values()][:MAX_FOUND], note
    notes = [_not_compared(group) for kind, group in questions if kind == "contradiction"]
    return [*found.values()], " ".join(filter(None, notes))


def _not_compared(group: Sequence[TaskResult]) -> str:
    note = "ask the same; their results were not compared:"
    if len(group) > MAX_TASKS:
        return f"{len(group):,} tasks {note} they are too many."
    if len(group) < 2 or not any(map(_gave_several, group)):
        return ""
    return f"{' and '.join(one.task.id for one in group)} {note} a nested team gave several."


def _gave_several(one: TaskResult) -> bool:
    first: dict[str, JsonValue] = {}
    claims = (claim for end in one.ends if len(one.ends) > 1 for claim in _claims(end, asked=True))
    return any(first.setdefault(path, value) != value for path, value in claims)


def kind_between(
    ids: Collection[str], results: Sequence[TaskResult], team: Team, request: str
) -> ConflictKind:
    """Whether at least two of these tasks ask the same."""
    groups = _questions([one for one in results if one.task.id in ids], team, request)
    alike = any(kind == "contradiction" and len(group) > 1 for kind, group in groups)
    return "contradiction" if alike else "difference"


def between_opinions(opinions: Iterable[tuple[str, JsonValue]]) -> list[Conflict]:
    sides = ((path, _sides(claims)) for path, claims in _comparable(opinions, asked=True))
    found = (_conflict("contradiction", *one, by="by") for one in sides if len(one[1]) > 1)
    return [*found][:MAX_FOUND]


def _questions(
    given: Sequence[TaskResult], team: Team | None, request: str
) -> Iterator[tuple[ConflictKind, Sequence[TaskResult]]]:
    """Tasks that ask the same, then those that all ask what was requested."""
    asked: defaultdict[str, list[TaskResult]] = defaultdict(list)
    for one in given:
        asked[_worded(one.task.intent)].append(one)
    requested = asked.pop(_worded(request), [])
    for group in asked.values():
        for alike in _with_same_inputs(group):
            yield "contradiction", alike
    for workers in team.same_subject if team is not None else ():
        for alike in _with_same_inputs([one for one in given if one.task.worker in workers]):
            by = [one.task.worker for one in alike]
            only = [one for one in alike if by.count(one.task.worker) == 1]
            yield "contradiction", only
    for alike in _with_same_inputs(requested):
        yield "difference", alike


def _worded(intent: str) -> str:
    return " ".join(intent.casefold().split()).rstrip(".!?")


def _with_same_inputs(group: Sequence[TaskResult]) -> Iterator[Sequence[TaskResult]]:
    """Groups tasks by artifacts, dependencies and payload."""
    by_inputs: defaultdict[object, list[TaskResult]] = defaultdict(list)
    for one in group if len(group) > 1 else ():
        task = one.task
        payload = json.dumps(task.payload, sort_keys=True)
        by_inputs[frozenset(task.artifacts), frozenset(task.depends_on), payload].append(one)
    return (alike for alike in by_inputs.values() if len(alike) > 1)


def _of_kinds(
    given: Sequence[TaskResult],
    team: Team | None,
    questions: Sequence[tuple[ConflictKind, Sequence[TaskResult]]],
) -> Iterator[tuple[str, list[_Claim]]]:
    """Of kinds of workers with one claim each, except tasks of one of the `questions`."""
    compared = [{one.task.id for one in group} for _, group in questions]
    roles = {worker.name: worker.role or worker.name for worker in team.workers} if team else {}
    kinds = {one.task.id: roles.get(one.task.worker, one.task.worker) for one in given}
    artifacts = {
        one.task.id: frozenset(ref for ref in one.task.artifacts if not names_earlier(ref))
        for one in given
    }
    for path, alike in _comparable(_outputs(given)):
        said_by = {kinds[claim.id] for claim in alike}
        vague = path.rpartition(".")[2].casefold() in _VAGUE or isinstance(alike[0].value, list)
        if vague or len(said_by) < len(alike):
            continue
        if any(all(claim.id in group for claim in alike) for group in compared):
            continue
        looked_at = [artifacts[claim.id] for claim in alike if artifacts[claim.id]]
        if all(one & other for one, other in combinations(looked_at, 2)):
            yield path, alike


def _outputs(given: Sequence[TaskResult]) -> Iterator[tuple[str, JsonValue]]:
    whole = ((one, one.ends or (one.result.output,)) for one in given if one.result is not None)
    return ((one.task.id, value) for one, values in whole for value in values)


def _comparable(
    outputs: Iterable[tuple[str, JsonValue]], *, asked: bool = False
) -> Iterator[tuple[str, list[_Claim]]]:
    """Under each key, claims of one type, one a task. `asked`: they answer one question."""
    claims: defaultdict[str, list[_Claim]] = defaultdict(list)
    for id, output in outputs:
        for path, value in _claims(output, asked=asked):
            claim = _Claim(id, value)
            if claims[path][-1:] != [claim]:  # which several ends of a nested run may repeat
                claims[path].append(claim)
    for path, all_of_them in claims.items():
        kinds: defaultdict[str | None, list[_Claim]] = defaultdict(list)
        written = _aligned([claim.value for claim in all_of_them])
        for claim, value in zip(all_of_them, written, strict=True):
            kinds[_kind_of(value)].append(_Claim(claim.id, value))
        for alike in kinds.values():
            # Two claims of one task under one path are about two things.
            if 1 < len(alike) == len({claim.id for claim in alike}):
                yield path, alike


def _claims(output: JsonValue, *, asked: bool) -> Iterator[tuple[str, JsonValue]]:
    bare = asked and not isinstance(output, str | dict)  # the output itself is the value
    return _said({"output": output} if bare else output, asked=asked)


def _said(
    value: JsonValue, path: str = "", depth: int = 0, *, asked: bool = False
) -> Iterator[tuple[str, JsonValue]]:
    """All values in an object with their paths. `asked`: names are values too, except in lists."""
    if not isinstance(value, dict) or depth > _MAX_DEPTH:
        return
    names = [] if asked else [str(value[key]) for key in sorted(value) if _names(key, value[key])]
    about = f"{path}[{', '.join(names)}]" if names else path
    for key, inner in value.items():
        name = key.casefold()
        if name in _OF_THE_WORK or (name in _NAMING and not asked):
            continue
        inner_path = f"{about}.{key}" if about else key
        if isinstance(inner, dict):
            yield from _said(inner, inner_path, depth + 1, asked=asked)
        elif isinstance(inner, list) and any(isinstance(one, dict) for one in inner):
            objects = (one for one in inner if isinstance(one, dict) and "line" not in one)
            named = [one for one in objects if any(map(_names, one, one.values()))]
            for one in named:
                yield from _said(one, inner_path, depth + 1)
            bare: JsonValue = [*map(_of_interest, inner)]
            if asked and not named and _kind_of(bare) is not None:
                yield inner_path, bare
        elif _kind_of(inner) is not None and (asked or inner != []):
            yield inner_path, inner


def _of_interest(value: JsonValue) -> JsonValue:
    """An object without what is about the work itself, and without null."""
    if not isinstance(value, dict):
        return value
    items = value.items()
    return {k: v for k, v in items if k.casefold() not in _OF_THE_WORK and v is not None}


def _names(key: str, value: JsonValue) -> bool:
    return key.casefold() in _NAMING and isinstance(value, str | int) and value != ""


def _sides(claims: Sequence[_Claim]) -> list[list[_Claim]]:
    sides: list[list[_Claim]] = []
    for claim in claims:
        side = next((side for side in sides if _same(side[0].value, claim.value)), None)
        if side is None:
            sides.append(side := [])
        side.append(claim)
    return sides


def _without_replaced(claims: Sequence[_Claim], needs: Mapping[str, Sequence[str]]) -> list[_Claim]:
    replaced: set[str] = set()
    todo = [id for claim in claims for id in needs.get(claim.id, ())]
    while todo:
        id = todo.pop()
        if id not in replaced:
            replaced.add(id)
            todo += needs.get(id, ())
    return [claim for claim in claims if claim.id not in replaced]


def _conflict(
    kind: ConflictKind, path: str, sides: Sequence[Sequence[_Claim]], *, by: str = "in"
) -> Conflict:
    said = (f"{_shown(side[0].value)} {by} {', '.join(c.id for c in side)}" for side in sides)
    return Conflict(
        task_ids=tuple(claim.id for side in sides for claim in side),
        kind=kind,
        about=f"{path} is {' and '.join(said)}",
    )


def _kind_of(value: JsonValue) -> str | None:
    match value:
        case bool():
            return "truth"
        case int() | float():
            return "number" if -math.inf < value < math.inf else None
        case str():
            return "label" if _LABEL.fullmatch(value.strip()) else None
        case list():
            return "list" if all(map(_kind_of, value)) else None
        case dict():
            return "object" if all(map(_kind_of, value.values())) else None
        case _:
            return None


def _aligned(values: Sequence[JsonValue]) -> list[JsonValue]:
    """Beside numbers, numerals in strings are numbers; beside truths, 0 and 1 are truths."""
    numeric = any(_kind_of(value) == "number" for value in values)
    found = [_number(value) for value in values] if numeric else [*values]
    truths = any(isinstance(value, bool) for value in found)
    if not truths or any(_kind_of(value) == "number" and value not in (0, 1) for value in found):
        return found
    return [bool(value) if _kind_of(value) == "number" else value for value in found]


def _same(one: JsonValue, other: JsonValue) -> bool:
    """Numbers are rounded; case of labels and order of lists don't count."""
    match one, other:
        case (bool(), _) | (_, bool()):
            return one is other
        case ((int() | float()), (int() | float())):
            return _same_number(one, other)
        case str(), str():
            return _plain(one) == _plain(other)
        case list(), list():
            pairs = zip(sorted(one, key=_order), sorted(other, key=_order), strict=False)
            return len(one) == len(other) and all(_same(*pair) for pair in pairs)
        case dict(), dict():
            return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
        case _:
            return False


def _shown(value: JsonValue) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except ValueError:
        return "a number of too many digits"
    return cut_line(text.replace('"', ""), _MAX_SHOWN_CHARS)


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
        if not math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-9):
            return False
    except OverflowError:  # an integer that is too long for a float
        return False
    places = min(len(f"{Decimal(repr(n)):f}".partition(".")[2].rstrip("0")) for n in (one, other))
    return abs(one - other) <= max(0.5000005 * 10.0**-places, 1e-9 * abs(one), 1e-9)


def _order(value: JsonValue) -> tuple[str, float, str]:
    if isinstance(value, int | float):
        return _kind_of(value) or "", value, ""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return _kind_of(value) or "", 0, _plain(text)


def _plain(text: str) -> str:
    return _BETWEEN.sub(" ", text.strip().casefold())
