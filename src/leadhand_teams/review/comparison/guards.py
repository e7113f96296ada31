"""What a function refuses: conditions followed by a raise, an error reply, or a way out."""

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import vocabulary
from leadhand_teams.review.syntax import words_of

_ORDINARY = words_of("comparison.ordinary")
"""Exceptions that belong to a protocol, a missing feature or an exit, and refuse no input."""
_ABORTS = words_of("comparison.aborts")
VERSIONS = words_of("comparison.versions")
"""Names in conditions that tell versions and platforms apart, and refuse nothing."""


class Guard(NamedTuple):
    """A condition, and how code refuses to go on while it holds."""

    test: ast.expr
    negated: bool
    """Whether it refuses while `test` is false."""
    refusal: ast.stmt
    name: str
    """The exception or function that refuses; `return`, `continue` or `break` for a way out."""
    strong: bool
    """Whether it raises or reports an error, instead of only leaving."""

    @property
    def refuses(self) -> bool:
        """Whether it answers no: everything but a plain `return`, `continue` or `break`."""
        return self.strong or (
            isinstance(self.refusal, ast.Return) and self.refusal.value is not None
        )

    @property
    def line(self) -> int:
        """The first line of the condition."""
        return self.test.lineno

    @property
    def text(self) -> str:
        """The condition under which it refuses, as source."""
        test = ast.unparse(self.test)
        return f"not ({test})" if self.negated else test

    @property
    def clauses(self) -> frozenset[str]:
        """The conditions of which each is enough to refuse."""
        return self._parts(ast.And if self.negated else ast.Or)

    @property
    def conditions(self) -> frozenset[str]:
        """The conditions that all have to hold before it refuses."""
        return self._parts(ast.Or if self.negated else ast.And)

    def _parts(self, joined: type[ast.boolop]) -> frozenset[str]:
        test = self.test
        parts = (
            test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, joined) else [test]
        )
        return frozenset(f"{'not ' if self.negated else ''}{ast.unparse(part)}" for part in parts)

    @property
    def subjects(self) -> frozenset[str]:
        """The variables that the condition is about, without functions."""
        return subjects_of(self.test)


def subjects_of(test: ast.AST) -> frozenset[str]:
    """Variables and attributes in `test`, without what is called."""
    called = {id(part.func) for part in ast.walk(test) if isinstance(part, ast.Call)}
    found: set[str] = set()
    for part in ast.walk(test):
        if id(part) in called:
            continue
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
    return frozenset(found - {"self", "cls"})


def called_in(test: ast.AST) -> frozenset[str]:
    """The last names of the functions that `test` calls."""
    calls = (part for part in ast.walk(test) if isinstance(part, ast.Call))
    return frozenset(syntax.last_name(call.func) for call in calls)


def raised(node: ast.Raise) -> str:
    """The last name of what is raised; empty if it is the same exception again."""
    value = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return syntax.last_name(value) if value is not None else ""


def guards_in(nodes: Iterable[ast.AST]) -> Iterator[Guard]:
    """The guards among the nodes of one body."""
    for node in nodes:
        if isinstance(node, ast.Assert):
            yield Guard(node.test, True, node, "AssertionError", False)
        elif isinstance(node, ast.If):
            for block, negated in ((node.body, False), (node.orelse, True)):
                if refusal := _refusal(block):
                    statement, name, strong = refusal
                    yield Guard(node.test, negated, statement, name, strong)


def _refusal(block: list[ast.stmt]) -> tuple[ast.stmt, str, bool] | None:
    """The statement of `block` that refuses, what it is called, and whether it is strong."""
    for statement in block:
        if name := _strong(statement):
            return statement, name, True
    last = block[-1] if block else None
    if isinstance(last, ast.Continue | ast.Break):
        return last, type(last).__name__.lower(), False
    if isinstance(last, ast.Return) and _falsy(last.value):
        return last, "return", False
    return None


def _strong(statement: ast.stmt) -> str:
    """The name of what an explicit refusal raises or calls; empty if it is none."""
    match statement:
        case ast.Raise(exc=ast.expr() as exception):
            name = raised(statement)
            ordinary = name in _ORDINARY and not vocabulary.speaks_of_access(exception)
            return "" if ordinary else name
        case ast.Expr(value=ast.Call() as call):
            name = syntax.last_name(call.func)
            return name if name in _ABORTS and _is_error(call, name) else ""
        case ast.Return(value=ast.expr() as value):
            return vocabulary.refusing_value(value)
        case ast.Assign(targets=[target], value=value) if not _falsy(value):
            about = set(syntax.words(syntax.last_name(target)))
            return syntax.last_name(target) if about & {"error", "errors", "failure"} else ""
        case _:
            return ""


def _is_error(call: ast.Call, name: str) -> bool:
    """Whether a call that sets a status sets one of an error."""
    if name not in ("setResponseCode", "set_status"):
        return True
    return bool(call.args) and vocabulary.is_error_status(call.args[0])


def _falsy(value: ast.expr | None) -> bool:
    if value is None:
        return True
    if isinstance(value, ast.Tuple):
        return not value.elts or _falsy(value.elts[0])
    return isinstance(value, ast.Constant) and not value.value
