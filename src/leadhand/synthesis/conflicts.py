"""Finds results whose data disagree: the same key with different values. Pure.

Two results contradict each other if their tasks ask the same: in the same words with the same
inputs, or by the team's rule `same_subject`; then they disagree under any key. Other values that
differ under one key are only a difference, and found only if each is the only one of its kind of
worker with that key, because a false one is judged, paid for and read. Many results of one worker
are a fan-out over many things. A result that depends on another one replaces it. If a key such as
`name` or `year` differs, the other keys of these objects are about different things.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from pydantic import JsonValue

from leadhand.contracts.answer import Conflict, ConflictKind
from leadhand.contracts.earlier import names_earlier
from leadhand.contracts.outcome import Result, TaskResult
from leadhand.contracts.team import Team
from leadhand.synthesis.values import ValueKind, aligned, kind_of, same, shown

MAX_FOUND = 20
"""The most conflicts of one run; more would mean that this can't judge such outputs."""
MAX_RESULTS = 5_000
"""With more results nothing is compared, because it would delay the answer."""
MAX_TASKS = 50
"""More tasks with the same intent and inputs are not one question: they only share their words."""
_MAX_DEPTH = 8
_WORD = re.compile(r"[^\W_]+")

_NAMING = frozenset(
    {
        *("about", "topic", "theme", "scope", "area", "aspect", "section", "part", "focus"),
        *("perspective", "domain", "field", "role", "lens", "team", "worker", "task", "step"),
        *("id", "key", "name", "subject", "entity", "item", "product", "sku", "company"),
        *("customer", "person", "author", "country", "region", "city", "place", "file", "path"),
        *("url", "module", "package", "version", "year", "quarter", "month", "week", "day"),
        *("date", "period", "currency", "unit", "language"),
    }
)
"""Keys that identify an object: with a different value, it is about something else."""
_OF_THE_WORK = frozenset(
    {
        *("confidence", "certainty", "summary", "note", "notes", "comment", "comments", "reason"),
        *("reasoning", "why", "explanation", "rationale", "message", "title", "evidence"),
        *("source", "sources", "reference", "references", "citations", "duration", "duration_s"),
        *("elapsed", "elapsed_s", "cost_usd", "tokens", "usage", "model", "timestamp"),
        *("created_at",),
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


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides whether tasks ask the same."""

    request: str = ""
    """The request of the run. A task with the same words is one view of it, not the same question.
    """
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    """The roles of workers by name: workers of the same role are of one kind."""
    same_subject: Sequence[Sequence[str]] = ()
    """`Team.same_subject`."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison of results found."""

    conflicts: tuple[Conflict, ...]
    """All of them unresolved, contradictions first."""
    note: str = ""
    """What could not be compared, as a sentence; empty if everything was."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """The value of one key in one task's result."""

    id: str
    value: JsonValue


_Claims: TypeAlias = dict[str, list[_Claim]]
"""By the path of the key."""


def rules_of(team: Team, request: str) -> Rules:
    """The rules for the results of a team's run."""
    roles = {worker.name: worker.role for worker in team.workers if worker.role is not None}
    return Rules(request, roles, team.same_subject)


def compare(results: Sequence[TaskResult], rules: Rules) -> Comparison:
    """The conflicts between the data of completed tasks."""
    given = [one for one in results if one.status == "completed" and one.result is not None]
    if len(given) > MAX_RESULTS:
        note = f"The {len(given):,} results were not compared with each other: they are too many."
        return Comparison((), note)
    needs = {one.task.id: one.task.depends_on for one in results}
    questions = [*_questions(given, rules)]
    compared = [{one.task.id for one in group} for _, group in questions]
    found: dict[tuple[str, frozenset[str]], Conflict] = {}
    for kind, path, claims in (
        *_of_questions(questions),
        *_of_kinds(given, rules.roles, compared),
    ):
        sides = _sides(_without_replaced(claims, needs)) if len(_sides(claims)) > 1 else []
        if len(sides) > 1:
            conflict = _conflict(kind, path, sides)
            found.setdefault((path, frozenset(conflict.task_ids)), conflict)
        if len(found) > MAX_FOUND:
            note = f"Results disagree on more than {MAX_FOUND} values; the others are not listed."
            return Comparison((*found.values(),)[:MAX_FOUND], note)
    alike = max((len(group) for kind, group in questions if kind == "contradiction"), default=0)
    note = f"{alike:,} tasks ask the same; their results were not compared: they are too many."
    return Comparison((*found.values(),), note if alike > MAX_TASKS else "")


def find_conflicts(results: Sequence[TaskResult], rules: Rules | None = None) -> list[Conflict]:
    """The conflicts between the data of completed tasks, all of them unresolved."""
    return [*compare(results, rules or Rules()).conflicts]


def kind_between(ids: Collection[str], results: Sequence[TaskResult], rules: Rules) -> ConflictKind:
    """The kind of a conflict between these tasks: whether at least two of them ask the same."""
    for kind, group in _questions([one for one in results if one.task.id in ids], rules):
        if kind == "contradiction" and len(group) > 1:
            return kind
    return "difference"


def between_opinions(
    id: str, workers: tuple[str, str], first: Result, second: Result
) -> list[Conflict]:
    """The contradictions between two results of one task, unresolved."""
    claims: defaultdict[str, list[_Claim]] = defaultdict(list)
    for worker, result in zip(workers, (first, second), strict=True):
        for path, value in _all_said(result.output):
            claims[path].append(_Claim(worker, value))
    sides = ((path, _sides(claims)) for path, claims in _comparable(claims))
    found = [_conflict("contradiction", *one, by="by") for one in sides if len(one[1]) > 1]
    return [one.model_copy(update={"task_ids": (id,)}) for one in found[:MAX_FOUND]]


def words(text: str) -> frozenset[str]:
    """The words in a text or key, in lower case."""
    return frozenset(_WORD.findall(text.casefold()))


def key_of(conflict: Conflict) -> str:
    """The key that a conflict of `find_conflicts` is about."""
    return _last(conflict.about.partition(" is ")[0])


def _questions(
    given: Sequence[TaskResult], rules: Rules
) -> Iterator[tuple[ConflictKind, Sequence[TaskResult]]]:
    """Tasks that ask the same, then those that all ask what was requested."""
    asked: defaultdict[str, list[TaskResult]] = defaultdict(list)
    for one in given:
        asked[_worded(one.task.intent)].append(one)
    requested = asked.pop(_worded(rules.request), [])
    for group in asked.values():
        for alike in _with_same_inputs(group):
            yield "contradiction", alike
    for workers in rules.same_subject:
        for alike in _with_same_inputs([one for one in given if one.task.worker in workers]):
            by = [one.task.worker for one in alike]
            only = [one for one in alike if by.count(one.task.worker) == 1]
            yield "contradiction", only
    for alike in _with_same_inputs(requested):
        yield "difference", alike


def _worded(intent: str) -> str:
    return " ".join(intent.casefold().split()).rstrip(".!?")


def _with_same_inputs(group: Sequence[TaskResult]) -> Iterator[Sequence[TaskResult]]:
    """The tasks of a group, by artifacts, dependencies and payload."""
    by_inputs: defaultdict[object, list[TaskResult]] = defaultdict(list)
    for one in group if len(group) > 1 else ():
        task = one.task
        payload = json.dumps(task.payload, sort_keys=True)
        by_inputs[frozenset(task.artifacts), frozenset(task.depends_on), payload].append(one)
    return (alike for alike in by_inputs.values() if len(alike) > 1)


def _of_questions(
    questions: Sequence[tuple[ConflictKind, Sequence[TaskResult]]],
) -> Iterator[tuple[ConflictKind, str, list[_Claim]]]:
    """The claims of tasks that ask the same, or all what was requested."""
    for kind, group in questions:
        if 1 < len(group) <= MAX_TASKS:
            claims: defaultdict[str, list[_Claim]] = defaultdict(list)
            for one in group:
                output = one.result.output if one.result is not None else None
                for path, value in _all_said(output):
                    claims[path].append(_Claim(one.task.id, value))
            for path, alike in _comparable(claims):
                yield kind, path, alike


def _of_kinds(
    given: Sequence[TaskResult], roles: Mapping[str, str], compared: Sequence[Collection[str]]
) -> Iterator[tuple[ConflictKind, str, list[_Claim]]]:
    """The claims of different kinds of workers under one key, each of them with one claim.

    Those of tasks that are all `compared` with each other are left out.
    """
    kinds = {one.task.id: roles.get(one.task.worker, one.task.worker) for one in given}
    artifacts = {
        one.task.id: frozenset(ref for ref in one.task.artifacts if not names_earlier(ref))
        for one in given
    }
    claims: defaultdict[str, list[_Claim]] = defaultdict(list)
    for one in given:
        for path, value in _said(one.result.output if one.result is not None else None, "", 0):
            claims[path].append(_Claim(one.task.id, value))
    for path, alike in _comparable(claims):
        said_by = {kinds[claim.id] for claim in alike}
        vague = _last(path) in _VAGUE or isinstance(alike[0].value, list)
        if vague or len(said_by) < len(alike):
            continue
        if any(all(claim.id in group for claim in alike) for group in compared):
            continue
        looked_at = [artifacts[claim.id] for claim in alike if artifacts[claim.id]]
        if all(one & other for one, other in combinations(looked_at, 2)):
            yield "difference", path, alike


def _comparable(claims: _Claims) -> Iterator[tuple[str, list[_Claim]]]:
    """The claims under each key that can be compared: of one type, one from each of many tasks."""
    for path, all_of_them in claims.items():
        kinds: defaultdict[ValueKind | None, list[_Claim]] = defaultdict(list)
        written = aligned([claim.value for claim in all_of_them])
        for claim, value in zip(all_of_them, written, strict=True):
            kinds[kind_of(value)].append(_Claim(claim.id, value))
        for alike in kinds.values():
            # Two claims of one task under one path are about two things.
            if 1 < len(alike) == len({claim.id for claim in alike}):
                yield path, alike


def _all_said(output: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """All values in the answer to a question. One that is no object is the output itself."""
    if isinstance(output, str):
        return iter(())
    return _said(output if isinstance(output, dict) else {"output": output}, "", 0, asked=True)


def _said(
    value: JsonValue, path: str, depth: int, *, asked: bool = False
) -> Iterator[tuple[str, JsonValue]]:
    """All values in an object with their paths; null is not a value.

    `asked`: in the answer to a question. Its names are values too, and name nothing but the
    elements of lists.
    """
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
            named = [one for one in inner if isinstance(one, dict) and _is_named(one)]
            for one in named:
                yield from _said(one, inner_path, depth + 1)
            bare: JsonValue = [*map(_of_interest, inner)]
            if asked and not named and kind_of(bare) is not None:
                yield inner_path, bare
        elif kind_of(inner) is not None and (asked or inner != []):
            yield inner_path, inner


def _is_named(value: Mapping[str, JsonValue]) -> bool:
    return any(_names(key, inner) for key, inner in value.items())


def _of_interest(value: JsonValue) -> JsonValue:
    """An object without what is about the work itself, and without null."""
    if not isinstance(value, dict):
        return value
    items = value.items()
    return {k: v for k, v in items if k.casefold() not in _OF_THE_WORK and v is not None}


def _names(key: str, value: JsonValue) -> bool:
    """Whether this key identifies an object."""
    return key.casefold() in _NAMING and isinstance(value, str | int) and value != ""


def _last(path: str) -> str:
    return path.rpartition(".")[2].casefold()


def _sides(claims: Sequence[_Claim]) -> list[list[_Claim]]:
    """The claims, grouped by equal values."""
    sides: list[list[_Claim]] = []
    for claim in claims:
        for side in sides:
            if same(side[0].value, claim.value):
                side.append(claim)
                break
        else:
            sides.append([claim])
    return sides


def _without_replaced(claims: Sequence[_Claim], needs: Mapping[str, Sequence[str]]) -> list[_Claim]:
    """The claims of tasks on which no other of these tasks depends."""
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
    said = (f"{shown(side[0].value)} {by} {', '.join(c.id for c in side)}" for side in sides)
    return Conflict(
        task_ids=tuple(claim.id for side in sides for claim in side),
        kind=kind,
        about=f"{path} is {' and '.join(said)}",
    )
