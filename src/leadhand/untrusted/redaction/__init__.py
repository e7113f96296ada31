"""Redaction: takes secrets out of text that is about to be written. It writes nothing itself.

Names resolve on first use: the patterns of secrets take long to compile.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadhand.untrusted.redaction.logs import RedactingFilter, redact_logger
    from leadhand.untrusted.redaction.redactor import REDACTED, Redactor

__all__ = ["REDACTED", "RedactingFilter", "Redactor", "redact_logger"]

_MODULES = {
    "REDACTED": "redactor",
    "RedactingFilter": "logs",
    "Redactor": "redactor",
    "redact_logger": "logs",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
