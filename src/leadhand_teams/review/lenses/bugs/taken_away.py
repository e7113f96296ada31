"""Handlers, arguments and statements that a change only takes away: one row of `behaviour` each."""

import ast

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import DefinitionPairs, Edit, Pair, shown, vocabulary
from leadhand_teams.review.comparison.code import names_in, squeezed
from leadhand_teams.review.comparison.guards import called_in


def handler(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """A handler that is gone while the code that may fail stays."""
    match edit:
        case Edit(old=ast.Try(handlers=[handler, *_]), new=None, kept=True):
            pass
        case Edit(old=ast.ExceptHandler() as handler, new=None):
            pass
        case _:
            return ""
    kind = ast.unparse(handler.type) if handler.type is not None else "an exception"
    if not comparison.only_removes or kind in ("ImportError", "ModuleNotFoundError"):
        return ""
    return f"Is `{shown(kind)}` handled elsewhere? {pair.place} caught it here."


def argument(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """An argument that a call no longer gets."""
    match edit:
        case Edit(old=ast.keyword() | ast.expr() as part, new=None, above=(ast.Call() as call, *_)):
            name = syntax.last_name(call.func)
        case _:
            return ""
    if not comparison.only_removes or not pair.dropped_parameters.isdisjoint(names_in(part)):
        return ""
    if name == "super":
        return ""  # Python 3 needs no arguments for it
    if any(call in one.above and one.new is not None for one in pair.edits):
        return ""  # the call is written in another way
    if isinstance(pair.old.node, ast.Module) or comparison.rewrites(frozenset((name,))):
        return ""
    return f"Does `{name}` no longer need `{shown(ast.unparse(part))}`? {pair.place} passed it."


def statement(edit: Edit, pair: Pair, comparison: DefinitionPairs) -> str:
    """A statement that is gone while what it is about stays."""
    match edit:
        case Edit(old=ast.Assign() | ast.AugAssign() | ast.Expr() as node, new=None, kept=False):
            pass
        case _:
            return ""
    new = pair.new
    if not comparison.only_removes or not names_in(node) <= new.names:
        return ""
    if any(one.old is None and isinstance(one.new, ast.stmt) for one in pair.edits):
        return ""  # another statement does it now
    if any(one.old is not None and one.kept and node in ast.walk(one.old) for one in pair.edits):
        return ""  # it went with the condition before it
    text = ast.unparse(node)
    if comparison.rewrites(called_in(node)) or squeezed(text) in squeezed("".join(new.lines)):
        return ""
    targets = [ast.unparse(one) for one, _ in syntax.assigned(node)]
    anew = new.statements.values()
    still = (target for one in anew for target, _ in syntax.assigned(one))
    match node:
        case ast.Expr(value=ast.Constant()):
            return ""  # a docstring
        case ast.Expr(value=ast.Call(func=function)) if vocabulary.is_logging(function):
            return ""
        case _:
            pass
    if not isinstance(node, ast.Expr) and any(ast.unparse(one) in targets for one in still):
        return ""  # the value is set in another way
    return f"Is `{shown(text)}` no longer needed? {pair.place} did it here."
