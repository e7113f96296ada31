"""Slow operations on a list in the loop that makes it longer."""

import ast
from collections.abc import Iterator

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.performance.growth import (
    FAMILY,
    QuadraticHit,
    growth_of,
    long_loop,
)
from leadhand.teams.review.lenses.performance.indexed_tree import IndexedTree
from leadhand.teams.review.lenses.performance.loops import Loop, shortened

LIST_AS_SET = LensRule(
    "performance/list-as-set", FAMILY, "info",
    "Each test searches the whole list, so the time is quadratic in the number of items.",
    "Use a set, which tests membership in constant time.",
)  # fmt: skip
LIST_AS_QUEUE = LensRule(
    "performance/list-as-queue", FAMILY, "warning",
    "Each `pop(0)` moves all other items, so the time is quadratic in the number of items.",
    "Use `collections.deque` and `popleft()`.",
)  # fmt: skip
SORTED_EACH_PASS = LensRule(
    "performance/sorted-each-pass", FAMILY, "warning",
    "The list grows by a few items in every iteration, and all of it is sorted each time.",
    "Sort once after the loop, or keep the order with `heapq` or `bisect.insort`.",
)  # fmt: skip
RULES: tuple[LensRule, ...] = (LIST_AS_SET, LIST_AS_QUEUE, SORTED_EACH_PASS)


def hits(source: IndexedTree) -> Iterator[QuadraticHit]:
    """Lists that are searched, emptied from the front or sorted in the loop that fills them."""
    yield from _membership(source)
    for call in source.tree.nodes(ast.Call):
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="pop"),
                args=[ast.Constant(value=first)],
            ) if first == 0 and first is not False:
                yield from _queue(source, call, name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="sort")):
                yield from _sorted(source, call, name)
            case ast.Call(func=ast.Name(id="sorted"), args=[ast.Name(id=name)]):
                yield from _sorted(source, call, name)
            case _:
                pass


def _membership(source: IndexedTree) -> Iterator[QuadraticHit]:
    for compare in source.tree.nodes(ast.Compare):
        match compare:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
                pass
            case _:
                continue
        scope = source.tree.enclosing_scope(compare)
        growing = None if scope is source.tree.module else _growing(source, compare, name)
        if growing is None or not _only_tested(source, name, scope):
            continue
        message = (
            f"`{shortened(compare)}` searches the list `{name}`, which this loop makes longer and"
            " which is only used for such tests."
        )
        yield QuadraticHit(LIST_AS_SET, compare, message, growth=growing[1])


def _queue(source: IndexedTree, call: ast.Call, name: str) -> Iterator[QuadraticHit]:
    growing = _growing(source, call, name)
    if growing is not None and isinstance(growing[0].node, ast.While):
        message = f"`{shortened(call)}` removes the first item of a list that the same loop fills."
        yield QuadraticHit(LIST_AS_QUEUE, call, message, growth=growing[1])


def _sorted(source: IndexedTree, call: ast.Call, name: str) -> Iterator[QuadraticHit]:
    growing = _growing(source, call, name)
    if growing is not None and _is_unconditional(source, call, growing[0]):
        message = f"`{shortened(call)}` sorts `{name}` in the loop that makes it longer."
        yield QuadraticHit(SORTED_EACH_PASS, call, message, growth=growing[1])


def _growing(
    source: IndexedTree, node: ast.AST, name: str
) -> tuple[Loop, ast.expr | ast.stmt] | None:
    """The long loop around `node` that makes the local list `name` longer, and what does it."""
    match source.values(name, source.tree.enclosing_scope(node)):
        case [ast.List() | ast.ListComp() | ast.Call(func=ast.Name(id="list" | "sorted"))]:
            loop = long_loop(source, node, name)
            growth = growth_of(loop, name) if loop is not None else None
            return None if loop is None or growth is None else (loop, growth)
        case _:
            return None


def _only_tested(source: IndexedTree, name: str, scope: ast.AST) -> bool:
    """Whether a list is only made longer and tested for membership."""
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


def _is_unconditional(source: IndexedTree, node: ast.AST, loop: Loop) -> bool:
    """Whether `node` runs in every iteration, under no condition."""
    for up in source.tree.ancestors(node):
        if up is loop.node:
            return True
        if isinstance(up, ast.If | ast.IfExp | ast.ExceptHandler | ast.BoolOp | ast.match_case):
            return False
    return False
