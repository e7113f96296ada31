"""Planners: who writes the plan. None of them does any of the work.

Names resolve on first use: what asks a model is heavy, and a team without one never needs it.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadhand.planners.ahead import ModelPlanner
    from leadhand.planners.revision import ModelRemedies
    from leadhand.planners.template import TemplatePlanner

__all__ = ["ModelPlanner", "ModelRemedies", "TemplatePlanner"]

_MODULES = {"ModelPlanner": "ahead", "ModelRemedies": "revision", "TemplatePlanner": "template"}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
