"""The bugs lens: code that fails or does not do what it says, on lines that the change adds.

It runs the linter once over all files of the task, and has checks of its own for bugs that the
linter does not know or that span several files.
"""

from collections.abc import Iterator, Sequence

from leadhand.contracts.finding import NotAssessed
from leadhand.errors import ToolError
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule, Seen, lens, not_python
from leadhand.teams.review.lenses.bugs import (
    coroutines,
    crossfile,
    handlers,
    linter,
    loops,
    uncalled,
)
from leadhand.teams.review.lenses.bugs.hits import finding, is_expected
from leadhand.teams.review.lenses.paths import is_test
from leadhand.teams.review.lenses.syntax import Tree

__all__ = ["RULES", "review"]

_CHECKS = (coroutines, loops, handlers, uncalled)
RULES: tuple[LensRule, ...] = (
    *linter.RULES,
    *crossfile.RULES,
    *(one.RULE for one in _CHECKS),
)


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Bugs in the Python files of a task."""
    yield from not_python("bugs", files)
    python = [file for file in files if file.language == "python" and file.status != "deleted"]
    whole = [file for file in python if file.complete]
    for file in python:
        if not file.complete:
            yield NotAssessed(
                lens="bugs", path=file.path, why="only a patch was given, not the whole file"
            )
    yield from linter.find(whole)
    for file in whole:
        yield from _checked(change, file)
    complete = [file for file in files if file.language == "python" and file.complete]
    try:
        yield from list(crossfile.find(change, complete))
    except (ToolError, RecursionError) as error:
        why = f"uses in other files could not be searched: {error}"
        yield NotAssessed(lens="bugs", why=why)


def _checked(change: Change, file: ChangedFile) -> Iterator[Seen]:
    """What the lens's own checks find in one file; it is parsed only if a check is relevant."""
    checks = [one for one in _CHECKS if one.relevant(change, file)]
    if not checks or file.head_tree is None:
        return
    try:
        tree = Tree(file.head_tree)
        for one in checks:
            for node, message in one.find(change, file, tree):
                if not (is_test(file.path) and is_expected(tree, node)):
                    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
                    yield finding(one.RULE, file, first, last, message)
    except RecursionError:
        yield NotAssessed(lens="bugs", path=file.path, why="its code is nested too deeply")
