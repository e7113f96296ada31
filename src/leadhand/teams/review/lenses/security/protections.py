"""The safeguards in one function: checks that raise, escapes, verifications, locks, time limits.

Lists what is there; whether a change took it away is for `safeguards.py` to say.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from leadhand.teams.review.lenses.security.events import Function
from leadhand.teams.review.lenses.security.guards import guard_words
from leadhand.teams.review.lenses.security.names import listed, plain, statements, words

ACCESS_WORDS = listed(
    "auth authenticated authorized authorised authorize anonymous permission permissions perm"
    " perms permitted forbidden unauthorized unauthorised login admin staff superuser owner role"
    " roles csrf signature verified credentials privilege 401 403"
)
"""Words of a check of who someone is and what they may do."""
ESCAPES = re.compile(
    r"^(?:html_?)?escape(?:_\w+|js|html)?$|^saniti[sz]e\w*$|^secure_filename$|^strip_tags$"
    r"|^shlex\.quote$|^(?:urllib\.parse\.)?quote(?:_plus)?$|^bleach\.clean$|^conditional_escape$"
)
VERIFIES = re.compile(
    r"^(?:compare_digest|constant_time_compare|verify\w*|_?check_\w+|_?validate\w*|_?ensure_(?:valid|auth|perm|allow|access|safe|csrf|log)\w*"
    r"|authenticate\w*|authorize\w*|has_perm\w*|is_authenticated|require_\w+|full_clean|is_valid"
    r"|raise_for_status|is_safe_url|url_has_allowed_host_and_scheme|safe_join)$"
)
GUARDS_ACCESS = re.compile(
    r"login_required|permission|requires?_(?:auth|login|role|scope|admin|user)|auth(?:entication)?_required"
    r"|^authenticated|admin_required|staff_member_required|superuser|csrf_protect|user_passes_test"
    r"|jwt_required|token_required|role_required|rate_?limit|throttle|current_user|LoginRequired"
    r"|PermissionRequired|UserPassesTest",
    re.IGNORECASE,
)
_REFUSALS = listed("redirect denied forbidden unauthorized unauthorised login permission 401 403")
_LOCKS = listed("lock rlock mutex semaphore locked")
_ORDINARY = listed(
    "NotImplementedError StopIteration StopAsyncIteration AttributeError ImportError SystemExit"
    " ModuleNotFoundError KeyError IndexError AssertionError KeyboardInterrupt Exit GeneratorExit"
    " UsageError Skipped ImproperlyConfigured DeprecationWarning"
)
"""Exceptions that tell of a protocol, a missing feature or the end, not of a refusal."""


class ProtectionCheck(NamedTuple):
    """A condition that ends in a refusal."""

    line: int
    refusal: str
    """The exception's or the response's name."""
    test: ast.expr | None
    """The condition; none for a refusal without one of its own."""
    text: str
    """The refusal as written, without layout."""
    access: bool
    """Whether it is about who someone is and what they may do."""

    @property
    def ordinary(self) -> bool:
        """Whether it tells of a protocol or a missing feature, and refuses nothing."""
        return self.refusal in _ORDINARY

    @property
    def key(self) -> tuple[str, str]:
        """What it asks and how it refuses, as written."""
        return (ast.unparse(self.test) if self.test is not None else "", self.text)


class Guard(NamedTuple):
    """A call or a block that protects: by what name, on what, where."""

    line: int
    name: str
    on: frozenset[str]
    """Names that it is applied to."""


@dataclass(frozen=True, slots=True)
class Protections:
    """All the safeguards of one function, and what else is needed to compare two of them."""

    checks: tuple[ProtectionCheck, ...]
    escapes: tuple[Guard, ...]
    verifications: tuple[Guard, ...]
    time_limits: tuple[Guard, ...]
    locks: tuple[tuple[Guard, frozenset[str]], ...]
    """Each with the statements under it, as text."""
    calls: Counter[str]
    names: frozenset[str]
    """Every name and attribute used."""
    raises: int


def protections(function: Function) -> Protections:
    """The safeguards in `function`, in the order of its statements."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    checks = tuple(sorted(_checks(function), key=lambda check: check.line))
    return Protections(
        checks=checks,
        escapes=tuple(_guards(calls, ESCAPES)),
        verifications=tuple(_guards(calls, VERIFIES)),
        time_limits=tuple(_time_limits(calls)),
        locks=tuple(_locks(function)),
        calls=Counter(last_name(call.func) for call in calls),
        names=names_in(function),
        raises=len(checks),
    )


