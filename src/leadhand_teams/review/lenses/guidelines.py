"""The guidelines lens: the documents in which the project states how to write its code.

Code finds them and a model compares the change with them, so that without a model nothing is
assessed. They are read from the tree after the change and are data, like the code.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath

from leadhand import LeadhandError
from leadhand.extension.findings import NotAssessed
from leadhand.tools.git import read_blobs
from leadhand.tools.text import joined_names
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.diff_rows import numbered
from leadhand_teams.review.lens import ONLY_A_PATCH, Seen, lens
from leadhand_teams.review.syntax import pattern_of, tree_paths

MAX_CHARS = 20_000
"""The most text of documents for one part of the change."""
_ROOT_GUIDE = re.compile(r"(?:(?:docs?|\.github)/)?contributing\.(?:md|rst|txt)$", re.IGNORECASE)
_ANY_GUIDE = re.compile(r"(?:^|/)(?:AGENTS|CLAUDE)\.md$", re.IGNORECASE)
_ASIDE = pattern_of("guidelines.aside")
_MAX_DOCUMENTS = 80
_MAX_BYTES = 200_000


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """That the documents were not compared with the change, or that there are none."""
    try:
        found = documents(change)
    except LeadhandError as error:
        why = f"the project's documents can't be read: {error}"
        yield NotAssessed(lens="guidelines", why=why)
        return
    if found:
        why = f"{joined_names(list(found), 3)} may state rules, which only a model checks (--model)"
        yield NotAssessed(lens="guidelines", why=why)
    elif change.git_dir is None:
        yield NotAssessed(lens="guidelines", why=ONLY_A_PATCH)
    else:
        why = "the project has no guideline documents"
        yield NotAssessed(lens="guidelines", why=why, idle=True)


def documents(change: Change) -> Mapping[str, str]:
    """Path -> text of the documents after the change; of a patch only those that it shows whole."""
    if change.git_dir is not None and change.head is not None:
        return _in_tree(change.git_dir, change.head)
    whole = (file for file in change.files if file.complete and file.status != "deleted")
    return {file.path: file.head for file in whole if _is_document(file.path)}


def stated_rules(change: Change, paths: AbstractSet[str]) -> str:
    """The documents that apply to `paths`, with line numbers, those of the nearest folders first.

    At most `MAX_CHARS`; what is left out is named.
    """
    shown: list[str] = []
    room = MAX_CHARS
    found = documents(change).items()
    for path, text in sorted(found, key=lambda one: (-one[0].count("/"), one[0])):
        if not any(name.startswith(_folder_of(path)) for name in paths):
            continue
        lines = numbered(text.split("\n"), 1)
        cut = "\n(cut: the rest was left out)" if len(lines) > room else ""
        shown.append(f"{path}:\n{lines[:room]}{cut}" if room > 0 else f"{path} was left out")
        room -= min(len(lines), max(room, 0))
    return "\n\n".join(shown)


def _folder_of(path: str) -> str:
    """The folder that the document at `path` applies to, ending in `/`; empty for all."""
    parent = str(PurePosixPath(path).parent)
    return "" if _ROOT_GUIDE.match(path) or parent in (".", ".github") else f"{parent}/"


def _is_document(path: str) -> bool:
    return not _ASIDE.search(path) and bool(_ROOT_GUIDE.match(path) or _ANY_GUIDE.search(path))


@functools.lru_cache(maxsize=2)
def _in_tree(git_dir: Path, head: str) -> Mapping[str, str]:
    paths = filter(_is_document, tree_paths(git_dir, head))
    wanted = sorted(paths, key=lambda path: (path.count("/"), path))
    return read_blobs(git_dir, head, wanted[:_MAX_DOCUMENTS], _MAX_BYTES)
