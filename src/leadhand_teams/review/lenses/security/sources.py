"""Where untrusted data comes from and what sanitizes it: tables of names, and lookups in them.

A wrong entry here causes wrong findings everywhere, so an entry needs a documented meaning in the
standard library or a framework.
"""

import ast
import itertools
import re

from leadhand_teams.review.lenses.security import values
from leadhand_teams.review.lenses.security.events import Scope
from leadhand_teams.review.lenses.security.values import NOTHING, UNKNOWN, Trust, Value
from leadhand_teams.review.syntax import (
    Function,
    dotted,
    last_name,
    pattern_of,
    word_rows,
    words,
    words_of,
)

EVERY_USE = words_of("sources.every_use")
_NOT_FROM_A_SERVICE = EVERY_USE - {"shell", "code", "pickle"}

_REQUEST = words_of("sources.request")
_REQUEST_IN_WEB = words_of("sources.request_in_web")
_REQUEST_ROOTS = words_of("sources.request_roots")
_HANDLER_ATTRIBUTES = words_of("sources.handler_attributes")
_LOCAL_ATTRIBUTES = words_of("sources.local_attributes")
_LOCAL_CALLS = words_of("sources.local_calls")
_RECEIVED = words_of("sources.received")
_TORNADO = words_of("sources.tornado")
_FETCHED = re.compile(r"^(?:requests|httpx)\.(?:get|post|request)$|^urllib\.request\.urlopen$")

_ROUTES = words_of("sources.routes")
_URL_VARIABLE = re.compile(r"[<{](?:(\w+)(?:\([^)]*\))?:)?(\w+)(?::(\w+))?[>}]")
_TEXT_TYPES = frozenset(("str", "bytes", "Optional", "Annotated", "AnyStr"))
_NUMBERS = words_of("sources.numbers")

_SAFE_CALLS = words_of("sources.safe_calls")
_SANITIZER = pattern_of("sources.sanitizer")
_SANITIZED_USES = word_rows("sanitized_uses")
_RETURN_ARGUMENT = words_of("sources.return_argument")
"""Functions that return their argument, possibly converted."""
_OPENERS = words_of("sources.openers")
_RETURN_RECEIVER = words_of("sources.return_receiver")
"""Methods that return their object or a part of it."""
_NO_CHECKS = words_of("checks.no_checks")
_IDENTITY = words_of("checks.identity")
"""A check of a user's identity says nothing about the user's input."""
_MAX_NODES = 400


def attribute_trust(name: str, scope: Scope) -> Trust | None:
    """How far to trust the attribute `name` (dotted, resolved); `None` if it is no known source."""
    if name in _LOCAL_ATTRIBUTES:
        return Trust.LOCAL
    root, _, attribute = name.rpartition(".")
    web = scope.names.web or "flask" in root or "bottle" in root
    if root in _REQUEST_ROOTS and (attribute in _REQUEST or (web and attribute in _REQUEST_IN_WEB)):
        return Trust.REMOTE
    bases = scope.owner.bases if scope.owner and name in _HANDLER_ATTRIBUTES else ()
    return Trust.REMOTE if any("HTTPRequestHandler" in dotted(base) for base in bases) else None


def _call_trust(name: str, scope: Scope, receiver: str) -> Trust | None:
    """How far to trust what the call `name` returns; `None` if it is no known source."""
    if name in _LOCAL_CALLS:
        return Trust.LOCAL
    modules = scope.names.modules
    received = name.rsplit(".", 1)[-1] in _RECEIVED and "." in name
    if received and ("socket" in modules or "sock" in receiver):
        return Trust.REMOTE
    if (name in _TORNADO and "tornado" in modules) or _FETCHED.match(name):
        return Trust.REMOTE
    return attribute_trust(name, scope)


def returned(
    name: str,
    scope: Scope,
    receiver: Value | None,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
) -> Value:
    """What a call of `name` returns, judged by the name: a source, a sanitized form, its argument.

    An unknown call returns what is unknown, because it may have checked its arguments.
    """
    last = name.rsplit(".", 1)[-1]
    trust = _call_trust(name, scope, receiver.origin if receiver else "")
    if trust is not None:
        # Services are trusted more than users.
        safe_for = _NOT_FROM_A_SERVICE if _FETCHED.match(name) else frozenset[str]()
        return Value(trust, f"{name}()", made_by=name, safe_for=safe_for)
    if receiver is not None and last == "format":
        return values.formatted(receiver, list(args), keywords, percent=False)
    passed = values.merge([*args, *keywords.values()]) if args or keywords else NOTHING
    uses = _sanitized_uses(name, last)
    if uses is EVERY_USE:
        return Value(Trust.CLEAN, made_by=name)
    if uses:
        return passed.whole()._replace(made_by=name, safe_for=passed.safe_for | uses)
    if name in ("os.path.join", "posixpath.join", "ntpath.join"):
        parts = [part for arg in args for part in (values.constant("/"), arg)]
        return values.concat(parts[1:])._replace(made_by=name)
    if name in _OPENERS:
        return passed.whole()._replace(made_by="open", safe_for=EVERY_USE - {"pickle", "xml"})
    if name in _RETURN_ARGUMENT:
        return passed if name == "str" else passed._replace(made_by=name)
    if name == "re.compile" and args:
        return Value(Trust.CLEAN, made_by=name, text=args[0].text, holes=args[0].holes)
    if receiver is None or last not in (*_RETURN_RECEIVER, "join"):
        return Value(Trust.UNKNOWN, f"{name}()", made_by=name)
    if last == "keys" and receiver.trust is not Trust.REMOTE:
        return UNKNOWN  # the keys of a dict of the program's own
    if last == "join":
        return args[0].whole() if args else UNKNOWN
    if last in ("replace", "joinpath", "with_name", "get"):
        found = values.merge([one.whole() for one in (receiver, *args)])
        if last == "get" and args and "refer" in args[0].text.lower():
            found = found._replace(safe_for=found.safe_for | {"url"})  # back to where they were
        is_item = last == "get" and found.trust is Trust.REMOTE
        return found._replace(made_by="item") if is_item else found
    return receiver.whole() if receiver.built else receiver


