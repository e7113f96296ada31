"""The one exception by which a tool answers a call that it can't serve as it was made.

Whoever called, most often a model, reads the text and calls again; nothing here knows any tool.
"""

from leadhand.errors import LeadhandError


class ToolCallError(LeadhandError):
    """What a caller of a tool got wrong, in words that tell it how to call it right."""
