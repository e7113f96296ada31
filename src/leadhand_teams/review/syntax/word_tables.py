"""Tables of names and words that rules know, from `words.toml`."""

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import cast


def words_of(name: str) -> frozenset[str]:
    """The words of a table, by its `module.name`."""
    module, _, key = name.partition(".")
    return frozenset(_tables()[module][key].split())


@functools.cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    text = resources.files("leadhand_teams.review").joinpath("words.toml").read_text("utf-8")
    return cast("Mapping[str, Mapping[str, str]]", tomllib.loads(text))
