"""Conditions and bounds that decide otherwise after a change: one row of `behaviour` each."""

import ast
from collections.abc import Iterator, Sequence

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import DefinitionPairs, Edit, Pair, Removal, shown
from leadhand_teams.review.comparison.code import Code, names_in, span, squeezed
from leadhand_teams.review.comparison.guards import VERSIONS

_COUNTED = syntax.words_of("conditions.counted")
_TURNED: dict[type[ast.cmpop], frozenset[type[ast.cmpop]]] = {
    ast.Eq: frozenset((ast.NotEq,)), ast.NotEq: frozenset((ast.Eq,)),
    ast.In: frozenset((ast.NotIn,)), ast.NotIn: frozenset((ast.In,)),
    ast.Is: frozenset((ast.IsNot,)), ast.IsNot: frozenset((ast.Is,)),
    ast.Lt: frozenset((ast.Gt, ast.GtE)), ast.LtE: frozenset((ast.Gt, ast.GtE)),
    ast.Gt: frozenset((ast.Lt, ast.LtE)), ast.GtE: frozenset((ast.Lt, ast.LtE)),
}  # fmt: skip
_ONE_MORE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip


def bound(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    old, new = edit.old, edit.new
    if old is None or new is None or not VERSIONS.isdisjoint(names_in(edit.above[:3])):
        return ""
    if len({id(one.above[0]) for one in pair.edits if _is_moved(one)}) > 2:
        return ""  # everything moves on
    if not _is_moved(edit):
        return ""
    around = edit.above[0] if edit.above else old
    compared = [one for one in (old, around) if isinstance(one, ast.Compare)]
    if any(one.old is around or old in one.above for one in pair.edits if compared):
        return ""  # `> 1` and `>= 2`
    match around:
        case ast.Subscript(value=value) if comparison.rewrites(names_in(value)):
            return ""  # what has the parts has others now
        case _:
            pass
    before, now = (shown(ast.unparse(one)) for one in (old, new))
    where = f" in `{shown(ast.unparse(around))}`" if isinstance(around, ast.expr) else ""
    return f"Is `{now}` one too many or too few? {pair.place} had `{before}`{where}."


def shifted(pair: Pair) -> Iterator[Removal]:
    """Bounds of the same ranges, slices and sizes that are one more or less in rewritten code."""
    before, now = _bounds(pair.old), _bounds(pair.new)
    for place, had in before.items():
        has = now.get(place, {})
        for away, node in has.items():
            was = next((n for one, n in had.items() if abs(one - away) == 1), None)
            if was is None or away in had or not has.keys().isdisjoint(had):
                continue
            question = f"Is `{shown(ast.unparse(node))}` one too many or too few?"
            question += f" {pair.place} had `{shown(ast.unparse(was))}`."
            line = next((n for n in span(was) if pair.removes(n)), 0)
            if line and pair.new.changes(node):
                yield Removal("bugs/moved-by-one", line, question, place=pair.place, at=node.lineno)


def _bounds(code: Code) -> dict[tuple[str, str], dict[int, ast.expr]]:
    """(function or `[]`, what is counted) -> distance from that -> the bound."""
    found: dict[tuple[str, str], dict[int, ast.expr]] = {}
    for node in code.nodes:
        match node:
            case ast.Call(func=function, args=args) if syntax.last_name(function) in _COUNTED:
                place, bounds = syntax.last_name(function), args
            case ast.Slice(lower=lower, upper=upper):
                place, bounds = "[]", [one for one in (lower, upper) if one is not None]
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _ONE_MORE:
                upwards = isinstance(op, ast.Lt | ast.LtE)
                key = f"{upwards} {ast.dump(left)}", ast.dump(right)
                found.setdefault(key, {})[isinstance(op, ast.LtE | ast.GtE)] = node
                continue
            case _:
                continue
        for one in bounds:
            base, away = one, 0
            match one:
                case ast.BinOp(left=base, op=ast.Add() | ast.Sub() as op,
                               right=ast.Constant(value=int() as number)):  # fmt: skip
                    away = number if isinstance(op, ast.Add) else -number
                case _:
                    pass
            if not isinstance(base, ast.Constant):
                found.setdefault((place, ast.dump(base)), {})[away] = one
    return found


def _is_moved(edit: Edit) -> bool:
    """Whether a bound or an index is one more or one less than before."""
    match edit.old, edit.new:
        case ast.Compare(ops=ops), ast.Compare(ops=now) if len(ops) == len(now):
            both = [(type(a), type(b)) for a, b in zip(ops, now, strict=True)]
            return all(a is b or _ONE_MORE.get(a) is b for a, b in both)
        case ast.AST() as old, ast.AST() as new:
            one_less = [(_plus_one(old), new), (_plus_one(new), old)]
            if any(one is not None and ast.dump(one) == ast.dump(x) for one, x in one_less):
                return True
            if isinstance(old, ast.BinOp) and isinstance(new, ast.BinOp):
                return _is_one(old.right) and {type(old.op), type(new.op)} == {ast.Add, ast.Sub}
            return _next_to(old, new) and _is_position(edit.above)
        case _:
            return False


def _plus_one(node: ast.AST) -> ast.AST | None:
    """`x` for `x + 1` and `x - 1`."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right) if _is_one(right):
            return left
        case _:
            return None


def _is_one(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1 and node.value is not True


def _next_to(old: ast.AST, new: ast.AST) -> bool:
    values = [_integer(one) for one in (old, new)]
    return None not in values and abs((values[0] or 0) - (values[1] or 0)) == 1


def _integer(node: ast.AST) -> int | None:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
        case _:
            return None


def _is_position(above: Sequence[ast.AST]) -> bool:
    """Whether a number there is an index, a bound of a range, or compared with something."""
    for node in above:
        if isinstance(node, ast.Slice | ast.Subscript | ast.Compare | ast.BinOp):
            return True
        if isinstance(node, ast.Call):
            return syntax.last_name(node.func) in _COUNTED
        if not isinstance(node, ast.UnaryOp):
            return False
    return False


def turned(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    old, new = edit.old, edit.new
    test = next((one for one in edit.above if isinstance(one, ast.If | ast.While)), None)
    if sum(test in one.above for one in pair.edits) > 1 and test is not None:
        return ""  # the branches may have changed places
    around = edit.above[0] if edit.above else None
    if isinstance(around, ast.IfExp):
        choices = (one for one in pair.new.nodes if isinstance(one, ast.IfExp) and one.test is new)
        if any(ast.dump(one.body) != ast.dump(around.body) for one in choices):
            return ""  # the values have
    match old, new:
        case ast.Compare(ops=[op], left=left), ast.Compare(ops=[now], left=left_now):
            turned = type(now) in _TURNED[type(op)] and ast.dump(left) == ast.dump(left_now)
        case ast.UnaryOp(op=ast.Not(), operand=operand), ast.AST():
            turned = ast.dump(operand) == ast.dump(new)
        case ast.AST(), ast.UnaryOp(op=ast.Not(), operand=operand):
            turned = ast.dump(operand) == ast.dump(old)
        case ast.BoolOp(op=op), ast.BoolOp(op=now):
            turned = type(op) is not type(now)
        case _:
            return ""
    if not turned:
        return ""
    return f"Is `{shown(ast.unparse(new))}` meant? {pair.place} had `{shown(ast.unparse(old))}`."


def constant(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    match edit:
        case Edit(
            old=ast.expr() as old,
            new=ast.Constant() as new,
            above=(ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test), *_),
        ) if test is old and not isinstance(old, ast.Constant):
            if any(isinstance(one.new, ast.Break | ast.If) for one in pair.edits):
                return ""  # the condition may have moved into the loop
            return f"May `{shown(ast.unparse(old))}` be ignored? It is now `{ast.unparse(new)}`."
        case _:
            return ""


def case(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """A condition that is gone with what it decided on, or that now is not asked."""
    if not comparison.only_removes:
        return ""
    match edit:
        case Edit(old=ast.If() as node, new=None) if not isinstance(node.body[-1], ast.Raise):
            test = node.test
        case Edit(old=ast.expr() as part, new=None, above=(ast.BoolOp() as node, *_)):
            test = part
        case Edit(
            old=ast.IfExp(test=test, body=body, orelse=other) as node, new=ast.AST() as new
        ) if ast.dump(new) in (ast.dump(body), ast.dump(other)):
            pass
        case _:
            return ""
    if not VERSIONS.isdisjoint(names_in(test)) or pair.is_dropped_variant(test):
        return ""
    if squeezed(ast.unparse(test)) in comparison.added_text:
        return ""  # nested conditions that became one, for example
    stored = {target.id for one in pair.old.nodes for target, _ in syntax.assigned(one)
              if isinstance(target, ast.Name)}  # fmt: skip
    if names_in(test) <= stored - pair.new.names:
        return ""  # the variable that it asks about is gone, too
    text = ast.dump(test)
    if any(isinstance(one, ast.If) and ast.dump(one.test) == text for one in edit.above):
        return ""  # it stands in a block with the same condition
    came = (
        one.new for one in pair.edits
        if node in one.above or isinstance(one.new, ast.expr | ast.keyword)
    )  # fmt: skip
    if any(one is not None and names_in(test) & names_in(one) for one in came):
        return ""  # the condition is written in another way
    return f"Does `{shown(ast.unparse(test))}` no longer matter? {pair.place} asked for it here."
