"""Where a module's names are used in the tree after the change, beyond doubt.

Only names that an import statement ties to the very file, in files that parse. Uses that are
prepared for the name to be missing (`try` with an ImportError, `hasattr`) don't count.
"""

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from leadhand.teams.review.change import Change, ChangedFile, parse_python
from leadhand.teams.review.lenses.bugs.modules import Import, Modules, imports, parts
from leadhand.teams.review.lenses.bugs.symbols import bound
from leadhand.teams.review.lenses.bugs.trees import (
    FUNCTIONS,
    Function,
    Tree,
    dotted,
    line_of,
    parameters,
)
from leadhand.tools.git import grep, list_tree, read_blobs

_FROM_HERE = re.compile(r"^[ \t]*from[ \t]+\.+[ \t]+import", re.MULTILINE)
_WORD = re.compile(r"\w+")

MAX_TEXTS = 2_000
"""Files that are read in search of uses in one go, at most."""
MAX_FILES = 400
"""Files that are parsed in search of uses, at most."""
MAX_BYTES = 1 << 19
"""Larger files are not searched."""


class MentioningFile:
    """A file of the tree that mentions a name in question."""

    def __init__(self, path: str, module: ast.Module) -> None:
        self.path = path
        self.tree = Tree(module)
        nodes = (*self.tree.nodes(ast.Import), *self.tree.nodes(ast.ImportFrom))
        self.imports = tuple(imports(nodes))

    @functools.cached_property
    def stored(self) -> frozenset[str]:
        """The names that the file assigns or deletes anywhere."""
        return frozenset(
            node.id for node in self.tree.nodes(ast.Name) if not isinstance(node.ctx, ast.Load)
        )

    @functools.cached_property
    def definitions(self) -> Counter[str]:
        """How often a function or class of a name is defined outside of classes."""
        tree = self.tree
        nodes = (
            *tree.nodes(ast.FunctionDef),
            *tree.nodes(ast.AsyncFunctionDef),
            *tree.nodes(ast.ClassDef),
        )
        return Counter(
            node.name for node in nodes if not isinstance(tree.parent(node), ast.ClassDef)
        )


class Workspace:
    """The tree after the change; without a repository, just the change's own files."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._sources: dict[str, MentioningFile | None] = {}
        self._texts: dict[str, str] = {}
        self._mentioned: list[str] = []
        self.defined: dict[str, set[str]] = {}
        """Name -> the files that define a function or attribute of that name somewhere."""
        git_dir, head = change.git_dir, change.head
        self.whole = git_dir is not None and head is not None
        if git_dir is not None and head is not None:
            paths = list_tree(git_dir, head)
        else:
            paths = [file.path for file in change.files if file.status != "deleted"]
        self.modules = Modules([*paths, *(file.path for file in change.files)])
        self.paths = frozenset(paths)

    def mentioning(self, names: Sequence[str]) -> dict[str, set[str]]:
        """Path -> which of `names` the Python file at it mentions as whole words."""
        found: dict[str, set[str]] = {}
        git_dir, head = self._change.git_dir, self._change.head
        if git_dir is None or head is None:
            for file in self._change.files:
                if file.language == "python" and file.status != "deleted":
                    self._note(file.path, file.head, names, found)
            return found
        for path, _, text in grep(git_dir, head, names):
            self._note(path, text, names, found)
        self._mentioned = [path for path in found if path not in self._change.by_path]
        return found

    def _note(self, path: str, text: str, names: Sequence[str], found: dict[str, set[str]]) -> None:
        words = set(_WORD.findall(text))
        for name in words.intersection(names):
            found.setdefault(path, set()).add(name)
            if re.search(rf"\bdef[ \t]+{re.escape(name)}\b|\b{re.escape(name)}[ \t]*=[^=]", text):
                self.defined.setdefault(name, set()).add(path)

    def submodule(self, source: "MentioningFile", one: Import, target: str) -> bool:
        """Whether `from package import name` gives the file `target`, not an object in it."""
        if one.name is None or one.name == "*":
            return False
        inner = f"{one.module}.{one.name}" if one.module else one.name
        if not self.modules.refers(source.path, inner, one.level, target):
            return False
        folder = target.removesuffix("/__init__.py").rpartition("/")[0]
        package = f"{folder}/__init__.py"
        if package not in self.paths:
            return True
        init = self.source(package, package)
        return init is not None and one.name not in bound(init.tree.module)

    def changed(self, path: str) -> ChangedFile | None:
        """The file of the change at `path`; none where the change leaves it as it was."""
        return self._change.by_path.get(path)

    def source(self, path: str, target: str) -> MentioningFile | None:
        """The file at `path`, parsed; none where it does not parse or can't mean `target`."""
        if path not in self._sources:
            text = self._text(path)
            stem = parts(target)[-1:] or ("",)
            if path != target and stem[0] not in text and not _FROM_HERE.search(text):
                return None
            if len(self._sources) >= MAX_FILES:
                return None
            changed = self.changed(path)
            module = changed.head_tree if changed is not None else parse_python(text)
            self._sources[path] = MentioningFile(path, module) if module is not None else None
        return self._sources[path]

    def _text(self, path: str) -> str:
        changed = self.changed(path)
        if changed is not None:
            return changed.head
        if path not in self._texts:
            git_dir, head = self._change.git_dir, self._change.head
            if git_dir is None or head is None:
                return ""
            wanted = [path, *(one for one in self._mentioned if one not in self._texts)]
            texts = read_blobs(git_dir, head, wanted[:MAX_TEXTS], MAX_BYTES)
            self._texts.update({one: texts.get(one, "") for one in wanted[:MAX_TEXTS]})
        return self._texts[path]


