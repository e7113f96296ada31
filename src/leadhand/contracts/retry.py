"""When a worker's failed attempt is made once more, as its team's author says."""

import dataclasses
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass


@dataclass(frozen=True, config=ConfigDict(extra="forbid", defer_build=True))
class Retry:
    """Which failures of a worker are retried with the same intent, and how often.

    It narrows the team's `RetryRules`: those say how long the waits are, how many attempts a task
    has in all, whoever makes them, and how many tasks of a run may be retried.
    """

    _: dataclasses.KW_ONLY
    on: tuple[type[BaseException], ...] | None = None
    """Only these exceptions and their subclasses are retried, a `ValueError` too if it is named;
    None: all but the permanent ones, as `leadhand.engine.failures` lists them."""
    attempts: Annotated[int, Field(ge=1)] | None = None
    """Attempts in all, the first included; None, or more than the team allows: as many as that."""
