"""Names without a definition: from somewhere that ruff can't see, or removed by the change.

Plug-ins, for example, use what their loader sets: files beside them, which the change leaves alone,
use it without a definition, too.
"""

import ast
import functools
import re
from collections.abc import Iterable, Iterator

from leadhand.extension.findings import Finding
from leadhand.tools.git import grep, read_blobs
from leadhand.tools.ruff import Diagnostic, check
from leadhand_teams.review.change import Change, ChangedFile, parse_python
from leadhand_teams.review.ruff_rules.hits import TARGET, RuffHit, quoted
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import (
    FUNCTIONS,
    bound_name,
    is_test,
    line_of,
    pattern_of,
    words_of,
)

MAX_UNKNOWN = 6
"""If a file has more different undefined names, something probably injects them."""

_PROVIDED = words_of("names.provided")
_PYTHON_2 = words_of("names.python_2")
_PYTHON_2_CODE = pattern_of("names.python_2_code")
_INJECTING = pattern_of("names.injecting")
_DYNAMIC = pattern_of("names.dynamic")
_DEL = re.compile(r"\bdel\s[^\n]{0,200}")


def undefined(hit: RuffHit) -> str | None:
    """The message for an undefined name; `None` if something out of sight may provide it."""
    name, file = hit.name, hit.file
    unknown = [one for one in hit.all_found if one.code == "F821"]
    node = hit.node(ast.Name)
    if (
        len({quoted(one) for one in unknown}) > MAX_UNKNOWN
        or any(quoted(one) == name and not file.touches(one.line) for one in unknown)
        or "onsider specifying" in hit.diagnostic.message
        or (name in _PYTHON_2 and _PYTHON_2_CODE.search(file.head))
        or may_be_provided(file, name)
        # In a string annotation, only type checkers and libraries with a mini-language read it.
        or node is None
        or node.id != name
        or _not_evaluated(hit, node)
    ):
        return None
    around = list(hit.tree.ancestors(node))
    # In tests, nested functions may fail on purpose.
    nested = sum(isinstance(up, FUNCTIONS) for up in around) > 1
    if (is_test(file.path) and nested) or any(_is_check(up) for up in around):
        return None
    return f"`{name}` is used but neither defined nor imported in this file."


def may_be_provided(file: ChangedFile, name: str) -> bool:
    """Whether something out of sight may provide `name` in `file`."""
    return name in _PROVIDED or _injects(file) or name in _deleted(file)


def undefined_export(hit: RuffHit) -> str | None:
    """The message for an undefined name in `__all__`."""
    if hit.file.path.endswith(("__init__.py", ".pyi")) or _DYNAMIC.search(hit.file.head):
        return None
    return f"`__all__` names `{hit.name}`, which this module does not define."


def read_before_assignment(hit: RuffHit) -> str | None:
    """The message for a local variable that is read before it has a value."""
    if hit.name in _deleted(hit.file):
        return None
    return f"`{hit.name}` is read here before the same function assigns it."


# A file can have thousands of hits, so its text is searched only once.
@functools.lru_cache(maxsize=512)
def _injects(file: ChangedFile) -> bool:
    return _INJECTING.search(file.head) is not None


@functools.lru_cache(maxsize=512)
def _deleted(file: ChangedFile) -> frozenset[str]:
    """Names that a `del` statement may delete."""
    return frozenset(
        name for names in _DEL.findall(file.head) for name in re.findall(r"\w+", names)
    )


def _not_evaluated(hit: RuffHit, node: ast.AST) -> bool:
    """Whether `node` is in an annotation that Python does not evaluate on import."""
    lazy = hit.file.path.endswith(".pyi") or "import annotations" in hit.file.head
    for up, below in hit.tree.path_up(node):
        if isinstance(up, ast.AnnAssign) and up.annotation is below:
            return lazy or hit.tree.enclosing_function(up) is not None
        if (isinstance(up, ast.arg) and up.annotation is below) or (
            isinstance(up, FUNCTIONS) and up.returns is below
        ):
            return lazy
    return False


def _is_check(node: ast.AST) -> bool:
    """Whether `node` is an `if` that checks a version, a platform or how the code is run."""
    if not isinstance(node, ast.If | ast.IfExp):
        return False
    names = {
        getattr(below, "attr", None) or getattr(below, "id", None) for below in ast.walk(node.test)
    }
    return bool(names & {"version_info", "TYPE_CHECKING", "PY2", "PY3", "platform", "__name__"})


_ENOUGH = 2
_MAX_FILES = 8


def removed(file: ChangedFile, found: Iterable[Diagnostic]) -> Iterator[Finding]:
    """A finding for each name that a removed line defined and an unchanged line still uses.

    `found` are ruff's diagnostics of the whole new file. The old text is only parsed if a removed
    line contains a name that is undefined now.
    """
    text = "\n".join(file.removed.values())
    first: dict[str, Diagnostic] = {}
    for one in found:
        name = quoted(one) if one.code == "F821" and not file.touches(one.line) else ""
        if name and name in text and not may_be_provided(file, name):
            first.setdefault(name, one)
    if not first or file.base_tree is None:
        return
    # Ruff may not understand where a name comes from: then it was undefined before, too.
    before = {quoted(one) for one in check([file.base_file], select=["F821"], target=TARGET)}
    defined = {
        name: line_of(node)
        for node in ast.walk(file.base_tree)
        for name in (node.arg if isinstance(node, ast.arg) else bound_name(node).split(".", 1)[0],)
        if name in first and name not in before and line_of(node) in file.removed
    }
    for name, line in defined.items():
        hunk = file.hunk_removing(line)
        if hunk is not None:
            yield rule("bugs/definition-removed").finding(
                file,
                hunk.new_line,
                message=f"`{name}` is no longer defined here, but line {first[name].line} of this "
                "file still uses it.",
                evidence=file.removed[line].strip(),
            )


def is_injected(change: Change, path: str, name: str) -> bool:
    """Whether at least two other files of the folder of `path` use `name` undefined.

    Raises `ToolError`.
    """
    if change.git_dir is None or change.head is None or "/" not in path:
        return False
    folder = path.rpartition("/")[0]
    hits = grep(change.git_dir, change.head, [name], pathspecs=[f"{folder}/*.py"], max_hits=200)
    beside = dict.fromkeys(hit[0] for hit in hits if hit[0] not in change.by_path)
    texts = read_blobs(change.git_dir, change.head, [*beside][:_MAX_FILES])
    trees = (parse_python(text) for text in texts.values())
    return sum(tree is not None and _is_undefined(tree, name) for tree in trees) >= _ENOUGH


def _is_undefined(tree: ast.Module, name: str) -> bool:
    nodes = list(ast.walk(tree))
    used = any(isinstance(node, ast.Name) and node.id == name for node in nodes)
    bound = (bound_name(node) == name or getattr(node, "arg", None) == name for node in nodes)
    return used and not any(bound) and "import *" not in ast.unparse(tree)
