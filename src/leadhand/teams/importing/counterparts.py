"""What leadhand has instead of the tools, models and settings that other programs name:
counterparts.yaml, and how it is used."""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import cast

import yaml

from leadhand.contracts.worker import READY_MADE_TOOLS
from leadhand.teams.files import Value
from leadhand.teams.importing.definition import Item, one_line
from leadhand.teams.notes import Notes
from leadhand.teams.tools import ALIASES
from leadhand.teams.values import split_names, tier_of_alias

_TABLES = cast(
    "Mapping[str, Mapping[str, str]]",
    yaml.safe_load((files("leadhand.teams.importing") / "counterparts.yaml").read_text("utf-8")),
)
_SAME = {name.casefold(): tool for name, tool in _TABLES["tools"].items()}
_TOOLS = {name: name for name in READY_MADE_TOOLS} | ALIASES | _SAME
"""Names of tools in lower case, and the ready-made tool that does the same."""
_MODELS = ("llm", "model")


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
        elif (counterpart := _TABLES["keys"].get(key)) == "settings":
            settings[key] = value
        elif counterpart and isinstance(value, int) and value > 0:
            front[counterpart] = value
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
            why = _TABLES["lost"].get(key, "it has no counterpart")
            notes.warn(item.at(key), f"`{key}`: not carried over, {why}")


def model_keys(item: Item, key: str, notes: Notes) -> dict[str, Value]:
    """`notes` gets a warning if what `key` names is unknown."""
    name = item.text(key)
    if name in ("", "inherit"):
        return {}
    if tier := tier_of_alias(name):
        return {"tier": tier}
    if named := re.fullmatch(r"([\w-]+)[/:](.+)", name):
        provider, name = _TABLES["providers"].get(named[1]), named[2]
    else:
        makers = _TABLES["makers"].items()
        provider = next((maker for begins, maker in makers if re.match(begins, name)), None)
    if provider is None:
        notes.warn(item.at(key), f"`{key}`: {item.text(key)!r} is of no provider known here")
    return {"model": f"{provider}:{name}"} if provider else {}


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