def of_module(source: MentioningFile, workspace: Workspace, target: str) -> Iterator[ast.AST]:
    """The statements that import the module `target` or anything from it."""
    for one in source.imports:
        if (
            workspace.modules.refers(source.path, one.module, one.level, target)
            or workspace.submodule(source, one, target)
        ) and not _prepared(source.tree, one.node):
            yield one.node


def of_name(
    source: MentioningFile, workspace: Workspace, target: str, name: str
) -> Iterator[ast.AST]:
    """The imports of `name` from the module `target`, and the reads of it as an attribute."""
    for one in source.imports:
        if (
            one.name == name
            and workspace.modules.refers(source.path, one.module, one.level, target)
            and not _prepared(source.tree, one.node)
        ):
            yield one.node
    aliases = _aliases(source, workspace, target)
    for node in source.tree.nodes(ast.Attribute) if aliases else ():
        owner = dotted(node.value) if node.attr == name else None
        if owner not in aliases or not isinstance(node.ctx, ast.Load):
            continue
        first = owner.split(".", 1)[0]
        if not (_shadowed(source, node, first) or _prepared(source.tree, node)):
            yield node


def calls(
    source: MentioningFile, workspace: Workspace, target: str, name: str
) -> Iterator[ast.Call]:
    """The calls of the function or class `name` of the module `target`."""
    names = {
        one.local
        for one in source.imports
        if one.name == name
        and workspace.modules.refers(source.path, one.module, one.level, target)
        and _only(source, workspace, one, target)
    }
    if source.path == target:
        names.add(name)
    reads = {f"{alias}.{name}" for alias in _aliases(source, workspace, target)}
    for node in source.tree.nodes(ast.Call) if names or reads else ():
        called = dotted(node.func)
        if called is None or (called not in names and called not in reads):
            continue
        first = called.split(".", 1)[0]
        own = 1 if source.path == target and called == name else 0
        if not (_shadowed(source, node, first, bindings=own) or _prepared(source.tree, node)):
            yield node


def own_calls(source: MentioningFile, owner: str, name: str) -> Iterator[ast.Call]:
    """The calls of `self.name(...)` in the methods of the class `owner`."""
    for node in source.tree.nodes(ast.Call):
        if dotted(node.func) != f"self.{name}":
            continue
        scope = source.tree.enclosing(node, ast.ClassDef)
        if scope is not None and scope.name == owner:
            yield node


def _only(source: MentioningFile, workspace: Workspace, one: Import, target: str) -> bool:
    """Whether no other import of the file gives the same local name to something else."""
    return all(
        other.name == one.name
        and workspace.modules.refers(source.path, other.module, other.level, target)
        for other in source.imports
        if other.local == one.local
    )


def _aliases(source: MentioningFile, workspace: Workspace, target: str) -> set[str]:
    """The names under which a file has the module `target` itself, and nothing else."""
    found: set[str] = set()
    others: set[str] = set()
    for one in source.imports:
        if one.name is None:
            is_target = workspace.modules.refers(source.path, one.module, 0, target)
        else:
            is_target = workspace.submodule(source, one, target)
        (found if is_target else others).add(one.local)
    return found - others


def _shadowed(source: MentioningFile, node: ast.AST, name: str, *, bindings: int = 0) -> bool:
    """Whether `name` may be something else where `node` stands, or is bound a second time."""
    if name in source.stored or source.definitions[name] > bindings:
        return True
    return any(
        isinstance(up, (*FUNCTIONS, ast.Lambda)) and _takes(up, name)
        for up in source.tree.ancestors(node)
    )


def _takes(function: Function | ast.Lambda, name: str) -> bool:
    return any(argument.arg == name for argument in parameters(function))


def _prepared(tree: Tree, node: ast.AST) -> bool:
    """Whether the code around expects that the import or the attribute may fail."""
    below = node
    for up in tree.ancestors(node):
        if isinstance(up, ast.Try) and up.handlers and below in up.body:
            return True
        if isinstance(up, ast.With) and any("suppress" in ast.dump(one) for one in up.items):
            return True
        if isinstance(up, ast.With) and any("raises" in ast.dump(one) for one in up.items):
            return True
        if isinstance(up, ast.If | ast.IfExp) and _asks(up.test):
            return True
        below = up
    return False


def _asks(test: ast.expr) -> bool:
    """Whether a condition asks for a version or for the attribute itself."""
    asked = {"version_info", "hasattr", "__version__", "VERSION", "Version", "version"}
    return any(
        (isinstance(node, ast.Name) and node.id in asked)
        or (isinstance(node, ast.Attribute) and node.attr in asked)
        for node in ast.walk(test)
    )


def places(uses: Sequence[tuple[str, ast.AST]]) -> str:
    """Up to five uses as `path:line`, and how many more there are."""
    shown = list(dict.fromkeys(f"{path}:{line_of(node)}" for path, node in uses))
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    return ", ".join(shown[:5]) + more
