"""The exceptions of tools: for a caller to correct the call, and of the readers of documents."""

from leadhand.errors import LeadhandError


class ToolCallError(LeadhandError):
    """A call that a tool can't answer; the message tells the model or person how to correct it."""


class UnreadableDocument(Exception):
    """The file can't be read; the message says why, and what to do."""


class TruncatedDocument(Exception):
    """The rest of the file is not read; the message says how much was."""
