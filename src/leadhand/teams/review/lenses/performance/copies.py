"""Copies of all that was gathered so far, made again in each pass of a loop."""

import ast
from collections.abc import Iterator

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.performance.growth import FAMILY, GrowthHit, long_loop
from leadhand.teams.review.lenses.performance.loops import Loop, named, shown
from leadhand.teams.review.lenses.performance.source import IndexedTree

COPIED_EACH_PASS = LensRule(
    "performance/copied-each-pass",
    FAMILY,
    "warning",
    "Each pass copies all that was gathered so far, which takes time with the square of it.",
    "Add in place (`append`, `extend`, `update`) and convert once after the loop.",
)
SUM_OF_LISTS = LensRule(
    "performance/sum-of-lists",
    FAMILY,
    "info",
    "`sum` copies all that was gathered so far for every list it adds.",
    "Use `itertools.chain.from_iterable(...)`.",
)
FRAME_GROWN = LensRule(
    "performance/frame-grown-in-loop",
    FAMILY,
    "warning",
    "Each pass copies all rows gathered so far, which takes time with the square of them.",
    "Gather the parts in a list and put them together once after the loop.",
)
RULES: tuple[LensRule, ...] = (COPIED_EACH_PASS, SUM_OF_LISTS, FRAME_GROWN)

_JOINERS = {
    "pandas.concat": "pd.concat",
    "numpy.append": "np.append",
    "numpy.concatenate": "np.concatenate",
    "numpy.hstack": "np.hstack",
    "numpy.vstack": "np.vstack",
    "numpy.dstack": "np.dstack",
}


def hits(source: IndexedTree) -> Iterator[GrowthHit]:
    """Values that are put together by copying them in each pass."""
    for call in source.tree.nodes(ast.Call):
        match call:
            case ast.Call(func=ast.Name(id="sum"), args=[lists, start], keywords=[]):
                yield from _sum(source, call, lists, start)
            case _:
                pass
    for statement in source.tree.nodes(ast.Assign):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield from _copied(source, statement, name, value)
            case _:
                pass


def _sum(
    source: IndexedTree, call: ast.Call, lists: ast.expr, start: ast.expr
) -> Iterator[GrowthHit]:
    match start:
        case ast.List(elts=[]) | ast.Tuple(elts=[]):
            pass
        case _:
            return
    if isinstance(lists, ast.List | ast.Tuple):
        return
    if isinstance(lists, ast.ListComp | ast.GeneratorExp) and Loop(source, lists).few:
        return
    yield GrowthHit(SUM_OF_LISTS, call, f"`{shown(call)}` joins lists by adding them one by one.")


def _copied(
    source: IndexedTree, statement: ast.Assign, name: str, value: ast.expr
) -> Iterator[GrowthHit]:
    match value:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Add()) if left == name:
            if _starts_as_list(source, statement, name):
                yield from _copy_hit(source, statement, name, value)
        case ast.List(elts=[ast.Starred(value=ast.Name(id=left)), _, *_]) if left == name:
            yield from _copy_hit(source, statement, name, value)
        case ast.Dict(keys=[None, _, *_], values=[ast.Name(id=left), *_]) if left == name:
            yield from _copy_hit(source, statement, name, value)
        case ast.Call(func=func, args=[first, *_]):
            joiner = _JOINERS.get(source.imported(func) or "")
            if joiner and _joins(first, value, name):
                yield from _frame(source, statement, name, joiner)
        case _:
            pass


def _copy_hit(
    source: IndexedTree, statement: ast.Assign, name: str, value: ast.expr
) -> Iterator[GrowthHit]:
    loop = long_loop(source, statement, name)
    if loop is None or _copy_needed(loop, name, statement):
        return
    yield GrowthHit(
        COPIED_EACH_PASS,
        statement,
        f"`{shown(value)}` makes a new copy of `{name}` in every pass of the loop.",
    )


def _copy_needed(loop: Loop, name: str, statement: ast.stmt) -> bool:
    """Whether a pass also hands the value on, so that changing it in place could be seen."""
    own = {id(node) for node in ast.walk(statement)}
    return any(
        isinstance(node, ast.Name) and node.id == name and id(node) not in own
        for node in loop.inside
    )


def _starts_as_list(source: IndexedTree, node: ast.AST, name: str) -> bool:
    """Whether `name` is a local that starts as an empty list; tuples are short as a rule."""
    values = source.values(name, source.tree.enclosing_scope(node))
    return any(isinstance(value, ast.List) and not value.elts for value in values)


def _joins(first: ast.expr, call: ast.Call, name: str) -> bool:
    """Whether a call puts more onto `name`: `concat([name, part])`, `append(name, part)`."""
    match first:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return any(named(item) == name for item in items)
        case ast.Name(id=of):
            return of == name and len(call.args) > 1
        case _:
            return False


def _frame(
    source: IndexedTree, statement: ast.Assign, name: str, joiner: str
) -> Iterator[GrowthHit]:
    loop = long_loop(source, statement, name)
    if loop is None:
        return
    yield GrowthHit(
        FRAME_GROWN,
        statement,
        f"`{joiner}` puts another part onto `{name}` in every pass of the loop.",
    )
