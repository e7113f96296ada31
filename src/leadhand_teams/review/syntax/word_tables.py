"""Tables that rules know: names and words of `words.toml`, and patterns of `patterns.toml`."""

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import cast


def words_of(name: str) -> frozenset[str]:
    """The words of a table, by its `module.name`."""
    module, _, key = name.partition(".")
    return frozenset(_tables("words")[module][key].split())


def word_rows(module: str) -> Mapping[str, frozenset[str]]:
    """All rows of a table."""
    return {key: frozenset(words.split()) for key, words in _tables("words")[module].items()}


def pattern_of(name: str) -> re.Pattern[str]:
    """A pattern, by its `module.name`."""
    module, _, key = name.partition(".")
    return re.compile(_tables("patterns")[module][key])


@functools.cache
def _tables(name: str) -> Mapping[str, Mapping[str, str]]:
    text = resources.files("leadhand_teams.review").joinpath(f"{name}.toml").read_text("utf-8")
    return cast("Mapping[str, Mapping[str, str]]", tomllib.loads(text))
