"""What leadhand has instead of the tools, models and settings that other programs name."""

import re
from collections.abc import Sequence

from leadhand.contracts.worker_factory import READY_MADE_TOOLS
from leadhand.teams.files import Value
from leadhand.teams.importing.definition import Item, one_line
from leadhand.teams.notes import Notes
from leadhand.teams.tools import ALIASES
from leadhand.teams.values import split_names, tier_of_alias

_SAME = {
    "list_files": "DirectoryReadTool",
    "read_file": "FileReadTool NotebookRead",
    "read_page": "FirecrawlScrapeWebsiteTool ScrapeWebsiteTool SeleniumScrapingTool",
    "search_files": "DirectorySearchTool DOCXSearchTool MDXSearchTool PDFSearchTool TXTSearchTool",
    "search_web": "BraveSearchTool EXASearchTool LinkupSearchTool SerperDevTool TavilySearchTool",
}
_TOOLS = {
    **{name: name for name in READY_MADE_TOOLS},
    **ALIASES,
    **{name.casefold(): tool for tool, names in _SAME.items() for name in names.split()},
}
"""Names of tools in lower case, and the ready-made tool that does the same."""

_PROVIDERS = frozenset(
    (
        *("anthropic", "azure", "bedrock", "cerebras", "cohere", "deepseek", "fireworks", "google"),
        *("google-cloud", "groq", "huggingface", "mistral", "ollama", "openai", "openrouter"),
        *("sambanova", "together", "xai"),
    )
)
_LITELLM_PROVIDERS = {
    "fireworks_ai": "fireworks",
    "gemini": "google",
    "together_ai": "together",
    "vertex_ai": "google-cloud",
}
"""Providers that LiteLLM calls otherwise, in `provider/model`."""
_MAKERS = (
    (re.compile(r"claude-"), "anthropic"),
    (re.compile(r"gpt-|o[1-9]\b|chatgpt-"), "openai"),
    (re.compile(r"gemini-"), "google"),
)

_MODELS = ("llm", "model")
_LIMITS = {
    "max_execution_time": "timeout_s",
    "max_iter": "max_steps",
    "maxTurns": "max_steps",
    "max_turns": "max_steps",
    "steps": "max_steps",
}
_SETTINGS = ("temperature", "top_p")
_WHY = {
    "allow_delegation": "workers give no tasks to each other, the planner assigns them",
    "async_execution": "the planner decides what runs side by side",
    "callback": "read the run's events instead",
    "human_input": "`leadhand run --approve plan,escalation` asks about plans and escalations",
    "max_rpm": "set `rates` in team.yaml",
    "mcpServers": "MCP servers are toolsets of a worker in Python",
    "memory": "workers keep nothing between tasks",
    "output_file": "redirect what `leadhand run` prints",
    "output_json": "give the worker an `output`",
    "output_pydantic": "give the worker an `output`",
    "planning": "set `planner` in team.yaml",
}


def front_matter(
    agent: Item, description: str, known: Sequence[str], notes: Notes
) -> dict[str, Value]:
    """`notes` gets a warning for each key without a counterpart that is not `known`."""
    front: dict[str, Value] = {"description": one_line(description)}
    if tools := _tools(agent, notes):
        front["tools"] = tools
    settings: dict[str, Value] = {}
    carried = [*known, "tools"]
    for key, value in agent.values.items():
        if key in _MODELS:
            front |= model_keys(agent, key, notes)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            continue
        elif key in _SETTINGS:
            settings[key] = value
        elif key in _LIMITS and isinstance(value, int) and value > 0:
            front[_LIMITS[key]] = value
        else:
            continue
        carried.append(key)
    warn_of_lost(agent, carried, notes)
    if settings:
        front["settings"] = settings
    return front


def warn_of_lost(item: Item, known: Sequence[str], notes: Notes) -> None:
    """Warn of each key that is not `known`; what is false asks for nothing."""
    for key, value in item.values.items():
        # `config` is read where it leads to; every run has a trace of each step, so is verbose.
        if value not in (None, False) and key not in (*known, "config", "verbose"):
            why = _WHY.get(key, "it has no counterpart")
            notes.warn(item.at(key), f"`{key}`: not carried over, {why}")


def model_keys(item: Item, key: str, notes: Notes) -> dict[str, Value]:
    """`notes` gets a warning if what `key` names is unknown."""
    name = item.text(key)
    if name in ("", "inherit"):
        return {}
    if tier := tier_of_alias(name):
        return {"tier": tier}
    if named := re.fullmatch(r"([\w-]+)[/:](.+)", name):
        provider = _LITELLM_PROVIDERS.get(named[1], named[1])
        model = f"{provider}:{named[2]}" if provider in _PROVIDERS else None
    else:
        maker = next((maker for pattern, maker in _MAKERS if pattern.match(name)), None)
        model = f"{maker}:{name}" if maker else None
    if model is None:
        notes.warn(item.at(key), f"`{key}`: {name!r} is of no provider known here")
    return {"model": model} if model else {}


def _tools(agent: Item, notes: Notes) -> list[Value]:
    """`notes` gets a warning for each tool without a counterpart."""
    given, place = agent.values.get("tools"), agent.at("tools")
    if isinstance(given, dict):  # a switch for each tool
        names = [name for name, on in given.items() if on]
    else:
        names = list(map(str, given)) if isinstance(given, list) else split_names(str(given or ""))
    found: dict[Value, None] = {}
    for name in names:
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
