"""Collections that a loop copies in every iteration in order to add to them."""

import ast
from collections.abc import Iterator

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.performance.growth import FAMILY, QuadraticHit, long_loop
from leadhand.teams.review.lenses.performance.indexed_tree import IndexedTree
from leadhand.teams.review.lenses.performance.loops import Loop, shortened
from leadhand.teams.review.lenses.syntax import dotted

COPIED_EACH_PASS = LensRule(
    "performance/copied-each-pass", FAMILY, "warning",
    "Every iteration copies everything collected so far, so the time is quadratic in the number of"
    " items.",
    "Add in place (`append`, `extend`, `update`) and convert once after the loop.",
)  # fmt: skip
SUM_OF_LISTS = LensRule(
    "performance/sum-of-lists", FAMILY, "info",
    "`sum` copies everything collected so far for every list that it adds.",
    "Use `itertools.chain.from_iterable(...)`.",
)  # fmt: skip
FRAME_GROWN = LensRule(
    "performance/frame-grown-in-loop", FAMILY, "warning",
    "Every iteration copies all rows collected so far, so the time is quadratic in their number.",
    "Collect the parts in a list and join them once after the loop.",
)  # fmt: skip
RULES: tuple[LensRule, ...] = (COPIED_EACH_PASS, SUM_OF_LISTS, FRAME_GROWN)

_JOINERS = {
    "pandas.concat": "pd.concat",
    "numpy.append": "np.append",
    "numpy.concatenate": "np.concatenate",
    "numpy.hstack": "np.hstack",
    "numpy.vstack": "np.vstack",
    "numpy.dstack": "np.dstack",
}


def hits(source: IndexedTree) -> Iterator[QuadraticHit]:
    """Values that are built by copying them in every iteration."""
    for call in source.tree.nodes(ast.Call):
        match call:
            case ast.Call(
                func=ast.Name(id="sum"),
                args=[lists, ast.List(elts=[]) | ast.Tuple(elts=[])],
                keywords=[],
            ):
                yield from _sum(source, call, lists)
            case _:
                pass
    for statement in source.tree.nodes(ast.Assign):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield from _copied(source, statement, name, value)
            case _:
                pass


def _sum(source: IndexedTree, call: ast.Call, lists: ast.expr) -> Iterator[QuadraticHit]:
    if isinstance(lists, ast.List | ast.Tuple):
        return
    if isinstance(lists, ast.ListComp | ast.GeneratorExp) and Loop(source, lists).is_short:
        return
    message = f"`{shortened(call)}` joins lists by adding them one after another."
    yield QuadraticHit(SUM_OF_LISTS, call, message)


def _copied(
    source: IndexedTree, statement: ast.Assign, name: str, value: ast.expr
) -> Iterator[QuadraticHit]:
    match value:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Add()) if left == name:
            if _starts_as_empty_list(source, statement, name):
                yield from _copy_hit(source, statement, name, value)
        case ast.List(elts=[ast.Starred(value=ast.Name(id=left)), _, *_]) if left == name:
            yield from _copy_hit(source, statement, name, value)
        case ast.Dict(keys=[None, _, *_], values=[ast.Name(id=left), *_]) if left == name:
            yield from _copy_hit(source, statement, name, value)
        case ast.Call(func=func, args=[first, *_]):
            joiner = _JOINERS.get(source.imported(func) or "")
            if joiner and _joins(first, value, name) and long_loop(source, statement, name):
                message = f"`{joiner}` adds a part to `{name}` in every iteration of the loop."
                yield QuadraticHit(FRAME_GROWN, statement, message)
        case _:
            pass


def _copy_hit(
    source: IndexedTree, statement: ast.Assign, name: str, value: ast.expr
) -> Iterator[QuadraticHit]:
    loop = long_loop(source, statement, name)
    if loop is not None and not _is_read_elsewhere(loop, name, statement):
        message = f"`{shortened(value)}` copies `{name}` in every iteration of the loop."
        yield QuadraticHit(COPIED_EACH_PASS, statement, message)


def _is_read_elsewhere(loop: Loop, name: str, statement: ast.stmt) -> bool:
    """Whether other code in the loop uses the value and may rely on the copy."""
    own = {id(node) for node in ast.walk(statement)}
    return any(
        isinstance(node, ast.Name) and node.id == name and id(node) not in own
        for node in loop.inside
    )


def _starts_as_empty_list(source: IndexedTree, node: ast.AST, name: str) -> bool:
    """Whether `name` is a local that starts as an empty list; tuples are usually short."""
    values = source.values(name, source.tree.enclosing_scope(node))
    return any(isinstance(value, ast.List) and not value.elts for value in values)


def _joins(first: ast.expr, call: ast.Call, name: str) -> bool:
    """Whether a call adds to `name`: `concat([name, part])`, `append(name, part)`."""
    match first:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return any(dotted(item) == name for item in items)
        case ast.Name(id=of):
            return of == name and len(call.args) > 1
        case _:
            return False
