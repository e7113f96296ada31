"""Workers: what turns a function into a `Runner`, in the event loop, a thread or a process.

Nothing here knows plans, other workers or the scheduler. Names resolve on first use, so that a
worker process, which needs none of asyncio, starts without it.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadhand.workers.function import FunctionWorker
    from leadhand.workers.output import outcome_of
    from leadhand.workers.processes import ProcessPool, ProcessWorker
    from leadhand.workers.reference import Reference
    from leadhand.workers.threads import Abandoned, DaemonThreads
    from leadhand.workers.watchdog import Watchdog

__all__ = [
    "Abandoned",
    "DaemonThreads",
    "FunctionWorker",
    "ProcessPool",
    "ProcessWorker",
    "Reference",
    "Watchdog",
    "outcome_of",
]

_MODULES = {
    "Abandoned": "threads",
    "DaemonThreads": "threads",
    "FunctionWorker": "function",
    "ProcessPool": "processes",
    "ProcessWorker": "processes",
    "Reference": "reference",
    "Watchdog": "watchdog",
    "outcome_of": "output",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
