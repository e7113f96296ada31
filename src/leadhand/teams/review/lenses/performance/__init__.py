"""The performance lens: blocking calls, repeated work and quadratic work on lines the change adds.

It reasons from the code of one file; it measures nothing and runs nothing. Tests are skipped.
"""

from collections.abc import Iterator, Sequence

from leadhand.contracts.finding import Finding, NotAssessed
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule, Seen, lens, not_python
from leadhand.teams.review.lenses.bugs.hits import finding
from leadhand.teams.review.lenses.paths import is_test
from leadhand.teams.review.lenses.performance import blocking, invariants, quadratic
from leadhand.teams.review.lenses.syntax import Tree, line_of

__all__ = ["RULES", "review"]

_CHECKS = (blocking, invariants, quadratic)
RULES: tuple[LensRule, ...] = (*blocking.RULES, *invariants.RULES, *quadratic.RULES)


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Slow work in the Python files of a task."""
    yield from not_python("performance", files)
    for file in files:
        if file.language != "python" or file.status == "deleted" or is_test(file.path):
            continue
        if not file.complete:
            why = "only a patch was given, not the whole file"
            yield NotAssessed(lens="performance", path=file.path, why=why)
            continue
        yield from _check(file)


def _check(file: ChangedFile) -> Iterator[Seen]:
    """The findings of all checks in one file, which is parsed only if a check is relevant."""
    checks = [check for check in _CHECKS if check.relevant(file)]
    if not checks:
        return
    if file.head_tree is None:
        yield NotAssessed(lens="performance", path=file.path, why="it does not parse as Python")
        return
    found: list[Finding] = []
    try:
        tree = Tree(file.head_tree)
        for check in checks:
            for rule, node, message in check.find(file, tree):
                line = line_of(node)
                found.append(finding(rule, file, line, line, message))
    except RecursionError:
        yield NotAssessed(lens="performance", path=file.path, why="its code is nested too deeply")
    yield from sorted(found, key=lambda one: (one.line, one.rule))
