"""What to do about an outcome: pure functions from what happened to what happens next."""

from leadhand.policies.actions import Action
from leadhand.policies.history import History, Rules
from leadhand.policies.ladder import decide

__all__ = ["Action", "History", "Rules", "decide"]
