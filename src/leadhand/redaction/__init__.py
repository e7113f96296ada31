"""Redaction: takes secrets out of text that is about to be written. It writes nothing itself."""

from leadhand.redaction.logs import RedactingFilter, redact_logger
from leadhand.redaction.redactor import REDACTED, Redactor

__all__ = ["REDACTED", "RedactingFilter", "Redactor", "redact_logger"]
