"""What a definition has, as sets with places: what it calls, passes, sets, declares and names."""

import ast
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from leadhand_teams.review import syntax

Definition = syntax.Function | ast.ClassDef | ast.Module
Kind = Literal[
    "argument", "base", "call", "decorator", "default", "parameter", "text", "use", "value"
]


class Part(NamedTuple):
    """One thing that a definition has."""

    kind: Kind
    name: str
    """Of what is called, used or derived from (its last one), set, passed or declared."""
    node: ast.expr | ast.arg
    """The call, or the value that is passed or set."""
    owner: str = ""
    """The function that is passed an argument, or the object of which something is set."""

    @property
    def line(self) -> int:
        """Where its name stands."""
        node = self.node
        return (node.end_lineno if isinstance(node, ast.Attribute) else None) or node.lineno

    @property
    def text(self) -> str:
        """Its source."""
        return ast.unparse(self.node)


def parts_in(definition: Definition, nodes: Iterable[ast.AST]) -> Iterator[Part]:
    """The parts of a definition with these nodes."""
    if not isinstance(definition, ast.Module):
        for node in definition.decorator_list:
            yield Part("decorator", written(node), node)
    if isinstance(definition, ast.ClassDef):
        for node in definition.bases:
            yield Part("base", written(node), node)
            yield from (use for part in ast.walk(node) for use in _used(part))
    elif not isinstance(definition, ast.Module):
        for name, default in syntax.defaults(definition).items():
            yield Part("default", name, default)
        for parameter in syntax.parameters(definition):
            yield Part("parameter", parameter.arg, parameter)
    for node in nodes:
        yield from _used(node)
        match node:
            case ast.Call(func=function, keywords=keywords):
                name = syntax.last_name(function)
                yield Part("call", name, node)
                for one in keywords:
                    yield Part("argument", one.arg or "", one.value, name)
            case ast.Constant(value=str() as text):
                yield Part("text", text, node)
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    yield Part("value", key_of(key), value)
            case _:
                for target, value in syntax.assigned(node):
                    yield Part("value", key_of(target), value, _owner(target))


def written(node: ast.expr) -> str:
    """The dotted name of a decorator or base, without what it is called or parametrised with."""
    if isinstance(node, ast.Subscript):
        node = node.value
    return syntax.dotted(node.func if isinstance(node, ast.Call) else node)


def key_of(target: ast.expr | None) -> str:
    """The last name of a target, or the text of a key."""
    if isinstance(target, ast.Subscript):
        target = target.slice
    if isinstance(target, ast.Constant):
        return target.value if isinstance(target.value, str) else ""
    return syntax.last_name(target) if target is not None else ""


def _used(node: ast.AST) -> Iterator[Part]:
    if isinstance(node, ast.Name | ast.Attribute):
        yield Part("use", syntax.last_name(node), node)


def _owner(target: ast.expr) -> str:
    """The variable or attribute of which a target is a part; empty for a name."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
        if isinstance(target, ast.Name | ast.Attribute):
            return syntax.last_name(target)
    return ""
