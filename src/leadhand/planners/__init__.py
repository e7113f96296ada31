"""Planners: they write plans and do none of the work.

Names resolve on first use: the modules that call models are slow to import, and a team without a
model never needs them.
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
