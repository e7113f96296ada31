"""Models: which one does what, how it is reached, and every call written down.

Names resolve on first use: what calls models weighs a second and more, and a run without one never
needs it.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadhand.models.calls import Asker, Caller, Request
    from leadhand.models.connections import Connections
    from leadhand.models.gate import Gate

__all__ = ["Asker", "Caller", "Connections", "Gate", "Request"]

_MODULES = {
    "Asker": "calls",
    "Caller": "calls",
    "Connections": "connections",
    "Gate": "gate",
    "Request": "calls",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