def last_name(function: ast.expr) -> str:
    """The last part of what is called; empty where it has no name."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def names_in(node: ast.AST) -> frozenset[str]:
    """Every name and attribute in `node`, but not `self`."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    found.update(part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        found.update(part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg))
    return frozenset(found - {"self", "cls"})


def _checks(function: Function) -> Iterator[ProtectionCheck]:
    tests: dict[ast.stmt, ast.expr] = {}
    for statement in statements(function.body):
        if isinstance(statement, ast.If):
            tests.update(dict.fromkeys(statement.body, statement.test))
            otherwise = ast.UnaryOp(ast.Not(), statement.test)
            tests.update(dict.fromkeys(statement.orelse, otherwise))
    for statement in statements(function.body):
        test = tests.get(statement)
        if isinstance(statement, ast.Raise) and statement.exc is not None:
            raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
            name = last_name(raised)
            if name[:1].isupper():
                yield _check(statement, name, test)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            if last_name(statement.value.func) == "abort":
                yield _check(statement, "abort", test)
        elif isinstance(statement, ast.Return) and test is not None and statement.value is not None:
            found = _check(statement, "return", test)
            if found.access and _refuses(statement.value):
                yield found


def _check(
    statement: ast.Raise | ast.Expr | ast.Return, name: str, test: ast.expr | None
) -> ProtectionCheck:
    about = set(words(name))
    said = statement.exc if isinstance(statement, ast.Raise) else None
    for part in (test, said):
        about |= guard_words(part) if part is not None else set()
    codes = {
        str(part.value)
        for part in ast.walk(statement)
        if isinstance(part, ast.Constant) and isinstance(part.value, int)
    }
    access = bool((about | codes) & ACCESS_WORDS)
    return ProtectionCheck(statement.lineno, name, test, ast.unparse(statement), access)


def _refuses(value: ast.expr) -> bool:
    """Whether returning `value` turns someone away."""
    if isinstance(value, ast.Constant):
        return value.value in (False, None)
    if not isinstance(value, ast.Call | ast.Tuple):
        return False
    said = guard_words(value)
    numbers = {part.value for part in ast.walk(value) if isinstance(part, ast.Constant)}
    return bool(
        said & (ACCESS_WORDS | {"redirect", "denied", "unauthorized"}) or numbers & {401, 403}
    )


def _guards(calls: list[ast.Call], pattern: re.Pattern[str]) -> Iterator[Guard]:
    for call in calls:
        name, written = last_name(call.func), plain(call.func)
        if pattern.match(name) or pattern.match(written):
            on: set[str] = set()
            for arg in (*call.args, *(keyword.value for keyword in call.keywords)):
                on |= names_in(arg)
            if not on and isinstance(call.func, ast.Attribute):
                on |= names_in(call.func.value)
            yield Guard(call.lineno, name, frozenset(on))


def _time_limits(calls: list[ast.Call]) -> Iterator[Guard]:
    for call in calls:
        for keyword in call.keywords:
            unlimited = isinstance(keyword.value, ast.Constant) and keyword.value.value is None
            if keyword.arg == "timeout" and not unlimited:
                yield Guard(keyword.value.lineno, last_name(call.func), names_in(keyword.value))


def _locks(function: Function) -> Iterator[tuple[Guard, frozenset[str]]]:
    for statement in statements(function.body):
        if isinstance(statement, ast.With | ast.AsyncWith):
            for item in statement.items:
                held = item.context_expr
                name = plain(held.func if isinstance(held, ast.Call) else held)
                if _LOCKS & set(words(name)):
                    inside = frozenset(ast.unparse(part) for part in statement.body)
                    yield Guard(item.context_expr.lineno, name, frozenset((name,))), inside
