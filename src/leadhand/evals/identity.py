"""What a run of an evaluation depends on, so that it goes on only with the same."""

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from pydantic import BaseModel

from leadhand.contracts.team import Team
from leadhand.models.choice import models_by_role
from leadhand.run.settings import digest_of

_MODELS = ("model", "models")


def team_digest(team: Team) -> str:
    """A digest of the team, with the modules of its code, and of its models."""
    return digest_of([_said(team), models_by_role(team)])


def _said(value: object) -> object:
    """All that a value of a team says, as far as it is the same in another process."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): _said(one) for key, one in cast("Mapping[object, object]", value).items()}
    if isinstance(value, Sequence):
        return [*map(_said, cast("Sequence[object]", value))]
    if isinstance(value, BaseModel):
        return value.model_dump_json()
    if dataclasses.is_dataclass(value):
        names = (one.name for one in dataclasses.fields(value))
        return {name: _said(getattr(value, name)) for name in names if name not in _MODELS}
    name = getattr(value, "__module__", None) or type(value).__module__
    file = getattr(sys.modules.get(name), "__file__", None)
    code = Path(file).read_bytes().hex() if file else ""
    kind = getattr(value, "__qualname__", type(value).__qualname__)
    return [name, kind, digest_of(code), _said(getattr(value, "weights", None))]