def _sanitized_uses(name: str, last: str) -> frozenset[str]:
    """The uses that a call of `name` makes its argument safe for."""
    if name in _SAFE_CALLS:
        return EVERY_USE
    if name in _SANITIZED_USES:
        return _SANITIZED_USES[name]
    if last == "secure_filename":
        return frozenset(("path", "shell"))
    return EVERY_USE if _SANITIZER.search(last) and last != "unescape" else frozenset()


def url_variables(function: Function) -> tuple[bool, dict[str, frozenset[str]]]:
    """Whether `function` is a web handler, and URL variable -> uses its converter makes safe."""
    handler = False
    found: dict[str, frozenset[str]] = {}
    for decorator in function.decorator_list:
        if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, ast.Attribute):
            continue
        if decorator.func.attr not in _ROUTES or not decorator.args:
            continue
        path = decorator.args[0]
        if not isinstance(path, ast.Constant) or not isinstance(path.value, str):
            continue
        handler = handler or "/" in path.value or decorator.func.attr == "route"
        for before, name, after in _URL_VARIABLE.findall(path.value[:500]):
            name, kind = (name, before) if before and not after else (name, after)
            if kind in ("", "string", "str"):
                found[name] = frozenset(("path", "url"))
            elif kind == "path":
                found[name] = frozenset()
    return handler, found


def allows_text(annotation: ast.expr | None) -> bool:
    """Whether a parameter with this annotation may hold text, as far as names tell."""
    return annotation is None or bool(_names(annotation) & _TEXT_TYPES)


def excludes_text(annotation: ast.expr | None) -> bool:
    """Whether a parameter with this annotation can't hold free text."""
    return annotation is not None and _names(annotation) - {"None", "Optional"} <= _NUMBERS


def _names(annotation: ast.expr) -> set[str]:
    """The last names of an annotation: `str` and `None` of `str | None`."""
    if isinstance(annotation, ast.Name):
        return {annotation.id}
    text = re.sub(r"\w+\.", "", ast.unparse(annotation).strip("'\""))
    outer = re.sub(r"\[.*\]", "", text) if not text.startswith("Optional") else text
    return set(re.findall(r"\w+", outer))


def checked_names(test: ast.expr) -> set[str]:
    """The names (`name` or `self.name`) that `test` checks."""
    found: set[str] = set()
    for node in itertools.islice(ast.walk(test), _MAX_NODES):
        if isinstance(node, ast.Call):
            last = last_name(node.func)
            if last not in _NO_CHECKS and not _IDENTITY & set(words(last)):
                owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
                found |= _named_in(*node.args, *(one.value for one in node.keywords), *owner)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for operator, (left, right) in zip(node.ops, itertools.pairwise(sides), strict=True):
                both = (left, right)
                empty = any(isinstance(one, ast.Constant) and not one.value for one in both)
                if isinstance(operator, ast.In | ast.NotIn):
                    found |= _named_in(left, *([right] if isinstance(left, ast.Constant) else []))
                elif isinstance(operator, ast.Eq | ast.NotEq) and not empty:
                    found |= _named_in(*both)
    return found - {"", "self", "cls"}


def _named_in(*nodes: ast.expr) -> set[str]:
    """The names (`name` or `self.name`) in `nodes`."""
    return {
        dotted(part)
        for node in nodes
        for part in itertools.islice(ast.walk(node), _MAX_NODES)
        if isinstance(part, ast.Name | ast.Attribute)
    }


def terms(node: ast.BinOp) -> list[ast.expr]:
    """The terms of `a + b + c`, in order, however long the chain."""
    found: list[ast.expr] = []
    current: ast.expr = node
    while isinstance(current, ast.BinOp) and isinstance(current.op, ast.Add):
        found.append(current.right)
        current = current.left
    return [current, *reversed(found)]
