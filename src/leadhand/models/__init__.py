"""Models: which one does what, how it is reached, and every call written down.

Names resolve on first use: what calls models weighs a second and more, and a run without one never
needs it.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.models.calls import Caller, CallRequest, Requester
    from leadhand.models.connections import Connections
    from leadhand.models.gate import Gate

__all__ = ["CallRequest", "Caller", "Connections", "Gate", "Requester"]

_MODULES = {
    "Requester": "calls",
    "Caller": "calls",
    "Connections": "connections",
    "Gate": "gate",
    "CallRequest": "calls",
}

__getattr__ = lazy_attributes(__name__, _MODULES)
