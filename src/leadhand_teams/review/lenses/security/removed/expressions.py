"""Statements that a change only makes simpler: a value loses its escape, fallback or bound.

A statement of the old code with one part unwrapped is a statement of the new code.
"""

import ast
from collections.abc import Iterator

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import vocabulary
from leadhand_teams.review.comparison.code import Code, names_in, span, squeezed
from leadhand_teams.review.comparison.guards import called_in, subjects_of
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, shown
from leadhand_teams.review.lens import LensRule
from leadhand_teams.review.lenses.security.removed.rules import FALLBACK, WRAPPER

_CASTS = syntax.word_set(
    "cast list tuple dict set frozenset deque str bytes super print len sorted reversed iter next"
    " repr type format _ gettext lazy_gettext ugettext u_ text_type decode encode items keys values"
    " round int float bool exit Path capitalize title swapcase ljust rjust center expandtabs"
    " Markup mark_safe SafeString"
)
"""Calls whose loss is rarely more than a matter of types or style, or makes a text safer."""


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """Values that the new code uses without what made them safe."""
    new = pair.new
    if new is None:
        return
    before, after = _changed(pair.old), _changed(new)
    for text, node in before.items():
        if text in after:
            continue
        for part, bare, rule in _unwrapped(node):
            if rule is FALLBACK and isinstance(node, ast.expr):
                continue  # conditions have rules of their own
            if isinstance(part, ast.Call) and _moved_or_deleted(part, sides):
                continue
            simpler = text.replace(ast.unparse(part), bare, 1)
            if simpler == text or simpler not in after or simpler in before:
                continue
            if isinstance(part, ast.IfExp) and _is_under_new_test(after[simpler], new):
                continue
            if not _is_decided_elsewhere(part, pair, new, sides):
                what = shown(ast.unparse(part))
                line = next((n for n in span(part) if pair.removes(n)), 0)
                message = f"Is `{shown(bare)}` as good as `{what}`? {pair.place} used that before."
                yield Removal(rule, line, message)
                break
    yield from _transforms(pair, new, sides)


def _moved_or_deleted(call: ast.Call, sides: DefinitionPairs) -> bool:
    """Whether the change makes the call elsewhere, or deletes what is called.

    A deleted function whose name speaks of safety counts as neither.
    """
    name = syntax.last_name(call.func)
    if isinstance(call.func, ast.Name) and sides.added_words[name]:
        return True
    if squeezed(ast.unparse(call)) in sides.added_text:
        return True
    if isinstance(call.func, ast.Attribute) and call.args:
        receiver = ast.unparse(call.func.value)
        if squeezed(ast.unparse(call).removeprefix(receiver)) in sides.added_text:
            return True  # on a further step of the value
    return name in sides.deleted and not vocabulary.checks(name)


def _is_decided_elsewhere(part: ast.expr, pair: Pair, new: Code, sides: DefinitionPairs) -> bool:
    """Whether other code that the change writes decides what the condition in `part` decided."""
    match part:
        case ast.IfExp(test=test):
            tests = [test]
        case ast.BoolOp(values=[*values, _]):
            tests = values
        case _:
            return False
    names = frozenset[str]().union(*map(subjects_of, tests))
    return (
        names.isdisjoint(new.names)
        or pair.tests_anew(names)
        or not pair.dropped_parameters.isdisjoint(names)
        or new.makers(names) != pair.old.makers(names)
        or sides.rewrites(new.makers(names).union(*map(called_in, tests)))
    )


def _is_under_new_test(node: ast.stmt | ast.expr, new: Code) -> bool:
    """Whether a condition that the change writes decides on a statement, as the choice did."""
    return any(
        isinstance(one, ast.If) and new.changes(one.test) and node.lineno in span(one)
        for one in new.nodes
    )


def _variables(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _changed(code: Code) -> dict[str, ast.stmt | ast.expr]:
    """Source -> node of the simple statements, conditions and iterables that the change alters."""
    found: dict[str, ast.stmt | ast.expr] = {**code.statements}
    for node in code.nodes:
        match node:
            case ast.If(test=part) | ast.While(test=part) | ast.For(iter=part):
                if code.changes(part):
                    found[ast.unparse(part)] = part
            case _:
                pass
    return found


def _is_option(node: ast.Assign, name: str, old: Code) -> bool:
    """Whether a statement only ran if there was a value, which it then used, as a search does."""
    return any(
        isinstance(one, ast.If) and node in one.body
        and subjects_of(one.test) & names_in(node.value) - {name}
        for one in old.nodes
    )  # fmt: skip


def _unwrapped(statement: ast.stmt | ast.expr) -> Iterator[tuple[ast.expr, str, LensRule]]:
    """Parts of a statement, each with what it is without its outermost operation."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(
                func=ast.Name(id="getattr"), args=[value, ast.Constant(value=str(name)), _]
            ):
                yield node, f"{ast.unparse(value)}.{name}", FALLBACK
            case ast.Call(func=ast.Attribute(attr="get", value=value), args=[key, *_]):
                yield node, f"{ast.unparse(value)}[{ast.unparse(key)}]", FALLBACK
            case ast.Call(func=function, args=args) if syntax.last_name(function) not in _CASTS:
                if len(args) == 1 and not isinstance(args[0], ast.Starred):
                    yield node, ast.unparse(args[0]), WRAPPER
                if isinstance(function, ast.Attribute) and names_in(function.value):
                    yield node, ast.unparse(function.value), WRAPPER
                if len(args) > 1:
                    yield from ((node, ast.unparse(one), WRAPPER) for one in args)
            case ast.BoolOp(op=op, values=values):
                for value in values[:-1] if isinstance(op, ast.Or) else values[1:]:
                    yield node, ast.unparse(value), FALLBACK
            case ast.IfExp(body=body, orelse=orelse):
                values = (one for one in (body, orelse) if not isinstance(one, ast.Constant))
                yield from ((node, ast.unparse(one), FALLBACK) for one in values)
            case ast.Subscript(value=value, slice=ast.Slice()):
                yield node, ast.unparse(value), WRAPPER
            case _:
                pass


def _transforms(pair: Pair, new: Code, sides: DefinitionPairs) -> Iterator[Removal]:
    """`x = f(x)` that is gone while `x` is still used."""
    after = new.statements
    for text, node in pair.old.statements.items():
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                hunk = pair.old.file.hunk_removing(node.lineno)
                if hunk is None or hunk.new_count or text in after or name not in new.names:
                    continue
                if _moved_or_deleted(call, sides):
                    continue
                if _is_option(node, name, pair.old):
                    continue
                if name in _variables(call) and syntax.last_name(call.func) not in _CASTS:
                    if squeezed(text) in sides.added_text:
                        continue
                    message = (
                        f"Is `{name}` right without `{shown(text)}`? {pair.place} had it here."
                    )
                    yield Removal(WRAPPER, node.lineno, message)
            case _:
                pass
