"""Conditions that lost a part."""

import ast
import builtins
from collections.abc import Iterator
from typing import NamedTuple

from leadhand_teams.review.comparison import vocabulary
from leadhand_teams.review.comparison.code import Code, names_in, squeezed
from leadhand_teams.review.comparison.guards import VERSIONS, called_in, subjects_of
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, shown
from leadhand_teams.review.lenses.security.removed.rules import CLAUSE

_BUILTINS = frozenset(dir(builtins))
_LITERALS = (ast.Constant, ast.JoinedStr, ast.Tuple, ast.List, ast.Set)
_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """What the new code of a definition no longer distinguishes."""
    if pair.new is None:
        return
    yield from _clauses(pair, pair.new, sides)


def _clauses(pair: Pair, new: Code, sides: DefinitionPairs) -> Iterator[Removal]:
    """Conditions that test less than before, of code that otherwise stayed."""
    before, after = _tests(pair.old), _tests(new)
    old = {text: node for text, node in before.items() if text not in after}
    fresh = {text: node for text, node in after.items() if text not in before}
    for test in old.values():
        node = test.node
        if not pair.removes(node.lineno):
            continue
        parts = _parts(node)
        for other in fresh.values():
            left = _parts(other.node)
            if len(left) == 1 and other.consequence != test.consequence:
                continue  # one part in common says little
            gone, came = parts.keys() - left.keys(), left.keys() - parts.keys()
            if gone and not came:
                lost = sorted(gone)
            elif len(gone) == 1 == len(came):
                lost = _weaker(parts[min(gone)], min(came))
            else:
                continue
            lost = [
                one
                for one in lost
                if not any(squeezed(text) in sides.added_text for text in _spellings(parts[one]))
                if _applies(parts[one], pair, new)
                if not sides.rewrites(new.makers(subjects_of(parts[one])))
            ]
            if not any(protects(parts[one], pair, sides) for one in lost):
                continue
            if VERSIONS.isdisjoint(names_in(node)):
                shown_parts = " and ".join(f"`{shown(one)}`" for one in lost)
                message = (
                    f"Does {shown_parts} no longer matter? A condition in {pair.place} lost it."
                )
                yield Removal(CLAUSE, node.lineno, message)
                break


def protects(part: ast.AST, pair: Pair, sides: DefinitionPairs) -> bool:
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


class _Test(NamedTuple):
    node: ast.expr
    consequence: str
    """Source of what comes first while it holds; empty for one that is the value itself."""


def _tests(code: Code) -> dict[str, _Test]:
    """Source -> test, of the conditions in a definition."""
    found: dict[str, _Test] = {}
    for node in code.nodes:
        match node:
            case ast.If(test=test, body=[first, *_]) | ast.While(test=test, body=[first, *_]):
                found[ast.unparse(test)] = _Test(test, ast.unparse(first))
            case ast.IfExp(test=test, body=first):
                found[ast.unparse(test)] = _Test(test, ast.unparse(first))
            case ast.Assert(test=test) | ast.Return(value=ast.BoolOp() as test):
                found[ast.unparse(test)] = _Test(test, "")
            case _:
                pass
    return found


def _spellings(test: ast.expr) -> list[str]:
    """The source of a condition, and of its opposite if that is long enough to tell."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name()):
            return [ast.unparse(test)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return [ast.unparse(test), ast.unparse(operand)]
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _OPPOSITES:
            other = ast.Compare(left=left, ops=[_OPPOSITES[type(op)]()], comparators=[right])
            return [ast.unparse(test), ast.unparse(other)]
        case _:
            return [ast.unparse(test)]


def _parts(test: ast.expr) -> dict[str, ast.expr]:
    """Source -> node of the conditions that `test` joins by `and` and `or`."""
    found: dict[str, ast.expr] = {}
    waiting = [test]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.BoolOp):
            waiting += node.values
        else:
            found[ast.unparse(node)] = node
    return found


def _weaker(before: ast.expr, after: str) -> list[str]:
    """The old condition, if the new one only asks whether there is a value."""
    match before:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.In() | ast.Is()], comparators=[right]):
            literal = not isinstance(right, ast.Constant) or right.value is not None
            return [ast.unparse(before)] if ast.unparse(left) == after and literal else []
        case _:
            return []


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
