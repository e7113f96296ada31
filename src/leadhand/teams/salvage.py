"""Removes the wrong fields from a file, so that the rest can be checked too.

A salvaged file never runs: it has a problem, and so has its team.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from pydantic import ValidationError

from leadhand.teams.fields import Fields
from leadhand.teams.files import KeyPath, TeamFile, Value

M = TypeVar("M", bound=Fields)

_ROUNDS = 5
"""Removing a field may make the mapping around it wrong, at most once per level of nesting."""
_FILLER = "-"
_FILLED = frozenset({"description", "intent"})
"""Required prose that nothing else refers to: any text will do in its place."""


def salvaged(model: type[M], document: TeamFile) -> tuple[M, TeamFile] | None:
    """The file without its wrong fields, with its lines; `None` if too little is left."""
    for _ in range(_ROUNDS):
        try:
            return model.model_validate(document.values), document
        except ValidationError as error:
            changes: dict[KeyPath, Value] = {}
            for row in error.errors(include_url=False):
                path = row["loc"]
                if path and path[-1] in _FILLED:
                    changes[path] = _FILLER
                else:
                    around = path[:-1] if row["type"] == "missing" else path
                    changes[document.nearest(around)] = None
            if () in changes:
                return None
            document = _changed(document, changes)
    return None


def _changed(document: TeamFile, changes: Mapping[KeyPath, Value]) -> TeamFile:
    """The document with some values replaced; those that `changes` has as `None` are removed."""
    lines: dict[KeyPath, int] = {}

    def copy(value: Value, old: KeyPath, new: KeyPath) -> Value:
        if old in document.lines:
            lines[new] = document.lines[old]
        if isinstance(value, dict):
            kept = {key: changes.get((*old, key), inner) for key, inner in value.items()}
            kept |= {path[-1]: v for path, v in changes.items() if path[:-1] == old}
            return {
                str(key): copy(inner, (*old, key), (*new, key))
                for key, inner in kept.items()
                if inner is not None
            }
        if isinstance(value, list):
            items = (changes.get((*old, n), inner) for n, inner in enumerate(value))
            return list(_items(items, old, new))
        return value

    def _items(items: Iterator[Value], old: KeyPath, new: KeyPath) -> Iterator[Value]:
        count = 0
        for index, inner in enumerate(items):
            if inner is not None:
                yield copy(inner, (*old, index), (*new, count))
                count += 1

    values = copy(document.values, (), ())
    assert isinstance(values, dict), "a document is a mapping"
    return TeamFile(document.file, values, document.body, lines)
