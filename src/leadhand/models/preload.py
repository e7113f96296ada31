"""Imports the libraries that call models in the background, while a command reads its input.

They take longer to import than everything else. No model is called here, and the code that needs a
library reports it if it can't be imported.
"""

import contextlib
import importlib
import threading
from collections.abc import Mapping

from leadhand.models.choice import NO_MODEL, VARIABLE
from leadhand.models.defaults import keyed


def preload(model: str | None, *, no_model: bool, environ: Mapping[str, str]) -> None:
    """Start the import if it is already known that a model will be called. Returns at once."""
    provider = None if no_model else expected_provider(model, environ)
    if provider is not None:
        # Code that needs one of them meanwhile waits for it, because Python locks imports.
        threading.Thread(target=_load, args=(provider,), name="imports", daemon=True).start()


def expected_provider(model: str | None, environ: Mapping[str, str]) -> str | None:
    """The provider that will be called; None if there is none, or it is not known yet."""
    named = (model or environ.get(VARIABLE) or "").strip()
    if named:
        return None if named == NO_MODEL else named.partition(":")[0]
    if environ.get("OPENAI_BASE_URL", "").strip():
        return "openai"
    return next((row.provider for row in keyed(environ) if row.installed), None)


def _load(provider: str) -> None:
    for module in ("leadhand.models.names", f"pydantic_ai.models.{provider.partition('-')[0]}"):
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
