"""Policies: pure functions from the outcome of an attempt to the next action."""

from leadhand.policies.actions import Action
from leadhand.policies.history import History, Rules
from leadhand.policies.ladder import decide

__all__ = ["Action", "History", "Rules", "decide"]
