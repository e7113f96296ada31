"""What to do about an outcome: pure functions from what happened to what happens next."""

from leadhand.policies.actions import Accept, Action, GiveUp, Reassign, Retry
from leadhand.policies.ladder import History, Rules, decide

__all__ = ["Accept", "Action", "GiveUp", "History", "Reassign", "Retry", "Rules", "decide"]
