"""Policies: decisions without effects, from plain data.

`ladder` and `rungs` decide what follows an attempt, `breaker` whether a worker is given tasks, and
`load_balancing` which worker of a role takes one.
"""

from leadhand.policies.history import History, Rules
from leadhand.policies.ladder import decide
from leadhand.policies.rungs import Action

__all__ = ["Action", "History", "Rules", "decide"]
