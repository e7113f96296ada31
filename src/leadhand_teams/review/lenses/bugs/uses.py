"""Finds the certain uses of a module's names in the tree after the change.

Only names that an import statement links to the file count, in files that parse. Uses that expect
that the name may be missing (`try` with an ImportError, `hasattr`) don't count.
"""

import ast
import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from leadhand.tools.git import grep, list_tree, read_blobs
from leadhand_teams.review.change import Change, ChangedFile, parse_python
from leadhand_teams.review.lenses.bugs.modules import Import, Modules, imports, module_parts
from leadhand_teams.review.lenses.bugs.symbols import bindings
from leadhand_teams.review.syntax import (
    FUNCTIONS,
    ImportedNames,
    Tree,
    dotted,
    last_name,
    line_of,
    parameters,
)

_FROM_HERE = re.compile(r"^[ \t]*from[ \t]+\.+[ \t]+import", re.MULTILINE)
_WORD = re.compile(r"\w+")

MAX_TEXTS = 2_000
"""At most this many files are read at once."""
MAX_FILES = 400
"""At most this many files are parsed."""
MAX_BYTES = 1 << 19
"""Larger files are not searched."""


class SourceFile:
    """A parsed file of the tree that may use a name."""

    def __init__(self, path: str, text: str, module: ast.Module) -> None:
        self.path = path
        self.text = text
        self.tree = Tree(module)
        nodes = (*self.tree.nodes(ast.Import), *self.tree.nodes(ast.ImportFrom))
        self.imports = tuple(imports(nodes))

    @functools.cached_property
    def names(self) -> ImportedNames:
        """What its names stand for."""
        return ImportedNames(self.tree.module)

    @functools.cached_property
    def named(self) -> Mapping[str, list[ast.Name | ast.Attribute]]:
        """Last name -> the names and attributes."""
        found: defaultdict[str, list[ast.Name | ast.Attribute]] = defaultdict(list)
        for node in (*self.tree.nodes(ast.Name), *self.tree.nodes(ast.Attribute)):
            found[last_name(node)].append(node)
        return found

    @functools.cached_property
    def bound(self) -> Counter[str]:
        """How often each name is assigned, deleted, or defined outside of classes."""
        names = [one.id for one in self.tree.nodes(ast.Name) if not isinstance(one.ctx, ast.Load)]
        for kind in (*FUNCTIONS, ast.ClassDef):
            outside = (
                node
                for node in self.tree.nodes(kind)
                if not isinstance(self.tree.parent(node), ast.ClassDef)
            )
            names += [node.name for node in outside]
        return Counter(names)


class Workspace:
    """The tree after the change; without a repository, only the files of the change."""

    def __init__(self, change: Change) -> None:
        self._change = change
        self._sources: dict[str, SourceFile | None] = {}
        self._texts: dict[str, str] = {}
        self._mentioned: list[str] = []
        self.unread: set[str] = set()
        """The files that were not parsed because there are too many."""
        self.defined: dict[str, set[str]] = {}
        """Name -> the files that define a function or attribute with that name."""
        self.repository: tuple[Path, str] | None = None
        """The git folder and the commit of the tree, if there is a repository."""
        paths = [file.path for file in change.files if file.status != "deleted"]
        if change.git_dir is not None and change.head is not None:
            self.repository = (change.git_dir, change.head)
            paths = list_tree(*self.repository)
        self.modules = Modules([*paths, *(file.path for file in change.files)])
        self.paths = frozenset(paths)

    def files_mentioning(self, names: Sequence[str]) -> dict[str, set[str]]:
        """Path -> those of `names` that the Python file contains as whole words."""
        if self.repository is not None:
            texts = [(path, text) for path, _, text in grep(*self.repository, names)]
        else:
            python = [file for file in self._change.files if file.language == "python"]
            texts = [(file.path, file.head) for file in python if file.status != "deleted"]
        found: dict[str, set[str]] = {}
        for path, text in texts:
            for name in set(_WORD.findall(text)).intersection(names):
                found.setdefault(path, set()).add(name)
                bound = rf"\bdef[ \t]+{re.escape(name)}\b|\b{re.escape(name)}[ \t]*=[^=]"
                if re.search(bound, text):
                    self.defined.setdefault(name, set()).add(path)
        self._mentioned = [path for path in found if path not in self._change.by_path]
        return found

    def is_submodule(self, source: SourceFile, one: Import, target: str) -> bool:
        """Whether `from package import name` imports the file `target`, not an object in it."""
        if one.name is None or one.name == "*":
            return False
        inner = f"{one.module}.{one.name}" if one.module else one.name
        if not self.modules.resolves_to(source.path, inner, one.level, target):
            return False
        folder = target.removesuffix("/__init__.py").rpartition("/")[0]
        package = f"{folder}/__init__.py"
        if package not in self.paths:
            return True
        init = self.source(package, package)
        return init is not None and one.name not in bindings(init.tree.module)

    def changed_file(self, path: str) -> ChangedFile | None:
        """The changed file at `path`; `None` if the change does not touch it."""
        return self._change.by_path.get(path)

    def source(self, path: str, target: str) -> SourceFile | None:
        """The parsed file at `path`; `None` if it does not parse or can't refer to `target`."""
        if path not in self._sources:
            text = self._text(path)
            stem = module_parts(target)[-1:] or ("",)
            if path != target and stem[0] not in text and not _FROM_HERE.search(text):
                return None
            if len(self._sources) >= MAX_FILES:
                self.unread.add(path)
                return None
            changed = self.changed_file(path)
            module = changed.head_tree if changed is not None else parse_python(text)
            self._sources[path] = SourceFile(path, text, module) if module is not None else None
        return self._sources[path]

    def _text(self, path: str) -> str:
        changed = self.changed_file(path)
        if changed is not None:
            return changed.head
        if path not in self._texts and self.repository is not None:
            wanted = [path, *(one for one in self._mentioned if one not in self._texts)]
            texts = read_blobs(*self.repository, wanted[:MAX_TEXTS], MAX_BYTES)
            self._texts.update({one: texts.get(one, "") for one in wanted[:MAX_TEXTS]})
        return self._texts.get(path, "")


