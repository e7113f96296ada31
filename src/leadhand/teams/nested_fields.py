"""Which fields of a team's files are mappings with fields of their own."""

from collections.abc import Iterator
from typing import get_args

from leadhand.teams.fields import (
    Fields,
    PlannerFields,
    RoleFields,
    SynthesizerFields,
    TeamFields,
    WorkerFields,
)


def _fields_in(annotation: object) -> Iterator[type[Fields]]:
    if isinstance(annotation, type) and issubclass(annotation, Fields):
        yield annotation
    for part in get_args(annotation):
        yield from _fields_in(part)


_PARENTS = (TeamFields, WorkerFields, PlannerFields, RoleFields, SynthesizerFields)
NESTED: dict[tuple[type[Fields], str], type[Fields]] = {
    (model, name): nested
    for model in _PARENTS
    for name, info in model.model_fields.items()
    for nested in _fields_in(info.annotation)
}
"""The fields of each mapping that is nested in another."""
