"""The files of the team: patterns, weights and playbooks, each read once."""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TypeVar

import yaml
from pydantic import JsonValue, TypeAdapter

T = TypeVar("T")


@cache
def packaged(name: str) -> JsonValue:
    """A file of the team, JSON or YAML."""
    text = files("leadhand_teams.contracts").joinpath(name).read_text(encoding="utf-8")
    return json.loads(text) if name.endswith(".json") else yaml.safe_load(text)


@cache
def table(kind: type[T], name: str) -> Mapping[str, T]:
    """The rows of such a file by their names."""
    adapter, rows = TypeAdapter(kind), packaged(name)
    assert isinstance(rows, dict)
    return {key: adapter.validate_python(row) for key, row in rows.items()}


@cache
def wording(name: str) -> re.Pattern[str]:
    """A pattern of `wording.yaml`."""
    listed = table(list[str], "wording.yaml")
    text = "|".join(listed[name]).replace("{number}", listed["number"][0])
    return re.compile(text, re.IGNORECASE)
