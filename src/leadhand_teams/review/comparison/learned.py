"""Which functions refuse something, as the code at the base commit shows: no word list knows them.

A function refuses if all it does is to raise, or to answer with an error, under a condition; or if
code at the base answers with a 4xx status or a permission error depending on what it returns.
"""

import ast
import re
from collections.abc import Iterable

from leadhand.tools.git import GitFailed, GitTimeout, grep, read_blobs
from leadhand_teams.review import syntax
from leadhand_teams.review.change import Change, parse_python
from leadhand_teams.review.comparison import vocabulary
from leadhand_teams.review.comparison.guards import called_in, guards_in
from leadhand_teams.review.syntax import is_test

_MAX_HITS = 400
_MAX_FILES = 20
_MAX_BYTES = 300_000
_TIMEOUT_S = 5.0


class BaseNames:
    """What the code at the base says of functions by their names; looks each name up once."""

    def __init__(self, change: Change, trees: Iterable[ast.Module]) -> None:
        """`trees` are the old sides of the changed files, which need no search."""
        self._change = change
        self._trees = trees
        self._refusing: set[str] | None = None
        self._searched: dict[str, bool] = {}
        self._modules: dict[str, list[ast.Module]] = {}

    def refuses(self, name: str) -> bool:
        """Whether a function of this name refuses something."""
        if self._refusing is None:
            self._refusing = {one for tree in self._trees for one in _refusing(tree)}
        if name in self._refusing:
            return True
        if name not in self._searched:
            self._searched[name] = self._found(name)
        return self._searched[name]

    def functions(self, name: str) -> list[syntax.Function]:
        """The functions and methods of this name at the base."""
        return [
            node for tree in self._naming(name) for node in ast.walk(tree)
            if isinstance(node, syntax.FUNCTIONS) and node.name == name
        ]  # fmt: skip

    def sets(self, name: str) -> bool:
        """Whether a file that the change leaves alone assigns to `name`, too."""
        git_dir, head = self._change.git_dir, self._change.head
        if git_dir is None or head is None:
            return False
        try:
            hits = grep(git_dir, head, [name], max_hits=_MAX_HITS, timeout_s=_TIMEOUT_S)
        except (GitFailed, GitTimeout):
            return False
        sets = re.compile(rf"""\s*["']?{re.escape(name)}["']?\s*[:=]""")
        return any(sets.match(text) for path, _, text in hits if not is_test(path))

    def _found(self, name: str) -> bool:
        return any(name in _refusing(tree) for tree in self._naming(name))

    def _naming(self, name: str) -> list[ast.Module]:
        """The modules at the base that name it, at most `_MAX_FILES`; searched once a name."""
        if name not in self._modules:
            self._modules[name] = self._search(name)
        return self._modules[name]

    def _search(self, name: str) -> list[ast.Module]:
        git_dir, base = self._change.git_dir, self._change.base
        if git_dir is None or base is None or len(self._modules) >= _MAX_FILES:
            return []
        try:
            hits = grep(git_dir, base, [name], max_hits=_MAX_HITS, timeout_s=_TIMEOUT_S)
            hits.sort(key=lambda hit: f"def {name}" not in hit[2])
            paths = dict.fromkeys(hit[0] for hit in hits if not is_test(hit[0]))
            texts = read_blobs(git_dir, base, list(paths)[:_MAX_FILES], _MAX_BYTES)
        except (GitFailed, GitTimeout):
            return []  # without a search the name counts as unknown
        trees = (parse_python(text) for text in texts.values())
        return [tree for tree in trees if tree is not None]


def _refusing(tree: ast.Module) -> set[str]:
    """The names of functions that refuse something, as `tree` defines or uses them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, syntax.FUNCTIONS):
            inner = list(syntax.walk_scope(node.body))
            if any(guard.strong for guard in guards_in(inner)) and _only_looks(inner):
                found.add(node.name)
        elif isinstance(node, ast.If):
            for guard in guards_in([node]):
                if guard.strong and vocabulary.denies(guard.refusal):
                    found |= called_in(guard.test)
    return {name for name in found if len(name) > 3 and not name.startswith("__")}


def _only_looks(nodes: list[ast.AST]) -> bool:
    """Whether a function's body neither changes something nor gives more than yes or no."""
    for node in nodes:
        match node:
            case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
                return False
            case ast.Yield() | ast.YieldFrom() | ast.Delete() | ast.Global() | ast.Nonlocal():
                return False
            case ast.Assign(targets=targets) if any(not isinstance(t, ast.Name) for t in targets):
                return False
            case ast.AugAssign(target=ast.Attribute() | ast.Subscript()):
                return False
            case ast.Expr(value=ast.Call(func=function)):
                if not vocabulary.is_logging(function):
                    return False
            case _:
                pass
    return True
