"""What names mean in a file and what a loop leaves alone: the ground of the performance checks."""

import ast

from leadhand.teams.review.lenses.bugs.trees import (
    FUNCTIONS,
    LOOPS,
    SCOPES,
    Tree,
    child_nodes,
    dotted,
    parameters,
    walk_scope,
)


def origins(tree: Tree) -> dict[str, str]:
    """Local name -> dotted name of what an import binds to it, where nothing else binds it."""
    found: dict[str, str] = {}
    doubtful: set[str] = set()
    for node in (*tree.nodes(ast.Import), *tree.nodes(ast.ImportFrom)):
        for alias in node.names:
            local = alias.asname or alias.name.split(".", 1)[0]
            if isinstance(node, ast.Import):
                origin = alias.name if alias.asname else local
            else:
                origin = f"{'.' * node.level}{node.module or ''}.{alias.name}"
            if found.setdefault(local, origin) != origin:
                doubtful.add(local)
    doubtful |= {node.id for node in tree.nodes(ast.Name) if isinstance(node.ctx, ast.Store)}
    doubtful |= {node.arg for node in tree.nodes(ast.arg)}
    return {local: origin for local, origin in found.items() if local not in doubtful}


def resolved(name: str | None, known: dict[str, str]) -> str | None:
    """The dotted name behind a local dotted name: `sp.run` is `subprocess.run`; else none."""
    if name is None:
        return None
    first, dot, rest = name.partition(".")
    return f"{known[first]}{dot}{rest}" if first in known else None


def loop_around(tree: Tree, node: ast.AST) -> ast.For | ast.AsyncFor | ast.While | None:
    """The innermost loop whose body runs `node` once a round, in the same function."""
    below = node
    for up in tree.ancestors(node):
        if isinstance(up, SCOPES):
            return None
        if isinstance(up, LOOPS) and below in up.body:
            return up
        below = up
    return None


def stored(loop: ast.AST) -> set[str]:
    """The names (dotted, too) that a round of the loop may give another value."""
    found: set[str] = set()
    for node in walk_scope(child_nodes(loop)):
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(
            node.ctx, ast.Load
        ):
            target = node.value if isinstance(node, ast.Subscript) else node
            name = dotted(target)
            if name is not None:
                found.add(name)
    return found


def local_value(tree: Tree, node: ast.AST, name: str) -> ast.expr | None:
    """The one value that the function around `node` gives `name` before it; none if unclear."""
    scope = tree.enclosing_scope(node)
    if isinstance(scope, (*FUNCTIONS, ast.Lambda)) and name in {
        argument.arg for argument in parameters(scope)
    }:
        return None
    values: list[ast.expr | None] = []
    for one in walk_scope(child_nodes(scope)):
        if isinstance(one, ast.Assign | ast.AnnAssign):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            if any(dotted(target) == name for target in targets):
                values.append(one.value)
        elif isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store):
            parent = tree.parent(one)
            if not isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign):
                return None
    return values[0] if len(values) == 1 else None


def small(iterated: ast.expr) -> bool:
    """Whether a loop goes through a handful of things: a literal, or a short range."""
    if isinstance(iterated, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.Constant):
        return True
    if isinstance(iterated, ast.Call) and dotted(iterated.func) == "range":
        return all(isinstance(one, ast.Constant) for one in iterated.args)
    if isinstance(iterated, ast.Call) and dotted(iterated.func) in ("enumerate", "zip", "sorted"):
        return any(small(one) for one in iterated.args)
    name = dotted(iterated)
    return name is not None and name.rsplit(".", 1)[-1].isupper()
