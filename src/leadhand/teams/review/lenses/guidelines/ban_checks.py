"""Checks of added code against guidelines that ban names and imports."""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lenses.guidelines import hits
from leadhand.teams.review.lenses.guidelines.guideline import Guideline
from leadhand.teams.review.syntax import dotted, is_test

_KEYWORDS: dict[str, type[ast.AST]] = {
    "assert": ast.Assert, "global": ast.Global, "nonlocal": ast.Nonlocal, "lambda": ast.Lambda,
}  # fmt: skip
_CHECKED = (
    ast.Name, ast.Attribute, ast.Call, ast.Assert, ast.Global, ast.Nonlocal, ast.Lambda,
)  # fmt: skip


def banned_names(file: ChangedFile, found: Sequence[Guideline]) -> Iterator[hits.GuidelineHit]:
    """Uses of a banned name on lines that the change adds."""
    if hits.is_generated(file.path):
        return
    banned: list[tuple[Guideline, str]] = []
    for one in found:
        name = one.value.split("(", 1)[0]
        last = name.rsplit(".", 1)[-1]
        if (name == "assert" and is_test(file.path)) or last not in file.head:
            continue
        if name.startswith("#"):
            yield from _comments(file, one)
        elif any(last in text for text in file.added.values()):
            banned.append((one, name))
    if banned and file.language == "python":
        yield from _in_python(file, banned)
    elif banned and file.language in ("javascript", "typescript"):
        for one, name in banned:
            if "." in name.strip("."):
                yield from _in_text(file, one, name)


def banned_imports(file: ChangedFile, found: Sequence[Guideline]) -> Iterator[hits.GuidelineHit]:
    """Imports of a banned module on lines that the change adds, in the folders of the ban."""
    if file.language != "python" or not any("import" in text for text in file.added.values()):
        return
    banned: list[tuple[Guideline, str]] = []
    for one in found:
        module, _, where = one.value.partition("|")
        if not where or _is_in(file.path, where):
            banned.append((one, module))
    for node in hits.all_nodes(file.head_tree) if banned and file.head_tree else ():
        if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno in file.added:
            names = list(_imported(node, file.path))
            for one, module in banned:
                name = next((n for n in names if n == module or n.startswith(f"{module}.")), "")
                if name:
                    what = f"`{name}` is imported"
                    yield hits.GuidelineHit(one, node.lineno, what, end_line=node.end_lineno)


def _in_python(
    file: ChangedFile, banned: Sequence[tuple[Guideline, str]]
) -> Iterator[hits.GuidelineHit]:
    if file.head_tree is None:
        return
    names = _Names(file.head_tree)
    for node in hits.all_nodes(file.head_tree):
        if isinstance(node, _CHECKED) and node.lineno in file.added:
            for one, name in banned:
                if _uses(node, names, one.value, name):
                    yield hits.GuidelineHit(one, node.lineno, f"`{one.value}` is used")


def _uses(node: ast.stmt | ast.expr, names: "_Names", value: str, name: str) -> bool:
    """Whether `node` uses the banned `value`; `name` is `value` without parentheses."""
    if name in _KEYWORDS:
        return isinstance(node, _KEYWORDS[name])
    if isinstance(node, ast.Call):
        if name.startswith("."):
            return isinstance(node.func, ast.Attribute) and node.func.attr == name[1:]
        return value.endswith(")") and names.full(node.func) == name
    if isinstance(node, ast.Name | ast.Attribute):
        return not value.endswith(")") and not name.startswith(".") and names.means(node, name)
    return False


class _Names:
    """What names refer to in a module, by its imports."""

    def __init__(self, tree: ast.Module) -> None:
        self.aliases: dict[str, str] = {}
        self.bound: set[str] = set()
        for node in hits.all_nodes(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.asname:
                        self.aliases[alias.asname] = alias.name
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    self.aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.bound.add(node.name)

    def full(self, node: ast.expr) -> str:
        """The dotted name that `node` refers to; empty if it is no name."""
        first, dot, rest = dotted(node).partition(".")
        root = self.aliases.get(first, first)
        return "" if root in self.bound and not rest else f"{root}{dot}{rest}"

    def means(self, node: ast.expr, name: str) -> bool:
        """Whether `node` refers to `name`: a dotted name, a builtin, or an import."""
        full = self.full(node)
        if "." in name or hasattr(builtins, name):
            return full == name
        return full.rsplit(".", 1)[-1] == name and "." in full and full.split(".", 1)[0] != "self"


def _in_text(file: ChangedFile, one: Guideline, name: str) -> Iterator[hits.GuidelineHit]:
    use = re.compile(rf"(?<![\w.$'\"`]){re.escape(name)}\b")
    for number, text in file.added.items():
        code = text[:2000].split("//", 1)[0]
        if use.search(code) and not code.lstrip().startswith(("*", "/*")):
            yield hits.GuidelineHit(one, number, f"`{one.value}` is used")


def _comments(file: ChangedFile, one: Guideline) -> Iterator[hits.GuidelineHit]:
    if file.language == "python":
        for number, text in file.added.items():
            at = text.find(one.value)
            if at >= 0 and text[:at].count('"') % 2 == 0 and text[:at].count("'") % 2 == 0:
                yield hits.GuidelineHit(one, number, f"`{one.value}` is used")


def _imported(node: ast.Import | ast.ImportFrom, path: str) -> Iterator[str]:
    """The full names that an import statement imports; relative ones are resolved by `path`."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        package = path.split("/")[: -node.level]
        base = ".".join(
            [*(part for part in package if part not in ("src", "lib")), *([base] if base else [])]
        )
    yield from (f"{base}.{alias.name}" for alias in node.names)


def _is_in(path: str, where: str) -> bool:
    """Whether the file at `path` is in the folder or module that a rule names."""
    named = where.replace(".", "/") if "/" not in where and not where.endswith(".py") else where
    return f"/{named}/" in f"/{path}" or f"/{path}".endswith((f"/{named}", f"/{named}.py"))
