"""Checks the names of a team's models before anything is spent. Makes no connections."""

import difflib
import os
import pkgutil
from collections.abc import Iterable

from pydantic_ai import providers
from pydantic_ai.models import known_model_names
from pydantic_ai.providers import infer_provider_class

from leadhand.contracts.team import ModelSpec
from leadhand.errors import InputError
from leadhand.models.connections import Connections

_NOT_FILES = ("openai-chat", "openai-responses", "azure-responses")
"""Providers without a module of their own."""
_SOME = "openai:NAME, anthropic:NAME, google:NAME, ollama:NAME, ..."


async def check_names(specs: Iterable[ModelSpec]) -> None:
    """Raises `InputError` for the first name with an unknown provider, no package, or no key."""
    async with Connections() as connections:
        for spec in specs:
            if isinstance(spec, str):
                _check_provider(spec)
            connections.to(spec)


def _check_provider(spec: str) -> None:
    provider, colon, name = spec.partition(":")
    if not colon:
        if spec == "test":
            return  # pydantic-ai's own fake
        raise InputError(f"model {spec!r} names no provider: write {_with_provider(spec)}")
    if not name:
        raise InputError(f"model {spec!r} names no model: write provider:model")
    try:
        infer_provider_class(provider)
    except ValueError:
        known = _providers()
        near = difflib.get_close_matches(provider, known, n=1)
        guess = f"did you mean {near[0]}:{name}?" if near else f"write one of {_SOME}"
        raise InputError(f"model {spec!r} has an unknown provider: {guess}{_hint(spec)}") from None
    except ImportError as error:
        said = " ".join(str(error).split())
        raise InputError(f"model {spec!r} can't be used: {said}") from error


def _hint(spec: str) -> str:
    """A hint for names such as `qwen3:8b`, which contain a colon but no provider."""
    if not os.environ.get("OPENAI_BASE_URL"):
        return ""
    return f"; for a model that OPENAI_BASE_URL calls so write openai-chat:{spec}"


def _with_provider(name: str) -> str:
    """The known model that `name` most likely means."""
    # If several providers have a model of this name, the one with the shortest name made it.
    by_length = sorted(known_model_names(), key=len, reverse=True)
    known = {id.partition(":")[2]: id for id in by_length}
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    return known[near[0]] if near else f"provider:{name}, as in openai:{name}"


def _providers() -> list[str]:
    files = (module.name for module in pkgutil.iter_modules(providers.__path__))
    named = {name.replace("_", "-") for name in files if not name.startswith("_")}
    return sorted({*named, *_NOT_FILES} - {"gateway", "openai-compatible", "elevenlabs"})
