"""The words of `words.toml`, patterns of `patterns.toml` and texts of `texts.toml`, and paths."""

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import cast

from leadhand.tools.git import list_tree


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


def texts_of(name: str) -> Mapping[str, str]:
    """What reports say, by what it is said of."""
    return _tables("texts")[name]


@functools.cache
def _tables(name: str) -> Mapping[str, Mapping[str, str]]:
    text = resources.files("leadhand_teams.review").joinpath(f"{name}.toml").read_text("utf-8")
    return cast("Mapping[str, Mapping[str, str]]", tomllib.loads(text))


_TEST_PATH = pattern_of("paths.test_path")
_PROSE = (
    ".md", ".rst", ".txt", ".in", ".po", ".lock", ".json", ".svg", ".csv", ".html", ".css", ".map",
)  # fmt: skip


@functools.lru_cache(maxsize=2)
def tree_paths(git_dir: Path, tree: str) -> tuple[str, ...]:
    """All paths of `tree` in the repository at `git_dir`."""
    return tuple(list_tree(git_dir, tree))


def is_test(path: str) -> bool:
    """Whether the file at `path` holds tests, or helpers of tests."""
    return bool(_TEST_PATH.search(path))


def is_code(path: str) -> bool:
    """Whether the file at `path` is code that runs, not a test, prose, data or a lock file."""
    return not is_test(path) and not path.lower().endswith(_PROSE) and "." in path
