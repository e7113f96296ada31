"""Finds and reads the documents and settings in which a project states how to write its code.

Reads them from the tree after the change, with limits on their number and size. They are untrusted
data: only the rules of a fixed catalogue are taken from them.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from leadhand.teams.review.change import Change
from leadhand.teams.review.syntax import tree_paths
from leadhand.tools.git.trees import read_blobs

_ROOT_GUIDE = re.compile(r"(?:(?:docs?|\.github)/)?contributing\.(?:md|rst|txt)$", re.IGNORECASE)
_ANY_GUIDE = re.compile(r"(?:^|/)(?:AGENTS|CLAUDE)\.md$", re.IGNORECASE)
_STYLE = re.compile(
    r"(?:^|/)(?:pyproject\.toml|\.?ruff\.toml|\.editorconfig)$|^(?:setup\.cfg|\.flake8|tox\.ini)$"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:node_modules|vendor|_vendor|third_party|fixtures?|testdata|templates?|examples?|\{\{[^/]*)/"
)
_MAX_DOCUMENTS = 80
_MAX_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Project:
    """The documents and settings of a project."""

    paths: frozenset[str]
    """All paths of its tree."""
    guides: Mapping[str, str]
    """Path -> text of the documents in prose."""
    styles: Mapping[str, str]
    """Path -> text of the configuration files that may set a style."""
    mostly_python: bool
    """Whether most of its code is Python."""


def read_project(change: Change) -> Project | None:
    """The project as the change leaves it; `None` if only a patch without documents was given."""
    if change.git_dir is not None and change.head is not None:
        return _from_tree(change.git_dir, change.head)
    texts = {
        file.path: file.head for file in change.files if file.complete and file.status != "deleted"
    }
    wanted = {path: text for path, text in texts.items() if is_document(path)}
    return _project(frozenset(texts), wanted) if wanted else None


def is_document(path: str) -> bool:
    """Whether the file at `path` may state how to write code."""
    if _ASIDE.search(path):
        return False
    return bool(_ROOT_GUIDE.match(path) or _ANY_GUIDE.search(path) or _STYLE.search(path))


def folder_of(path: str) -> str:
    """The folder that the document at `path` applies to, ending in `/`; empty for all."""
    if _ROOT_GUIDE.match(path):
        return ""
    parent = str(PurePosixPath(path).parent)
    return "" if parent in (".", ".github") else f"{parent}/"


@functools.lru_cache(maxsize=2)
def _from_tree(git_dir: Path, head: str) -> Project:
    paths = frozenset(tree_paths(git_dir, head))
    wanted = sorted(
        (path for path in paths if is_document(path)), key=lambda path: (path.count("/"), path)
    )
    return _project(paths, read_blobs(git_dir, head, wanted[:_MAX_DOCUMENTS], _MAX_BYTES))


def _project(paths: frozenset[str], texts: Mapping[str, str]) -> Project:
    python = sum(path.endswith((".py", ".pyi")) for path in paths)
    other = sum(
        path.endswith((".js", ".ts", ".tsx", ".jsx", ".go", ".rs", ".java", ".rb", ".c", ".cpp"))
        for path in paths
    )
    styles = {path: text for path, text in texts.items() if _STYLE.search(path)}
    return Project(
        paths=paths,
        guides={path: text[:_MAX_BYTES] for path, text in texts.items() if path not in styles},
        styles={path: text[:_MAX_BYTES] for path, text in styles.items()},
        mostly_python=python >= other,
    )
