"""Tools for tests of teams, public for users' tests too. They patch nothing.

Virtual time, scripted runners, the contract of journals, and a model server on loopback that plays
planner, workers and synthesizer and misbehaves on demand. Names resolve on first use, so that the
server's process imports nothing else.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.testing.counts import Stats
    from leadhand.testing.exchange import Message, ModelReply, Request, ScriptedCall, Tool
    from leadhand.testing.journals import DurableConformance, JournalConformance
    from leadhand.testing.process import ScriptedServer
    from leadhand.testing.runners import ScriptedRunner, completed
    from leadhand.testing.scripted_model import ScriptedModel
    from leadhand.testing.virtual_time import VirtualClock, VirtualTimeLoop, run_virtual

__all__ = [
    "DurableConformance",
    "JournalConformance",
    "Message",
    "ModelReply",
    "Request",
    "ScriptedCall",
    "ScriptedModel",
    "ScriptedRunner",
    "ScriptedServer",
    "Stats",
    "Tool",
    "VirtualClock",
    "VirtualTimeLoop",
    "completed",
    "run_virtual",
]

_MODULES = {
    "counts": "Stats",
    "exchange": "Message ModelReply Request Tool ScriptedCall",
    "journals": "DurableConformance JournalConformance",
    "process": "ScriptedServer",
    "runners": "ScriptedRunner completed",
    "scripted_model": "ScriptedModel",
    "virtual_time": "VirtualClock VirtualTimeLoop run_virtual",
}

__getattr__ = lazy_attributes(
    __name__, _MODULES, renamed={"Reply": "ModelReply", "ToolCall": "ScriptedCall"}
)
