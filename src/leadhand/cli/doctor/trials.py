"""Tries a model. The only module of this command that imports what calls models."""

import os

from leadhand.contracts.team import ModelSpec, model_name
from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.journal import MemoryJournal
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.models.defaults import PROVIDERS
from leadhand.models.trial import Trial, trials


async def trials_of(spec: ModelSpec) -> list[Trial]:
    """The results for one model, as a run would call it. Raises `InputError` for a bad name."""
    async with Connections() as connections:
        connection = connections.to(spec)
        recorder = Recorder("doctor", MemoryJournal(), clock=SystemClock())
        caller = Caller(connections, recorder)
        return await trials(caller, spec, connection, key=_key(model_name(spec)))


def _key(spec: str) -> str | None:
    """The key of a model, which its endpoint needs for its list of models too."""
    provider = spec.partition(":")[0].removesuffix("-chat").removesuffix("-responses")
    keys = (os.environ.get(row.variable) for row in PROVIDERS if row.provider == provider)
    return next((key for key in keys if key), None)
