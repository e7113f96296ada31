"""Redaction: takes secrets out of text that is about to be written. It writes nothing itself."""

from leadhand.untrusted.redaction.logs import RedactingFilter, redact_logger
from leadhand.untrusted.redaction.redactor import REDACTED, Redactor

__all__ = ["REDACTED", "RedactingFilter", "Redactor", "redact_logger"]
