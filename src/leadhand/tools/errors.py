"""The exception of tools, for the caller to correct the call."""

from leadhand.errors import LeadhandError


class ToolCallError(LeadhandError):
    """A call that a tool can't answer; the message tells the model or person how to correct it."""
