"""Redaction removes secrets from text before it is written; it writes nothing itself.

Names resolve on first use because the patterns take long to compile.
"""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_attributes

if TYPE_CHECKING:
    from leadhand.redaction.logs import RedactingFilter, redact_logger
    from leadhand.redaction.redactor import REDACTED, Redactor

__all__ = ["REDACTED", "RedactingFilter", "Redactor", "redact_logger"]

__getattr__ = lazy_attributes(
    __name__, {"redactor": "REDACTED Redactor", "logs": "RedactingFilter redact_logger"}
)
