"""Package attributes that are imported on first use (PEP 562). Imports nothing itself, because
`python -m leadhand` would find modules in the current folder."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_imports(
    module: str, *, renamed: "Mapping[str, str] | None" = None
) -> "Callable[[str], object]":
    """The `__getattr__` of `module` for the names that its source imports for type checkers.

    `__all__` is all of them. `renamed` maps old names to new ones, with a `DeprecationWarning`.
    """
    homes: dict[str, str] = {}

    def attribute(name: str) -> object:
        import ast
        import importlib
        import sys
        import warnings

        if not homes:
            with open(vars(sys.modules[module])["__file__"], "rb") as source:
                tree = ast.parse(source.read())
            blocks = (node for node in tree.body if isinstance(node, ast.If))
            for found in (node for block in blocks for node in block.body):
                if isinstance(found, ast.ImportFrom) and found.module:
                    homes.update((one.name, found.module) for one in found.names)
        if name == "__all__":
            return [*homes]
        new = (renamed or {}).get(name, name)
        if new not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if new != name:
            message = f"{module}.{name} is now {module}.{new}"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        if homes[new] == module:
            return importlib.import_module(f"{module}.{new}")
        return getattr(importlib.import_module(homes[new]), new)

    return attribute
