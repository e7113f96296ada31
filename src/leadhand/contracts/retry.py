"""`Retry`: which failures of one worker are retried."""

import dataclasses
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from leadhand.contracts.arguments import Checked
from leadhand.contracts.many import Many


@dataclass(frozen=True, config=ConfigDict(extra="forbid", defer_build=True))
class Retry(metaclass=Checked):
    """Which failures of a worker are retried with the same intent, and how often.

    It narrows the team's `RetryRules`, which set the waits, the attempts of a task by all workers,
    and how many tasks of a run may be retried.
    """

    _: dataclasses.KW_ONLY
    on: Many[type[BaseException]] | None = None
    """Only these exceptions and their subclasses are retried, even a `ValueError`; None: all but
    the permanent ones, which `leadhand.engine.failures` lists."""
    attempts: Annotated[int, Field(ge=1)] | None = None
    """Attempts including the first; never more than the team allows. None: as many."""
