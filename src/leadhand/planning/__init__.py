"""Planners: who writes the plan. None of them does any of the work."""

from leadhand.planning.template import TemplatePlanner

__all__ = ["TemplatePlanner"]
