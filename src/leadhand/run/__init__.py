"""One run, step by step: plan, work, answer. Every step is written down and ends in time.

Who plays the roles is the crew's business, when a task starts the scheduler's; here is what holds
whoever plays them. An answer comes in the end: where a role fails, code stands in for it.
"""

from leadhand.run.conditions import Setting
from leadhand.run.run import Run

__all__ = ["Run", "Setting"]
