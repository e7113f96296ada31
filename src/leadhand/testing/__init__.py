"""What tests of teams are made of. Public, for users' tests too; nothing here patches anything.

Virtual time, runners that do as they are told, and a model server that plays planner, workers and
synthesizer on loopback and misbehaves on demand. Names resolve on first use, so that the server's
process starts without the rest.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadhand.testing.counts import Stats
    from leadhand.testing.exchange import Message, Reply, Request, Tool, ToolCall
    from leadhand.testing.process import ScriptedServer
    from leadhand.testing.runners import ScriptedRunner, completed
    from leadhand.testing.virtual_time import VirtualClock, VirtualTimeLoop, run_virtual

__all__ = [
    "Message",
    "Reply",
    "Request",
    "ScriptedRunner",
    "ScriptedServer",
    "Stats",
    "Tool",
    "ToolCall",
    "VirtualClock",
    "VirtualTimeLoop",
    "completed",
    "run_virtual",
]

_MODULES = {
    "Message": "exchange",
    "Reply": "exchange",
    "Request": "exchange",
    "ScriptedRunner": "runners",
    "ScriptedServer": "process",
    "Stats": "counts",
    "Tool": "exchange",
    "ToolCall": "exchange",
    "VirtualClock": "virtual_time",
    "VirtualTimeLoop": "virtual_time",
    "completed": "runners",
    "run_virtual": "virtual_time",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
