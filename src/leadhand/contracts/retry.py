"""`Retry`: which failures of one worker are retried."""

import dataclasses
from typing import Annotated

from annotated_types import Ge

from leadhand.contracts.arguments import argument, check_fields
from leadhand.contracts.many import Many

JITTER_SHARE = 0.2
"""Share by which a wait is shortened or lengthened, so that tasks that failed together are not all
retried together."""


@argument
@dataclasses.dataclass(frozen=True)
class Retry:
    """Which failures of a worker are retried with the same intent, and how often.

    It narrows the team's `RetryRules`, which set the waits, the attempts of a task by all workers,
    and how many tasks of a run may be retried.
    """

    _: dataclasses.KW_ONLY
    on: Many[type[BaseException]] | None = None
    """Only these exceptions and their subclasses are retried, even a `ValueError`; None: all but
    the permanent ones, which `leadhand.engine.failures` lists."""
    attempts: Annotated[int, Ge(1)] | None = None
    """Attempts including the first; never more than the team allows. None: as many."""

    __post_init__ = check_fields
