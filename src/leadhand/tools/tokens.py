"""What the tokens of well-known services look like, for tools that find or mask credentials."""

from leadhand.redaction.formats import FORMATS, MARKS, TokenFormat

__all__ = ["FORMATS", "MARKS", "TokenFormat"]
