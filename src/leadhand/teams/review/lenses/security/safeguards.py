"""Lists the safeguards in a function: checks that raise, escapes, verifications, locks, timeouts.

`removed_safeguards` compares the lists of two versions.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from leadhand.teams.review.lenses import syntax
from leadhand.teams.review.lenses.security.conditions import condition_words

ACCESS_WORDS = syntax.word_set(
    "auth authenticated authorized authorised authorize anonymous permission permissions perm"
    " perms permitted forbidden unauthorized unauthorised login admin staff superuser owner role"
    " roles csrf signature verified credentials privilege 401 403"
)
"""Words of checks of a user's identity or permissions."""
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
_LOCKS = syntax.word_set("lock rlock mutex semaphore locked")
_ORDINARY = syntax.word_set(
    "NotImplementedError StopIteration StopAsyncIteration AttributeError ImportError SystemExit"
    " ModuleNotFoundError KeyError IndexError AssertionError KeyboardInterrupt Exit GeneratorExit"
    " UsageError Skipped ImproperlyConfigured DeprecationWarning"
)
"""Exceptions that belong to a protocol, a missing feature or an exit, and refuse nothing."""


class SafeguardCheck(NamedTuple):
    """A statement that refuses to go on, and its condition."""

    line: int
    refusal: str
    """The name of the exception, or `abort` or `return`."""
    test: ast.expr | None
    """The condition; `None` if the refusal has none of its own."""
    text: str
    """The source of the refusal, normalized."""
    access: bool
    """Whether it checks a user's identity or permissions."""

    @property
    def ordinary(self) -> bool:
        """Whether it belongs to a protocol or a missing feature, and refuses nothing."""
        return self.refusal in _ORDINARY

    @property
    def key(self) -> tuple[str, str]:
        """The source of the condition and of the refusal."""
        return (ast.unparse(self.test) if self.test is not None else "", self.text)


class SafeguardCall(NamedTuple):
    """A call or a `with` block that protects something."""

    line: int
    name: str
    subjects: frozenset[str]
    """Names that it is applied to."""


@dataclass(frozen=True, slots=True)
class Safeguards:
    """The safeguards of one function, and what is needed to compare two versions."""

    checks: tuple[SafeguardCheck, ...]
    escapes: tuple[SafeguardCall, ...]
    verifications: tuple[SafeguardCall, ...]
    timeouts: tuple[SafeguardCall, ...]
    locks: tuple[tuple[SafeguardCall, frozenset[str]], ...]
    """Each with the source of the statements below it."""
    calls: Counter[str]
    names: frozenset[str]
    """Every name and attribute that the function uses."""


def safeguards_in(function: syntax.Function) -> Safeguards:
    """The safeguards in `function`, in the order of its statements."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return Safeguards(
        checks=tuple(sorted(_checks(function), key=lambda check: check.line)),
        escapes=tuple(_matching(calls, ESCAPES)),
        verifications=tuple(_matching(calls, VERIFIES)),
        timeouts=tuple(_timeouts(calls)),
        locks=tuple(_locks(function)),
        calls=Counter(syntax.last_name(call.func) for call in calls),
        names=names_in(function),
    )


def names_in(node: ast.AST) -> frozenset[str]:
    """Every name and attribute in `node`, except `self` and `cls`."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    found.update(part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        found.update(part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg))
    return frozenset(found - {"self", "cls"})


def _checks(function: syntax.Function) -> Iterator[SafeguardCheck]:
    tests: dict[ast.stmt, ast.expr] = {}
    for statement in syntax.all_statements(function.body):
        if isinstance(statement, ast.If):
            tests.update(dict.fromkeys(statement.body, statement.test))
            otherwise = ast.UnaryOp(ast.Not(), statement.test)
            tests.update(dict.fromkeys(statement.orelse, otherwise))
    for statement in syntax.all_statements(function.body):
        test = tests.get(statement)
        if isinstance(statement, ast.Raise) and statement.exc is not None:
            raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
            name = syntax.last_name(raised)
            if name[:1].isupper():
                yield _check(statement, name, test)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            if syntax.last_name(statement.value.func) == "abort":
                yield _check(statement, "abort", test)
        elif isinstance(statement, ast.Return) and test is not None and statement.value is not None:
            found = _check(statement, "return", test)
            if found.access and _refuses(statement.value):
                yield found


def _check(
    statement: ast.Raise | ast.Expr | ast.Return, name: str, test: ast.expr | None
) -> SafeguardCheck:
    about = set(syntax.words(name))
    raised = statement.exc if isinstance(statement, ast.Raise) else None
    for part in (test, raised):
        about |= condition_words(part) if part is not None else set()
    codes = {
        str(part.value)
        for part in ast.walk(statement)
        if isinstance(part, ast.Constant) and isinstance(part.value, int)
    }
    access = bool((about | codes) & ACCESS_WORDS)
    return SafeguardCheck(statement.lineno, name, test, ast.unparse(statement), access)


def _refuses(value: ast.expr) -> bool:
    """Whether returning `value` rejects a request."""
    if isinstance(value, ast.Constant):
        return value.value in (False, None)
    if not isinstance(value, ast.Call | ast.Tuple):
        return False
    numbers = {part.value for part in ast.walk(value) if isinstance(part, ast.Constant)}
    refusals = ACCESS_WORDS | {"redirect", "denied", "unauthorized"}
    return bool(condition_words(value) & refusals or numbers & {401, 403})


def _matching(calls: list[ast.Call], pattern: re.Pattern[str]) -> Iterator[SafeguardCall]:
    for call in calls:
        name, written = syntax.last_name(call.func), syntax.dotted(call.func)
        if pattern.match(name) or pattern.match(written):
            args = (*call.args, *(keyword.value for keyword in call.keywords))
            subjects = frozenset(name for arg in args for name in names_in(arg))
            if not subjects and isinstance(call.func, ast.Attribute):
                subjects = names_in(call.func.value)
            yield SafeguardCall(call.lineno, name, subjects)


def _timeouts(calls: list[ast.Call]) -> Iterator[SafeguardCall]:
    for call in calls:
        for keyword in call.keywords:
            unlimited = isinstance(keyword.value, ast.Constant) and keyword.value.value is None
            if keyword.arg == "timeout" and not unlimited:
                yield SafeguardCall(
                    keyword.value.lineno, syntax.last_name(call.func), names_in(keyword.value)
                )


def _locks(function: syntax.Function) -> Iterator[tuple[SafeguardCall, frozenset[str]]]:
    for statement in syntax.all_statements(function.body):
        if isinstance(statement, ast.With | ast.AsyncWith):
            for item in statement.items:
                held = item.context_expr
                name = syntax.dotted(held.func if isinstance(held, ast.Call) else held)
                if _LOCKS & set(syntax.words(name)):
                    inside = frozenset(ast.unparse(part) for part in statement.body)
                    yield SafeguardCall(item.context_expr.lineno, name, frozenset((name,))), inside
