"""What names are bound to in a file: imports, local values, and names that a loop assigns."""

import ast

from leadhand.teams.review.lenses import syntax


def import_origins(tree: syntax.Tree) -> dict[str, str]:
    """Local name -> dotted name of what an import binds to it, if nothing else binds it."""
    found: dict[str, str] = {}
    ambiguous: set[str] = set()
    for node in (*tree.nodes(ast.Import), *tree.nodes(ast.ImportFrom)):
        for alias in node.names:
            local = alias.asname or alias.name.split(".", 1)[0]
            if isinstance(node, ast.Import):
                origin = alias.name if alias.asname else local
            else:
                origin = f"{'.' * node.level}{node.module or ''}.{alias.name}"
            if found.setdefault(local, origin) != origin:
                ambiguous.add(local)
    ambiguous |= {node.id for node in tree.nodes(ast.Name) if isinstance(node.ctx, ast.Store)}
    ambiguous |= {node.arg for node in tree.nodes(ast.arg)}
    return {local: origin for local, origin in found.items() if local not in ambiguous}


def full_name(name: str, known: dict[str, str]) -> str | None:
    """The full name behind a local dotted name (`sp.run` is `subprocess.run`), or `None`."""
    first, dot, rest = name.partition(".")
    return f"{known[first]}{dot}{rest}" if first in known else None


def enclosing_loop(tree: syntax.Tree, node: ast.AST) -> ast.For | ast.AsyncFor | ast.While | None:
    """The innermost loop of the same function whose body holds `node`."""
    for up, below in tree.path_up(node):
        if isinstance(up, syntax.SCOPES):
            return None
        if isinstance(up, syntax.LOOPS) and below in up.body:
            return up
    return None


def assigned_names(loop: ast.AST) -> set[str]:
    """The names, also dotted ones, to which an iteration of the loop may assign."""
    found: set[str] = set()
    for node in syntax.walk_scope(syntax.child_nodes(loop)):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(
            node.ctx, ast.Load
        ):
            target = node.value if isinstance(node, ast.Subscript) else node
            name = syntax.dotted(target)
            if name:
                found.add(name)
    return found


def local_value(tree: syntax.Tree, node: ast.AST, name: str) -> ast.expr | None:
    """The only value that the function around `node` assigns to `name`; `None` if unclear."""
    scope = tree.enclosing_scope(node)
    if isinstance(scope, (*syntax.FUNCTIONS, ast.Lambda)) and name in {
        argument.arg for argument in syntax.parameters(scope)
    }:
        return None
    values: list[ast.expr | None] = []
    for one in syntax.walk_scope(syntax.child_nodes(scope)):
        if isinstance(one, ast.Assign | ast.AnnAssign):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            if any(syntax.dotted(target) == name for target in targets):
                values.append(one.value)
        elif isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store):
            parent = tree.parent(one)
            if not isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign):
                return None
    return values[0] if len(values) == 1 else None


def is_short(iterable: ast.expr) -> bool:
    """Whether an iterable has only a few items: a literal, a constant, or a range of constants."""
    if isinstance(iterable, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.Constant):
        return True
    if isinstance(iterable, ast.Call) and syntax.dotted(iterable.func) == "range":
        return all(isinstance(one, ast.Constant) for one in iterable.args)
    if isinstance(iterable, ast.Call) and syntax.dotted(iterable.func) in (
        "enumerate",
        "zip",
        "sorted",
    ):
        return any(is_short(one) for one in iterable.args)
    return syntax.dotted(iterable).rsplit(".", 1)[-1].isupper()
