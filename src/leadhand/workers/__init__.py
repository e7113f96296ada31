"""Workers: what turns a function into a `Runner`, in the event loop, a thread or a process.

Nothing here knows plans, other workers or the scheduler. Names are imported on first use, so that a
worker process starts without asyncio, which it does not need.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.workers.function import FunctionWorker
    from leadhand.workers.output import outcome_of
    from leadhand.workers.processes import ProcessPool, ProcessWorker
    from leadhand.workers.reference import FunctionReference
    from leadhand.workers.watchdog import Watchdog

__all__ = [
    "FunctionReference",
    "FunctionWorker",
    "ProcessPool",
    "ProcessWorker",
    "Watchdog",
    "outcome_of",
]

_MODULES = {
    "function": "FunctionWorker",
    "output": "outcome_of",
    "processes": "ProcessPool ProcessWorker",
    "reference": "FunctionReference",
    "watchdog": "Watchdog",
}

__getattr__ = lazy_attributes(__name__, _MODULES)
