"""Conditions that let more through after a change: a row gives a question about one edit."""

import ast
import builtins

from leadhand_teams.review.comparison import DefinitionPairs, Edit, Pair, shown, vocabulary
from leadhand_teams.review.comparison.code import Code, names_in, squeezed
from leadhand_teams.review.comparison.guards import VERSIONS, Guard, called_in, subjects_of
from leadhand_teams.review.syntax import words_of

_REQUESTS = words_of("edited.requests")
"""What a condition on a request or a submitted form is about."""
_LITERALS = (ast.Constant, ast.JoinedStr, ast.Tuple, ast.List, ast.Set)
_TESTS = (ast.If, ast.While, ast.IfExp, ast.Assert)
_BUILTINS = frozenset(dir(builtins))
_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


def request(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A condition on the request or the form that is gone."""
    match edit:
        case Edit(old=ast.If(test=test), new=None):
            pass
        case Edit(old=ast.expr() as test, new=None, above=(ast.BoolOp(), *_)):
            pass
        case Edit(old=ast.expr() as test, new=ast.Constant(), above=(ast.If(), *_)):
            pass
        case _:
            return ""
    names = subjects_of(test) | called_in(test)
    if names.isdisjoint(_REQUESTS) or pair.is_dropped_variant(test):
        return ""
    text = ast.unparse(test)
    if pair.tests_anew(names & _REQUESTS) or squeezed(text) in sides.added_text:
        return ""
    if sides.rewrites(called_in(test)) or not names & pair.new.names:
        return ""
    if any(ast.dump(test) == ast.dump(one) for one in pair.new.tests):
        return ""  # it is asked in another place
    return f"Is `{shown(text)}` checked elsewhere? {pair.place} asked for it here."


def clause(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A part of a condition that is gone, while the condition and what it decides on stay."""
    new = pair.new
    match edit:
        case Edit(old=ast.expr() as part, new=None, above=(ast.BoolOp() as joined, *_)):
            pass
        case Edit(
            old=ast.Compare(
                left=left, ops=[ast.Eq() | ast.In() | ast.Is()], comparators=[right]
            ) as part,
            new=ast.expr() as bare,
        ):
            joined = None
            if ast.dump(left) != ast.dump(bare) or getattr(right, "value", right) is None:
                return ""
        case _:
            return ""
    choice = next(
        (one for one in edit.above if not isinstance(one, ast.BoolOp | ast.UnaryOp)), None
    )
    if not isinstance(choice, (*_TESTS, ast.Return, ast.comprehension)):
        return ""
    if isinstance(choice, ast.Return | ast.comprehension) and joined is None:
        return ""
    if joined is not None and len(joined.values) == 2 and _decides_otherwise(choice, pair):
        return ""  # one part in common says little
    if any(squeezed(text) in sides.added_text for text in _spellings(part)):
        return ""
    if not _applies(part, pair, new) or sides.rewrites(new.makers(subjects_of(part))):
        return ""
    guard = _guard(edit, pair)
    if not (guard is not None and guard.strong) and not _protects(part, pair, sides):
        return ""
    if not VERSIONS.isdisjoint(names_in(choice if guard is None else guard.test)):
        return ""
    return (
        f"Does `{shown(ast.unparse(part))}` no longer matter? A condition in {pair.place} lost it."
    )


def _guard(edit: Edit, pair: Pair) -> Guard | None:
    """The guard whose condition an edit changes."""
    around = (edit.old, *edit.above)
    return next((one for one in pair.old.guards if any(one.test is node for node in around)), None)


def _decides_otherwise(choice: ast.AST, pair: Pair) -> bool:
    """Whether the first thing that a condition decides on is changed as well."""
    first = choice.body if isinstance(choice, ast.IfExp) else None
    if isinstance(choice, ast.If | ast.While):
        first = choice.body[0]
    return first is not None and any(
        one.old is first or any(first is node for node in one.above) for one in pair.edits
    )


def _protects(part: ast.AST, pair: Pair, sides: DefinitionPairs) -> bool:
    """Whether a part of a condition is more than a look at the program's own state.

    That is a comparison with a literal, a word of safety in the part or in the function's name, or
    a call of a function that refuses something at the base.
    """
    compared = [one for one in ast.walk(part) if isinstance(one, ast.Compare)]
    equal = [one for one in compared if not isinstance(one.ops[0], ast.Is | ast.IsNot)]
    if any(isinstance(one.comparators[0], _LITERALS) for one in equal):
        return True
    called = called_in(part)
    if vocabulary.about_safety(names_in(part) | called | {pair.old.name.rsplit(".", 1)[-1]}):
        return True
    return any(sides.protects(name) for name in called - _BUILTINS)


def _spellings(test: ast.expr) -> list[str]:
    """The source of a condition, and of its opposite if that is long enough to tell."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.expr() as operand):
            other = None if isinstance(operand, ast.Name) else operand
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPPOSITES:
            other = ast.Compare(left=left, ops=[_OPPOSITES[type(op)]()], comparators=[right])
        case _:
            other = None
    return [ast.unparse(one) for one in (test, other) if one is not None]


def _applies(test: ast.expr, pair: Pair, new: Code) -> bool:
    """Whether the new code still has every variable that `test` is about."""
    called = {id(part.func) for part in ast.walk(test) if isinstance(part, ast.Call)}
    names = {
        part.id for part in ast.walk(test) if isinstance(part, ast.Name) and id(part) not in called
    }
    wanted = (names - {"self", "cls"}) or subjects_of(test)
    return all(
        name in new.names or pair.old.origins(frozenset((name,))) & new.names
        for name in wanted - _BUILTINS
    )


def loosened(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A bound of a condition that refuses, which now refuses less."""
    guard = _guard(edit, pair)
    if guard is None or not guard.refuses:
        return ""
    match edit.old, edit.new:
        case ast.Compare(ops=[before]), ast.Compare(ops=[now]):
            same_way = any(
                isinstance(before, way) and isinstance(now, way)
                for way in ((ast.Gt, ast.GtE), (ast.Lt, ast.LtE))
            )
            weaker = same_way and isinstance(before, ast.GtE | ast.LtE) is not guard.negated
        case ast.expr() as old, ast.expr() as new:
            compared = next((one for one in edit.above if not isinstance(one, ast.BinOp)), None)
            number, number_now = _number(old), _number(new)
            if not isinstance(compared, ast.Compare) or number is None or number_now is None:
                return ""
            upper = isinstance(compared.ops[0], ast.Gt | ast.GtE)
            if not upper and not isinstance(compared.ops[0], ast.Lt | ast.LtE):
                return ""
            weaker = (number_now > number) is (upper is not guard.negated)
        case _:
            return ""
    if not weaker:
        return ""
    return (
        f"Is `{shown(guard.text)}` still refused? {pair.place} accepts more: it has "
        f"`{shown(ast.unparse(edit.new))}` there."
    )


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
