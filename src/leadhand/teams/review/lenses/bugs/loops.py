"""Collections that a loop shrinks while it iterates over them."""

import ast
import re
from collections.abc import Iterator

from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.syntax import SCOPES, Tree, dotted, indent, walk_scope

RULE = LensRule(
    "bugs/changed-while-iterated", "bugs/loops", "warning",
    "A list then skips the element after each removed one; a dict or set raises an error.",
    "Iterate over a copy, as in `for x in list(xs)`, or build a new collection.",
)  # fmt: skip

MAX_LINES = 100
"""At most this many lines of a loop's body are searched."""

_SHRINKS = frozenset({"remove", "pop", "popitem", "clear", "discard"})
_TRIGGER = re.compile(
    r"(?<![\w.])([\w.]{1,100})\.(?:remove|pop|popitem|clear|discard)\(|\bdel[ \t]+([\w.]{1,100})\["
)
_LOOP = re.compile(
    r"\bfor\b[^\n]{1,200}?\bin[ \t]+(?:enumerate\()?([\w.]{1,100}?)"
    r"(?:\.(?:items|keys|values)\(\))?\)?:"
)
_VIEWS = frozenset({"items", "keys", "values"})
_LEAVES = (ast.Return, ast.Break, ast.Raise)


def relevant(change: Change, file: ChangedFile) -> bool:
    """Whether the text of the added lines may contain such a loop."""
    return bool(_candidates(file))


def _candidates(file: ChangedFile) -> set[str]:
    """The names that added lines shrink below a loop over them."""
    shrunk: dict[str, list[int]] = {}
    for line, text in file.added.items():
        for one, other in _TRIGGER.findall(text):
            shrunk.setdefault(one or other, []).append(line)
    found: set[str] = set()
    if shrunk:
        for number, text in enumerate(file.head_lines, start=1):
            loop = _LOOP.search(text) if "for" in text else None
            lines = shrunk.get(loop.group(1), ()) if loop else ()
            if any(number < n <= number + MAX_LINES and _deeper(file, n, number) for n in lines):
                found.add(loop.group(1) if loop else "")
    return found


def _deeper(file: ChangedFile, line: int, than: int) -> bool:
    """Whether all lines from `than` to `line` are indented deeper than `than`."""
    depth = indent(file.head_lines[than - 1])
    return all(indent(text) > depth for text in file.head_lines[than:line] if text.strip())


def find(change: Change, file: ChangedFile, tree: Tree) -> Iterator[tuple[ast.AST, str]]:
    """Statements on added lines that shrink the collection of their loop, with messages."""
    candidates = _candidates(file) - {"self", "cls"}
    for node in (*tree.nodes(ast.Call), *tree.nodes(ast.Subscript)):
        name = _shrunk(node)
        if name not in candidates or (not _removes(node) and not _is_builtin(file, name)):
            continue
        statement = tree.statement(node)
        if statement is None or isinstance(statement, ast.Return):
            continue
        loop = _loop(tree, statement, name)
        if loop is not None and file.touches(statement.lineno, statement.end_lineno):
            where = f"the loop in line {loop.lineno} iterates over it"
            yield statement, f"`{name}` shrinks here while {where}."


def _shrunk(node: ast.AST) -> str:
    """The name of the collection that `node` shrinks; empty if it shrinks none."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return dotted(node.func.value) if node.func.attr in _SHRINKS else ""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Del):
        return dotted(node.value)
    return ""


def _removes(node: ast.AST) -> bool:
    """Whether `node` is `x.remove(...)`: lists and sets have that method."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "remove"
    )


def _is_builtin(file: ChangedFile, name: str) -> bool:
    """Whether the file assigns a builtin collection to `name`; others may allow the change."""
    made = r"\s{0,3}(?::[^=\n]{1,80})?=\s{0,3}(?:[\[{]|(?:dict|list|set|defaultdict)\()"
    return re.search(rf"(?<![\w.]){re.escape(name)}{made}", file.head) is not None


def _loop(tree: Tree, statement: ast.stmt, name: str) -> ast.For | None:
    """The loop over `name` that continues after `statement`, or `None`."""
    for up, below in tree.path_up(statement):
        if isinstance(below, ast.stmt):
            block = tree.block(below)
            after = block[next(n for n, one in enumerate(block) if one is below) + 1 :]
            if any(isinstance(one, _LEAVES) for one in after):
                return None
        if isinstance(up, SCOPES):
            return None
        if isinstance(up, ast.For) and below in up.body and _over(up.iter, name):
            return None if _rebound(up, name) else up
        if isinstance(up, ast.While):
            return None
    return None


def _over(iterated: ast.expr, name: str) -> bool:
    if isinstance(iterated, ast.Call) and not iterated.keywords:
        function = iterated.func
        if isinstance(function, ast.Attribute) and not iterated.args:
            return function.attr in _VIEWS and dotted(function.value) == name
        if dotted(function) == "enumerate" and len(iterated.args) == 1:
            return dotted(iterated.args[0]) == name
        return False
    return dotted(iterated) == name


def _rebound(loop: ast.For, name: str) -> bool:
    """Whether the loop or its target assigns the name."""
    first = name.split(".", 1)[0]
    return any(
        isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and dotted(node) in (name, first)
        for node in walk_scope([loop.target, *loop.body])
    )
