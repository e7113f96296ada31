"""Package attributes that are imported on first use (PEP 562), so that importing a package is fast.

Imports nothing itself, because `python -m leadhand` would find modules in the current folder.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_attributes(
    package: str,
    modules: "Mapping[str, str]",
    *,
    within: str | None = None,
    renamed: "Mapping[str, str] | None" = None,
) -> "Callable[[str], object]":
    """The `__getattr__` of `package`; `modules` maps each module to its public names.

    The names are separated by spaces; a module's own name gives the module. The modules are in
    `package`, or in the package `within`. `renamed` maps old names to new ones; an old name gives a
    `DeprecationWarning`.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def attribute(name: str) -> object:
        import importlib
        import warnings

        new = (renamed or {}).get(name, name)
        if new not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if new != name:
            message = f"{package}.{name} is now {package}.{new}"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        home = importlib.import_module(f"{within or package}.{homes[new]}")
        return home if homes[new] == new else getattr(home, new)

    return attribute


def lazy_imports(module: str) -> "Callable[[str], object]":
    """The `__getattr__` of `module` for the names that its source imports for type checkers.

    `__all__` is all of them. The source is read when the first of them is needed.
    """
    homes: dict[str, str] = {}

    def attribute(name: str) -> object:
        import ast
        import importlib
        import sys

        if not homes:
            with open(vars(sys.modules[module])["__file__"], "rb") as source:
                tree = ast.parse(source.read())
            blocks = (node for node in tree.body if isinstance(node, ast.If))
            for found in (node for block in blocks for node in block.body):
                if isinstance(found, ast.ImportFrom) and found.module:
                    homes.update((one.name, found.module) for one in found.names)
        if name == "__all__":
            return [*homes]
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    return attribute
