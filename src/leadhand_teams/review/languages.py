"""Tells the language of a file, and whether it is generated, by its name and first lines.

The names are in `languages.toml`.
"""

import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import cast

from leadhand_teams.review.syntax import pattern_of

_TABLE = resources.files("leadhand_teams.review").joinpath("languages.toml").read_text("utf-8")
_READ = cast("Mapping[str, Mapping[str, str]]", tomllib.loads(_TABLE))


def _by_word(table: str) -> dict[str, str]:
    """Word -> language of a table that lists words by language."""
    return {word: key for key, words in _READ[table].items() for word in words.split()}


_BY_ENDING, _BY_NAME, _BY_INTERPRETER = map(_by_word, ("endings", "files", "interpreters"))
_LOCK_FILES, _BUILT, _VENDORED = (
    tuple(_READ["machine_made"][kind].split()) for kind in ("lock_files", "built", "vendored")
)
_NAMES = _READ["names"]
_SHEBANG = re.compile(r"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+)*)?(?:\S*/)?([A-Za-z]+)[\d.]*(?:\s|\Z)")

_GENERATED_HEAD_CHARS = 2000
_GENERATED = pattern_of("languages.generated")


def language(path: str, text: str) -> str:
    """The language of the file at `path`: by name, by ending, by its `#!` line, else `text`."""
    name = path.rsplit("/", 1)[-1].lower()
    stem, dot, ending = name.rpartition(".")
    if name in _BY_NAME:
        return _BY_NAME[name]
    if dot and ending in _BY_ENDING:
        return _BY_ENDING[ending]
    if stem == "dockerfile" or name.startswith("dockerfile."):
        return "dockerfile"
    if text.startswith("#!") and (match := _SHEBANG.match(text[:200])):
        return _BY_INTERPRETER.get(match[1].lower(), "text")
    return "text"


def language_name(language: str) -> str:
    """What people call a language that `language` returned; `other text` for `text`."""
    return _NAMES.get(language, language.capitalize())


def machine_made(path: str) -> str | None:
    """Why the file at `path` was not written by the project's authors; `None` if it may be."""
    *folders, name = path.lower().split("/")
    if name in _LOCK_FILES:
        return "a lock file"
    if name.endswith(_BUILT):
        return "generated or minified"
    if any(folder in _VENDORED for folder in folders):
        return "vendored code"
    return None


def says_generated(text: str) -> bool:
    """Whether the first lines of a file say that a program wrote it."""
    first = text[:_GENERATED_HEAD_CHARS]
    return "generated" in first.lower() and bool(_GENERATED.search(first))
