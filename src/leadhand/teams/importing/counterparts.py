"""What leadhand has instead of the tools and models that other programs name."""

import re
from collections.abc import Iterable

from leadhand.contracts.team import Tier
from leadhand.contracts.worker_factory import READY_MADE_TOOLS
from leadhand.teams.files import Value
from leadhand.teams.notes import FileLine, Notes
from leadhand.teams.tools import ALIASES
from leadhand.teams.values import tier_of_alias

_TOOLS = {
    **{name: name for name in READY_MADE_TOOLS},
    **ALIASES,
    "notebookread": "read_file",
    "bravesearchtool": "search_web",
    "exasearchtool": "search_web",
    "linkupsearchtool": "search_web",
    "serperdevtool": "search_web",
    "tavilysearchtool": "search_web",
    "firecrawlscrapewebsitetool": "read_page",
    "scrapewebsitetool": "read_page",
    "seleniumscrapingtool": "read_page",
    "filereadtool": "read_file",
    "directoryreadtool": "list_files",
    "directorysearchtool": "search_files",
    "docxsearchtool": "search_files",
    "mdxsearchtool": "search_files",
    "pdfsearchtool": "search_files",
    "txtsearchtool": "search_files",
}
"""Names of tools in lower case, and the ready-made tool that does the same."""

_PROVIDERS = {
    "fireworks_ai": "fireworks",
    "gemini": "google",
    "google": "google",
    "together_ai": "together",
    "vertex_ai": "google-cloud",
    **{
        name: name
        for name in (
            *("anthropic", "azure", "bedrock", "cerebras", "cohere", "deepseek", "groq"),
            *("huggingface", "mistral", "ollama", "openai", "openrouter", "sambanova", "xai"),
        )
    },
}
"""Providers as LiteLLM writes them, `provider/model`, and as leadhand does."""
_MAKERS = (
    (re.compile(r"claude-"), "anthropic"),
    (re.compile(r"gpt-|o[1-9]\b|chatgpt-"), "openai"),
    (re.compile(r"gemini-"), "google"),
)


def tool_names(names: Iterable[tuple[str, FileLine]], notes: Notes) -> list[Value]:
    """The ready-made tools for these names; `notes` gets a warning for each without one."""
    found: dict[Value, None] = {}
    for name, place in names:
        plain, has_arguments, _ = name.strip().partition("(")
        tool = _TOOLS.get(plain.casefold())
        if tool is None:
            notes.warn(
                place,
                f"tool {name!r}: no ready-made tool does the same; write a function and name it as "
                "`module:function`",
            )
            continue
        if has_arguments and not name.endswith("()"):
            notes.warn(place, f"tool {name!r}: is now {tool!r}, without what is in brackets")
        found[tool] = None
    return list(found)


def model_keys(key: str, given: Value, place: FileLine, notes: Notes) -> dict[str, Value]:
    """`model` or `tier` for what `key` names; `notes` gets a warning if it is unknown."""
    if given is None or given == "inherit":
        return {}
    model, tier = _model_or_tier(str(given))
    if model is None and tier is None:
        notes.warn(place, f"`{key}`: {str(given)!r} is of no provider known here")
    return {"tier": tier} if tier is not None else {"model": model} if model is not None else {}


def _model_or_tier(name: str) -> tuple[str | None, Tier | None]:
    """leadhand's name of a model, or the tier that an alias stands for; neither if unknown."""
    tier = tier_of_alias(name)
    if tier is not None:
        return None, tier
    provider, slash, model = name.partition("/")
    if slash:
        known = _PROVIDERS.get(provider)
        return (f"{known}:{model}" if known and model else None), None
    provider, colon, model = name.partition(":")
    if colon and provider in _PROVIDERS.values() and model:
        return name, None
    maker = next((maker for pattern, maker in _MAKERS if pattern.match(name)), None)
    return (f"{maker}:{name}" if maker else None), None
