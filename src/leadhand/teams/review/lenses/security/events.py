"""What the data flow sees happen in a module: calls, stores, returns, comparisons.

The topics (injection, transport, crypto, ...) read these events and say what is wrong. They never
walk the tree themselves.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.hints import Hints
from leadhand.teams.review.lenses.security.names import words
from leadhand.teams.review.lenses.security.values import NOTHING, Value

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Scope:
    """The function, or the module's own code, that an event happens in."""

    name: str
    """Qualified name; empty for the module's own code."""
    function: Function | None
    bases: tuple[str, ...]
    """Dotted names of the bases of the class around it."""
    handler: bool
    """Whether it is routed: what it returns goes to a client."""
    modules: frozenset[str]
    """Top-level modules that the file imports."""
    facts: dict[str, bool] = field(default_factory=dict[str, bool])
    """What topics remember between the events of one scope."""

    @property
    def title(self) -> str:
        """The function as a message names it."""
        return f"`{self.name}`" if self.name else "the module"

    @property
    def words(self) -> frozenset[str]:
        """The words of the function's own name."""
        return frozenset(words(self.function.name)) if self.function else frozenset()


class ResolvedCall(NamedTuple):
    """A call, its name resolved through the imports."""

    node: ast.Call
    name: str
    args: tuple[Value, ...]
    keywords: dict[str, Value]
    receiver: Value
    scope: Scope
    target: str
    """The name that the statement around it assigns to; empty where there is none."""
    guarded: frozenset[str]
    """Words of the conditions around it."""
    spread: bool
    """Whether `**` or `*` arguments hide some of what is passed."""

    @property
    def last(self) -> str:
        """The last part of the name."""
        return self.name.rsplit(".", 1)[-1]

    def arg(self, index: int, *keywords: str) -> Value:
        """An argument by position or by one of its names; `NOTHING` where it is not passed."""
        for keyword in keywords:
            if keyword in self.keywords:
                return self.keywords[keyword]
        return self.args[index] if 0 <= index < len(self.args) else NOTHING

    def keyword(self, name: str) -> ast.expr | None:
        """The expression passed as the keyword `name`, or none."""
        for keyword in self.node.keywords:
            if keyword.arg == name:
                return keyword.value
        return None

    def is_false(self, name: str) -> bool:
        """Whether the literal `False` is passed as the keyword `name`."""
        value = self.keyword(name)
        return isinstance(value, ast.Constant) and value.value is False

    def is_true(self, name: str) -> bool:
        """Whether the literal `True` is passed as the keyword `name`."""
        value = self.keyword(name)
        return isinstance(value, ast.Constant) and value.value is True


class Store(NamedTuple):
    """An assignment to a name, an attribute, or an item."""

    node: ast.stmt
    target: ast.expr
    name: str
    """Dotted name of the target, resolved; `x[]` for an item."""
    key: str
    """The attribute, or the constant key of the item; the name itself for a plain name."""
    expression: ast.expr
    value: Value
    owner: Value
    """What the attribute or item belongs to."""
    scope: Scope
    guarded: frozenset[str]


class Return(NamedTuple):
    """A `return` with a value."""

    node: ast.Return
    value: Value
    scope: Scope
    guarded: frozenset[str]


class Comparison(NamedTuple):
    """An `==` or `!=` between two values."""

    node: ast.Compare
    left: Value
    right: Value
    scope: Scope
    guarded: frozenset[str]


Event = ResolvedCall | Store | Return | Comparison


class SecurityHit(NamedTuple):
    """A rule that fires, before it is known whether the change has to do with it."""

    rule: LensRule
    node: ast.expr | ast.stmt
    message: str
    steps: tuple[int, ...] = ()
    """Lines through which the data came; one of them changed is reason enough to report."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Rules that read the same events."""

    rules: tuple[LensRule, ...]
    calls: frozenset[str]
    """Last names of the calls that it looks at."""
    look: Callable[[Event], Iterator[SecurityHit]]
    hints: Hints
    """What a function's text must have one of, where no request data is needed for a hit."""
    others: frozenset[type[Store] | type[Return] | type[Comparison]] = frozenset()
    """The other kinds of events that it looks at."""


def flows(value: Value, piece: Value) -> tuple[int, ...]:
    """The lines that `piece` came through on its way into `value`."""
    return (*piece.steps, *value.steps)
