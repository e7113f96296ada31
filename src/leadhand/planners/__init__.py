"""Planners: who writes the plan. None of them does any of the work.

Names resolve on first use: what asks a model is heavy, and a team without one never needs it.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.planners.ahead import ModelPlanner
    from leadhand.planners.revision import ModelRemedies
    from leadhand.planners.template import TemplatePlanner

__all__ = ["ModelPlanner", "ModelRemedies", "TemplatePlanner"]

_MODULES = {"ModelPlanner": "ahead", "ModelRemedies": "revision", "TemplatePlanner": "template"}

__getattr__ = lazy_attributes(__name__, _MODULES)
