"""Exceptions that a change no longer turns into a refusal."""

import ast
from collections.abc import Iterator

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import vocabulary
from leadhand_teams.review.comparison.code import Code
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal
from leadhand_teams.review.lenses.security.removed.rules import SWALLOWED


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """The exceptions that the new code of a definition lets pass."""
    if pair.new is None:
        return
    before, after = _handlers_in(pair.old), _handlers_in(pair.new)
    if any(pair.old.changes(handler) for handler in before):
        yield from _swallowed(pair, pair.new, before, after, sides)
    yield from _ignored(pair, pair.new)


def _swallowed(
    pair: Pair,
    new: Code,
    before: list[ast.ExceptHandler],
    after: list[ast.ExceptHandler],
    sides: DefinitionPairs,
) -> Iterator[Removal]:
    """Handlers that raised, and now raise nothing."""
    now = {_raised(handler)[0] for handler in after} | {guard.name for guard in new.guards}
    kinds = {name for one in after if not _raised(one)[0] for name in _caught(one)}
    for handler in before:
        raised, line = _raised(handler)
        if not raised or raised in now or not pair.removes(line):
            continue
        if _caught(handler) <= kinds and f"raise{raised}" not in sides.added_text:
            caught = ast.unparse(handler.type) if handler.type is not None else "an exception"
            message = f"Is `{caught}` still refused? {pair.place} answered it with this line."
            yield Removal(SWALLOWED, line, message)


def _ignored(pair: Pair, new: Code) -> Iterator[Removal]:
    """Checks whose errors a new handler ignores."""
    before = {ast.dump(one) for node in _swallowing(pair.old) for one in node.body}
    for node in _swallowing(new):
        for statement in node.body:
            if not new.changes(statement) or ast.dump(statement) in before:
                continue
            calls = [part for part in ast.walk(statement) if isinstance(part, ast.Call)]
            names = [
                name for call in calls if vocabulary.checks(name := syntax.last_name(call.func))
            ]
            if not names or not isinstance(statement, ast.Expr):
                continue
            old = next((one for one in pair.old.nodes if _same(one, statement)), None)
            if isinstance(old, ast.Expr) and pair.removes(old.lineno):
                message = f"Do errors of `{names[0]}` no longer matter? {pair.place} ignores them."
                yield Removal(SWALLOWED, old.lineno, message)


def _same(node: ast.AST, statement: ast.stmt) -> bool:
    return type(node) is type(statement) and ast.dump(node) == ast.dump(statement)


def _swallowing(code: Code) -> Iterator[ast.Try]:
    """The `try` statements with a handler that only passes or logs."""
    for node in code.nodes:
        if isinstance(node, ast.Try) and any(_is_silent(one) for one in node.handlers):
            yield node


def _is_silent(handler: ast.ExceptHandler) -> bool:
    for statement in handler.body:
        match statement:
            case ast.Pass() | ast.Continue():
                pass
            case ast.Expr(value=ast.Call(func=function)) if vocabulary.is_logging(function):
                pass
            case _:
                return False
    return True


def _handlers_in(code: Code) -> list[ast.ExceptHandler]:
    return [node for node in code.nodes if isinstance(node, ast.ExceptHandler)]


def _caught(handler: ast.ExceptHandler) -> frozenset[str]:
    """The last names of what a handler catches; imports that may fail don't count."""
    if handler.type is None:
        return frozenset(("BaseException",))
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return frozenset(syntax.last_name(kind) for kind in kinds) - {"ImportError", ""}


def _raised(handler: ast.ExceptHandler) -> tuple[str, int]:
    """What a handler raises, and where; `raise` for the same exception, empty for nothing."""
    for part in handler.body:
        if isinstance(part, ast.Raise):
            if part.exc is None:
                return "raise", part.lineno
            raised = part.exc.func if isinstance(part.exc, ast.Call) else part.exc
            return syntax.last_name(raised), part.lineno
    return "", 0
