"""Models: choosing, connecting and calling them, with rates, budgets and a record of every call.

Names resolve on first use: the modules that call models take more than a second to import, and a
run without a model never needs them.
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