def imports_of_module(source: SourceFile, workspace: Workspace, target: str) -> Iterator[ast.AST]:
    """The statements that import the module `target` or anything from it."""
    for one in source.imports:
        if (
            workspace.modules.resolves_to(source.path, one.module, one.level, target)
            or workspace.is_submodule(source, one, target)
        ) and not _guarded(source.tree, one.node):
            yield one.node


def uses_of_name(
    source: SourceFile, workspace: Workspace, target: str, name: str
) -> Iterator[ast.AST]:
    """The imports of `name` from the module `target`, and its uses as an attribute."""
    for one in source.imports:
        if (
            one.name == name
            and workspace.modules.resolves_to(source.path, one.module, one.level, target)
            and not _guarded(source.tree, one.node)
        ):
            yield one.node
    aliases = _aliases(source, workspace, target)
    for node in source.tree.nodes(ast.Attribute) if aliases else ():
        owner = dotted(node.value) if node.attr == name else ""
        if owner not in aliases or not isinstance(node.ctx, ast.Load):
            continue
        first = owner.split(".", 1)[0]
        if not (_shadowed(source, node, first) or _guarded(source.tree, node)):
            yield node


def calls(source: SourceFile, workspace: Workspace, target: str, name: str) -> Iterator[ast.Call]:
    """The calls of the function or class `name` of the module `target`."""

    def is_target(one: Import) -> bool:
        resolved = workspace.modules.resolves_to(source.path, one.module, one.level, target)
        return one.name == name and resolved

    names = {one.local for one in source.imports if is_target(one)}
    # No other import of the file may bind the same local name to something else.
    names -= {one.local for one in source.imports if one.local in names and not is_target(one)}
    if source.path == target:
        names.add(name)
    reads = {f"{alias}.{name}" for alias in _aliases(source, workspace, target)}
    for node in source.tree.nodes(ast.Call) if names or reads else ():
        called = dotted(node.func)
        if called not in names and called not in reads:
            continue
        first = called.split(".", 1)[0]
        own = 1 if source.path == target and called == name else 0
        if not (_shadowed(source, node, first, bindings=own) or _guarded(source.tree, node)):
            yield node


def self_calls(source: SourceFile, owner: str, name: str) -> Iterator[ast.Call]:
    """The calls of `self.name(...)` in the methods of the class `owner`."""
    for node in source.tree.nodes(ast.Call):
        if dotted(node.func) != f"self.{name}":
            continue
        scope = source.tree.enclosing(node, ast.ClassDef)
        if scope is not None and scope.name == owner:
            yield node


def _aliases(source: SourceFile, workspace: Workspace, target: str) -> set[str]:
    """The local names of the module `target` that stand for nothing else."""
    found: set[str] = set()
    others: set[str] = set()
    for one in source.imports:
        if one.name is None:
            is_target = workspace.modules.resolves_to(source.path, one.module, 0, target)
        else:
            is_target = workspace.is_submodule(source, one, target)
        (found if is_target else others).add(one.local)
    return found - others


def _shadowed(source: SourceFile, node: ast.AST, name: str, *, bindings: int = 0) -> bool:
    """Whether `name` may be something else at `node`, or is bound a second time."""
    if source.bound[name] > bindings:
        return True
    return any(
        isinstance(up, (*FUNCTIONS, ast.Lambda)) and name in {one.arg for one in parameters(up)}
        for up in source.tree.ancestors(node)
    )


def _guarded(tree: Tree, node: ast.AST) -> bool:
    """Whether the enclosing code expects that the import or the attribute may fail."""
    for up, below in tree.path_up(node):
        if isinstance(up, ast.Try) and up.handlers and below in up.body:
            return True
        if isinstance(up, ast.With):
            managers = [ast.dump(one) for one in up.items]
            if any("suppress" in one or "raises" in one for one in managers):
                return True
        if isinstance(up, ast.If | ast.IfExp) and _asks(up.test):
            return True
    return False


def _asks(test: ast.expr) -> bool:
    """Whether a condition checks a version or the attribute itself."""
    asked = r"\b(?:version_info|hasattr|__version__|VERSION|Version|version)\b"
    return re.search(asked, ast.unparse(test)) is not None


def shown_places(uses: Sequence[tuple[str, ast.AST]]) -> str:
    """Up to five uses as `path:line`, and the number of the others."""
    shown = list(dict.fromkeys(f"{path}:{line_of(node)}" for path, node in uses))
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    return ", ".join(shown[:5]) + more
