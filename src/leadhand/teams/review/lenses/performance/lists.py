"""Lists used for what lists are slow at, in loops that make them longer."""

import ast
from collections.abc import Iterator

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.performance.growth import (
    FAMILY,
    GrowthHit,
    growth_of,
    long_loop,
)
from leadhand.teams.review.lenses.performance.loops import Loop, shown
from leadhand.teams.review.lenses.performance.source import IndexedTree

LIST_AS_SET = LensRule(
    "performance/list-as-set",
    FAMILY,
    "info",
    "Each test walks the whole list, so the loop takes time with the square of the items.",
    "Make it a set, which is asked in constant time.",
)
LIST_AS_QUEUE = LensRule(
    "performance/list-as-queue",
    FAMILY,
    "warning",
    "Each `pop(0)` moves all other items, so emptying it takes time with the square of them.",
    "Use `collections.deque` and `popleft()`.",
)
SORTED_EACH_PASS = LensRule(
    "performance/sorted-each-pass",
    FAMILY,
    "warning",
    "The list grows by a few items in each pass and is sorted as a whole each time.",
    "Sort once after the loop, or keep order with `heapq` or `bisect.insort`.",
)
RULES: tuple[LensRule, ...] = (LIST_AS_SET, LIST_AS_QUEUE, SORTED_EACH_PASS)


def hits(source: IndexedTree) -> Iterator[GrowthHit]:
    """Lists that are searched, taken from the front or sorted in the loop that fills them."""
    yield from _membership(source)
    for call in source.tree.nodes(ast.Call):
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name() as of, attr="pop"), args=[at]):
                yield from _queue(source, call, of, at)
            case ast.Call(func=ast.Attribute(value=ast.Name() as of, attr="sort")):
                yield from _sorted(source, call, of)
            case ast.Call(func=ast.Name(id="sorted"), args=[ast.Name() as of]):
                yield from _sorted(source, call, of)
            case _:
                pass


def _membership(source: IndexedTree) -> Iterator[GrowthHit]:
    for compare in source.tree.nodes(ast.Compare):
        match compare:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name) as of]):
                pass
            case _:
                continue
        scope = source.tree.enclosing_scope(compare)
        if scope is source.tree.module or not _list(source, name, scope):
            continue
        loop = long_loop(source, compare, name)
        growth = growth_of(loop, name) if loop is not None else None
        if loop is None or growth is None or not _only_asked(source, name, scope):
            continue
        yield GrowthHit(
            LIST_AS_SET,
            compare,
            f"`{shown(compare)}` searches the list `{of.id}`, which this loop makes longer and"
            " which is used for nothing but such tests.",
            growth=growth,
        )


def _queue(source: IndexedTree, call: ast.Call, of: ast.Name, at: ast.expr) -> Iterator[GrowthHit]:
    if not (isinstance(at, ast.Constant) and at.value == 0 and at.value is not False):
        return
    scope = source.tree.enclosing_scope(call)
    loop = long_loop(source, call, of.id)
    if loop is None or not _list(source, of.id, scope):
        return
    growth = growth_of(loop, of.id)
    if growth is None or not isinstance(loop.node, ast.While):
        return
    yield GrowthHit(
        LIST_AS_QUEUE,
        call,
        f"`{shown(call)}` takes from the front of the list `{of.id}`, which the same loop fills.",
        growth=growth,
    )


def _sorted(source: IndexedTree, call: ast.Call, of: ast.Name) -> Iterator[GrowthHit]:
    scope = source.tree.enclosing_scope(call)
    if not _list(source, of.id, scope):
        return
    loop = long_loop(source, call, of.id)
    growth = growth_of(loop, of.id) if loop is not None else None
    if loop is None or growth is None or not _each_pass(source, call, loop):
        return
    yield GrowthHit(
        SORTED_EACH_PASS,
        call,
        f"`{shown(call)}` sorts `{of.id}` in the loop that makes it longer.",
        growth=growth,
    )


def _list(source: IndexedTree, name: str, scope: ast.AST) -> bool:
    """Whether a local name is surely a list, started once."""
    match source.values(name, scope):
        case [ast.List() | ast.ListComp()]:
            return True
        case [ast.Call(func=ast.Name(id="list" | "sorted"))]:
            return True
        case _:
            return False


def _only_asked(source: IndexedTree, name: str, scope: ast.AST) -> bool:
    """Whether a list is made longer and asked for membership, and nothing else."""
    for use in source.uses(name, scope):
        parent = source.tree.parent(use)
        if isinstance(use.ctx, ast.Store):
            continue
        if isinstance(parent, ast.Compare) and use in parent.comparators:
            continue
        if isinstance(parent, ast.Attribute) and parent.attr in ("append", "extend"):
            continue
        return False
    return True


def _each_pass(source: IndexedTree, node: ast.AST, loop: Loop) -> bool:
    """Whether `node` runs in each pass, under no condition."""
    for up in source.tree.ancestors(node):
        if up is loop.node:
            return True
        if isinstance(up, ast.If | ast.IfExp | ast.ExceptHandler | ast.BoolOp | ast.match_case):
            return False
    return False
