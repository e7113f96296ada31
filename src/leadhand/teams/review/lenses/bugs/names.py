"""Names that nothing defines: when ruff is to be believed, and when a name comes from elsewhere."""

import ast
import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.bugs.hits import BugHit, is_test_path
from leadhand.teams.review.lenses.bugs.trees import FUNCTIONS, word_set
from leadhand.tools.ruff import Diagnostic

UNDEFINED = LensRule(
    id="bugs/undefined-name",
    family="bugs/linted",
    severity="critical",
    why="It fails with a NameError when this line runs.",
    fix="Import or define the name, or correct its spelling.",
)
UNDEFINED_EXPORT = LensRule(
    id="bugs/undefined-export",
    family="bugs/linted",
    severity="warning",
    why="`from module import *` and tools that read `__all__` fail on it.",
    fix="Take the name out of `__all__`, or define it.",
)
UNBOUND = LensRule(
    id="bugs/local-before-assignment",
    family="bugs/linted",
    severity="critical",
    why="The assignment makes the name local to the whole function, so this fails with an "
    "UnboundLocalError.",
    fix="Use another name for the local variable, or declare it `global` or `nonlocal`.",
)
RULES = (UNDEFINED, UNDEFINED_EXPORT, UNBOUND)

MAX_UNKNOWN = 6
"""More different undefined names than this in one file mean that something puts them there."""

_GIVEN = word_set(
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
_OLD = word_set(
    "unicode long basestring unichr xrange raw_input reduce cmp execfile file reload intern "
    "buffer apply coerce exec_ WindowsError StandardError"
)
_OLD_CODE = re.compile(r"\bPY[23]\b|version_info|\bsix\b|except NameError|platform\.python_version")
_INJECTING = re.compile(
    r"\bglobals\(\)|\bvars\(\)|\blocals\(\)|\bexec\(|\bexecfile\(|_convert_\(|\bbuiltins\b|"
    r"sys\.modules\[__name__\]|\b__builtin__\b|import \*|__channelexec__|global_enum"
)
_DYNAMIC = re.compile(
    r"def __getattr__|\bglobals\(\)|\bvars\(\)|sys\.modules|setattr\(|import \*|\bexec\("
)
_MAYBE = re.compile(r"\bdel\s[^\n]{0,200}")
_WORD = re.compile(r"\w+")


class Undefined:
    """Which names of a batch's files are undefined for reasons that the files don't show."""

    def __init__(self, found: Iterable[tuple[ChangedFile, Diagnostic]]) -> None:
        self._names: defaultdict[str, set[str]] = defaultdict(set)
        self._before: set[tuple[str, str]] = set()
        self._told: set[tuple[str, str]] = set()
        for file, one in found:
            if one.code == "F821":
                name = _quoted(one)
                self._names[file.path].add(name)
                if not file.touches(one.line):
                    self._before.add((file.path, name))

    def judge(self, hit: BugHit) -> str | None:
        """What to say of an undefined name; none where it is given by something out of sight."""
        name, file = hit.name, hit.file
        if (
            (file.path, name) in self._before
            or len(self._names[file.path]) > MAX_UNKNOWN
            or "onsider specifying" in hit.found.message
            or (file.path, name) in self._told
            or (name in _OLD and _OLD_CODE.search(file.head))
            or given(file, name)
        ):
            return None
        # In the text of an annotation (a string) the name is read by type checkers at most, and by
        # libraries that have a language of their own in there.
        node = hit.node(ast.Name)
        if node is None or node.id != name:
            return None
        if _annotation(hit, node) and (_lazy(hit) or _local(hit, node)):
            return None
        if is_test_path(file.path) and _inner(hit, node):
            return None
        if any(_is_check(up) for up in hit.tree.ancestors(node)):
            return None
        self._told.add((file.path, name))
        return f"`{name}` is used but neither defined nor imported in this file."


def given(file: ChangedFile, name: str) -> bool:
    """Whether something out of sight may give `name` its meaning in `file`."""
    return name in _GIVEN or _injects(file) or _deleted(file, name)


def export(hit: BugHit) -> str | None:
    """What to say of an undefined name in `__all__`."""
    if hit.file.path.endswith(("__init__.py", ".pyi")) or _DYNAMIC.search(hit.file.head):
        return None
    return f"`__all__` names `{hit.name}`, which this module does not define."


def unbound(hit: BugHit) -> str | None:
    """What to say of a local variable that is read before it has a value."""
    if is_test_path(hit.file.path) or _deleted(hit.file, hit.name):
        return None
    return f"`{hit.name}` is read here before the same function assigns it."


def _quoted(one: Diagnostic) -> str:
    parts: Sequence[str] = one.message.split("`", 2)
    return parts[1] if len(parts) > 2 else ""


# Files can have thousands of hits, so what is asked of a whole text is asked once a file.
@functools.lru_cache(maxsize=512)
def _injects(file: ChangedFile) -> bool:
    return _INJECTING.search(file.head) is not None


@functools.lru_cache(maxsize=512)
def _perhaps_deleted(file: ChangedFile) -> frozenset[str]:
    return frozenset(name for words in _MAYBE.findall(file.head) for name in _WORD.findall(words))


def _deleted(file: ChangedFile, name: str) -> bool:
    return name in _perhaps_deleted(file)


def _annotation(hit: BugHit, node: ast.AST) -> bool:
    below = node
    for up in hit.tree.ancestors(node):
        if isinstance(up, ast.arg | ast.AnnAssign) and up.annotation is below:
            return True
        if isinstance(up, FUNCTIONS) and up.returns is below:
            return True
        below = up
    return False


def _local(hit: BugHit, node: ast.AST) -> bool:
    """Whether `node` is in the annotation of a variable in a function, which nothing evaluates."""
    function = hit.tree.enclosing_function(node)
    statement = hit.tree.statement(node)
    return function is not None and isinstance(statement, ast.AnnAssign)


def _inner(hit: BugHit, node: ast.AST) -> bool:
    """Whether `node` is in a function inside a function: tests make such code to fail."""
    return sum(isinstance(up, FUNCTIONS) for up in hit.tree.ancestors(node)) > 1


def _lazy(hit: BugHit) -> bool:
    """Whether annotations of the file are not evaluated when it is imported."""
    return hit.file.path.endswith(".pyi") or "from __future__ import annotations" in hit.file.head


def _is_check(node: ast.AST) -> bool:
    """Whether `node` is an `if` that asks for a version, a platform or a kind of run."""
    if not isinstance(node, ast.If | ast.IfExp):
        return False
    words = {
        getattr(below, "attr", None) or getattr(below, "id", None) for below in ast.walk(node.test)
    }
    return bool(words & {"version_info", "TYPE_CHECKING", "PY2", "PY3", "platform", "__name__"})
