"""Tables of names, words and patterns that rules know, from `words.toml`."""

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import cast


def words_of(name: str) -> frozenset[str]:
    """The words of a table, by its `module.name`."""
    module, _, key = name.partition(".")
    return frozenset(_tables()[module][key].split())


def word_rows(module: str) -> Mapping[str, frozenset[str]]:
    """All rows of a table."""
    return {key: frozenset(words.split()) for key, words in _tables()[module].items()}


def pattern_of(name: str) -> re.Pattern[str]:
    """A pattern that matches any of the patterns of a table."""
    return re.compile("|".join(sorted(words_of(name))))


@functools.cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    text = resources.files("leadhand_teams.review").joinpath("words.toml").read_text("utf-8")
    return cast("Mapping[str, Mapping[str, str]]", tomllib.loads(text))
