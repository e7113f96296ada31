"""Redaction removes secrets from text before it is written. Names resolve on first use because
the patterns take long to compile."""

from typing import TYPE_CHECKING

from leadhand.lazy import lazy_imports

if TYPE_CHECKING:
    from leadhand.redaction.logs import RedactingFilter as RedactingFilter
    from leadhand.redaction.logs import redact_logger as redact_logger
    from leadhand.redaction.redactor import REDACTED as REDACTED
    from leadhand.redaction.redactor import Redactor as Redactor
else:  # checkers would take any name for one of the module's
    __getattr__ = lazy_imports(__name__)
