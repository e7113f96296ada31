"""Undefined names: decides whether a name comes from somewhere that ruff can't see."""

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterable

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.bugs.hits import BugHit, quoted
from leadhand.teams.review.lenses.paths import is_test
from leadhand.teams.review.lenses.syntax import FUNCTIONS, word_set
from leadhand.tools.ruff import Diagnostic

UNDEFINED = LensRule(
    "bugs/undefined-name", "bugs/linted", "critical",
    "It fails with a NameError when this line runs.",
    "Import or define the name, or correct its spelling.",
)  # fmt: skip
UNDEFINED_EXPORT = LensRule(
    "bugs/undefined-export", "bugs/linted", "warning",
    "`from module import *` and tools that read `__all__` fail on it.",
    "Remove the name from `__all__`, or define it.",
)  # fmt: skip
UNBOUND = LensRule(
    "bugs/local-before-assignment", "bugs/linted", "critical",
    "The assignment makes the name local to the whole function, so this fails with an "
    "UnboundLocalError.",
    "Use another name for the local variable, or declare it `global` or `nonlocal`.",
)  # fmt: skip
RULES = (UNDEFINED, UNDEFINED_EXPORT, UNBOUND)

MAX_UNKNOWN = 6
"""If a file has more different undefined names, something probably injects them."""

_PROVIDED = word_set(
    # gettext, notebooks, profilers, type checkers
    "_ __ ngettext pgettext npgettext get_ipython display reveal_type reveal_locals profile "
    # modules of packages, frozen programs, remote interpreters
    "__path__ __loader__ __compiled__ __nuitka_binary_dir channel "
    # scripts that a host program runs: Sphinx, Jupyter, SCons, Snakemake, Databricks, debuggers
    "tags c get_config Import Export Environment SConscript Return env snakemake dbutils spark "
    "sc sqlContext displayHTML currentProgram currentAddress gdb lldb "
    # specifications of PyInstaller, Twisted and Bazel
    "Analysis PYZ EXE COLLECT BUNDLE SPECPATH application load"
)
_PYTHON_2 = word_set(
    "unicode long basestring unichr xrange raw_input reduce cmp execfile file reload intern "
    "buffer apply coerce exec_ WindowsError StandardError"
)
_PYTHON_2_CODE = re.compile(
    r"\bPY[23]\b|version_info|\bsix\b|except NameError|platform\.python_version"
)
_INJECTING = re.compile(
    r"\bglobals\(\)|\bvars\(\)|\blocals\(\)|\bexec\(|\bexecfile\(|_convert_\(|\bbuiltins\b|"
    r"sys\.modules\[__name__\]|\b__builtin__\b|import \*|__channelexec__|global_enum"
)
_DYNAMIC = re.compile(
    r"def __getattr__|\bglobals\(\)|\bvars\(\)|sys\.modules|setattr\(|import \*|\bexec\("
)
_DEL = re.compile(r"\bdel\s[^\n]{0,200}")
_WORD = re.compile(r"\w+")


class UndefinedNames:
    """Judges undefined names, with what is known of all undefined names of a batch of files."""

    def __init__(self, found: Iterable[tuple[ChangedFile, Diagnostic]]) -> None:
        self._names: defaultdict[str, set[str]] = defaultdict(set)
        self._before: set[tuple[str, str]] = set()
        self._reported: set[tuple[str, str]] = set()
        for file, one in found:
            if one.code == "F821":
                name = quoted(one)
                self._names[file.path].add(name)
                if not file.touches(one.line):
                    self._before.add((file.path, name))

    def judge(self, hit: BugHit) -> str | None:
        """The message for an undefined name; `None` if something out of sight may provide it."""
        name, file = hit.name, hit.file
        if (
            (file.path, name) in self._before
            or len(self._names[file.path]) > MAX_UNKNOWN
            or "onsider specifying" in hit.diagnostic.message
            or (file.path, name) in self._reported
            or (name in _PYTHON_2 and _PYTHON_2_CODE.search(file.head))
            or may_be_provided(file, name)
        ):
            return None
        # In a string annotation, only type checkers and libraries with a mini-language read it.
        node = hit.node(ast.Name)
        if node is None or node.id != name:
            return None
        if _annotation(hit, node) and (_lazy(hit) or _local(hit, node)):
            return None
        if is_test(file.path) and _inner(hit, node):
            return None
        if any(_is_check(up) for up in hit.tree.ancestors(node)):
            return None
        self._reported.add((file.path, name))
        return f"`{name}` is used but neither defined nor imported in this file."


def may_be_provided(file: ChangedFile, name: str) -> bool:
    """Whether something out of sight may provide `name` in `file`."""
    return name in _PROVIDED or _injects(file) or name in _deleted(file)


def undefined_export(hit: BugHit) -> str | None:
    """The message for an undefined name in `__all__`."""
    if hit.file.path.endswith(("__init__.py", ".pyi")) or _DYNAMIC.search(hit.file.head):
        return None
    return f"`__all__` names `{hit.name}`, which this module does not define."


def read_before_assignment(hit: BugHit) -> str | None:
    """The message for a local variable that is read before it has a value."""
    if is_test(hit.file.path) or hit.name in _deleted(hit.file):
        return None
    return f"`{hit.name}` is read here before the same function assigns it."


# A file can have thousands of hits, so its text is searched only once.
@functools.lru_cache(maxsize=512)
def _injects(file: ChangedFile) -> bool:
    return _INJECTING.search(file.head) is not None


@functools.lru_cache(maxsize=512)
def _deleted(file: ChangedFile) -> frozenset[str]:
    """Names that a `del` statement may delete."""
    return frozenset(name for names in _DEL.findall(file.head) for name in _WORD.findall(names))


def _annotation(hit: BugHit, node: ast.AST) -> bool:
    for up, below in hit.tree.path_up(node):
        if isinstance(up, ast.arg | ast.AnnAssign) and up.annotation is below:
            return True
        if isinstance(up, FUNCTIONS) and up.returns is below:
            return True
    return False


def _local(hit: BugHit, node: ast.AST) -> bool:
    """Whether `node` is in an annotation of a local variable, which Python does not evaluate."""
    in_function = hit.tree.enclosing_function(node) is not None
    return in_function and isinstance(hit.tree.statement(node), ast.AnnAssign)


def _inner(hit: BugHit, node: ast.AST) -> bool:
    """Whether `node` is in a nested function; in tests such code may fail on purpose."""
    return sum(isinstance(up, FUNCTIONS) for up in hit.tree.ancestors(node)) > 1


def _lazy(hit: BugHit) -> bool:
    """Whether Python does not evaluate the file's annotations on import."""
    return hit.file.path.endswith(".pyi") or "from __future__ import annotations" in hit.file.head


def _is_check(node: ast.AST) -> bool:
    """Whether `node` is an `if` that checks a version, a platform or how the code is run."""
    if not isinstance(node, ast.If | ast.IfExp):
        return False
    names = {
        getattr(below, "attr", None) or getattr(below, "id", None) for below in ast.walk(node.test)
    }
    return bool(names & {"version_info", "TYPE_CHECKING", "PY2", "PY3", "platform", "__name__"})
