"""The files of the team: patterns, weights and playbooks, each read once."""

import json
import re
from functools import cache
from importlib.resources import files

import yaml
from pydantic import JsonValue, TypeAdapter


@cache
def packaged(name: str) -> JsonValue:
    """A file of the team, JSON or YAML."""
    text = files("leadhand_teams.contracts").joinpath(name).read_text(encoding="utf-8")
    return json.loads(text) if name.endswith(".json") else yaml.safe_load(text)


@cache
def wording(name: str) -> re.Pattern[str]:
    """A pattern of `wording.yaml`."""
    listed = TypeAdapter(dict[str, list[str]]).validate_python(packaged("wording.yaml"))
    text = "|".join(listed[name]).replace("{number}", listed["number"][0])
    return re.compile(text, re.IGNORECASE)
