"""Bounds that a change loosens: numbers, comparisons and patterns of a condition that refuses."""

import ast
import copy

from leadhand_teams.review.comparison.guards import Guard

_UPPER = (ast.Gt, ast.GtE)
_LOWER = (ast.Lt, ast.LtE)
_STRICTER: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.GtE, ast.Lt: ast.LtE}
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Lt: ast.GtE, ast.LtE: ast.Gt,
}  # fmt: skip


def loosened(before: Guard, now: Guard) -> str:
    """What `now` accepts that `before` refused, if they differ in one bound; else empty."""
    if before.negated != now.negated or before.name != now.name:
        return ""
    found = _difference(before.test, now.test)
    if found is None:
        return ""
    old, new = found
    if before.negated:
        old, new = _opposite(old), _opposite(new)
    if len(old.ops) != 1 or len(new.ops) != 1 or ast.dump(old.left) != ast.dump(new.left):
        return ""
    if not _weaker(old.ops[0], new.ops[0], old.comparators[0], new.comparators[0]):
        return ""
    return f"more: it only refuses `{ast.unparse(new)}`"


def _difference(old: ast.expr, new: ast.expr) -> tuple[ast.Compare, ast.Compare] | None:
    """The one comparison in which two conditions differ."""
    if isinstance(old, ast.Compare) and isinstance(new, ast.Compare):
        return old, new
    if not isinstance(old, ast.BoolOp) or not isinstance(new, ast.BoolOp):
        return None
    if type(old.op) is not type(new.op) or len(old.values) != len(new.values):
        return None
    both = zip(old.values, new.values, strict=True)
    differing = [(a, b) for a, b in both if ast.dump(a) != ast.dump(b)]
    return _difference(*differing[0]) if len(differing) == 1 else None


def _weaker(operator: ast.cmpop, now: ast.cmpop, bound: ast.expr, bound_now: ast.expr) -> bool:
    """Whether a refusing comparison refuses less than before."""
    same_way = any(isinstance(operator, way) and isinstance(now, way) for way in (_UPPER, _LOWER))
    if not same_way:
        return False
    number, number_now = _number(bound), _number(bound_now)
    if ast.dump(bound) == ast.dump(bound_now):
        return _STRICTER.get(type(now)) is type(operator)
    if number is None or number_now is None:
        return False
    return number_now > number if isinstance(operator, _UPPER) else number_now < number


def _opposite(node: ast.Compare) -> ast.Compare:
    if len(node.ops) != 1 or type(node.ops[0]) not in _OPPOSITE:
        return node
    turned = copy.copy(node)
    turned.ops = [_OPPOSITE[type(node.ops[0])]()]
    return turned


def _number(node: ast.expr) -> float | None:
    """The value of a number or of a product, such as `4 * 1024`."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            one, other = _number(left), _number(right)
            return None if one is None or other is None else one * other
        case _:
            return None
