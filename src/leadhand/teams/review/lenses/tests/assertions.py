"""Decides whether a test function checks anything.

In doubt it does: a helper whose code is elsewhere, an unknown decorator, and a name or comment that
says the test only has to run without an error all count as a check.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from leadhand.teams.review.lenses.syntax import Function, blocks
from leadhand.teams.review.lenses.tests.functions import TestFunction, dotted_name, symbol_name

Verdict = Literal["checks", "stub", "nothing"]

_CHECKING = re.compile(
    r"assert|check|verif|expect|ensure|validat|should|must|raise|warns|fail|approx|snapshot|approv|golden"
    r"|match_|match$|compar|equal|until|wait|skip|regress|benchmark|reveal_type|deprecated_call|round_?trip"
    r"|concurren|^eq_?$|^ok_?$|^is_|invariant|confirm|prove|throws|reject|timeout|_diff$|^diff|^exec$",
    re.IGNORECASE,
)
_DELEGATES = re.compile(r"(?:^|_)tests?(?:_|$)|[a-z]Tests?$|^run_?[Tt]est|^_?do_|_case$|Case$")
_FLASK_STYLE = {"test_client", "test_request_context", "test_cli_runner"}
_CHECKING_FIXTURE = re.compile(
    r"assert|check|expect|verif|benchmark|snapshot|regression|approv|^(?:httpx_mock|respx_mock|httpserver|subtests)$"
)
_INTENDED_NAME = re.compile(
    r"smoke|(?:^|_)(?:no|not|never|without|doesnt|dont|wont|cant|nothing|ignores?|ignored|allows?|allowed|accepts?|"
    r"supports?|imports?|importable|noop|sanity|compiles?|typing|types|exec|fuzz|stress|example|demo|coverage|perf)"
    r"(?:_|\d|$)|n't|works?$|runs?$|_ok$|valid$|deadlock|segfault|crash|leak|hang",
    re.IGNORECASE,
)
_ISSUE = re.compile(
    r"(?:gh|issue|bug|ticket|pr)_?\d+|regression|concurren|thread|crash", re.IGNORECASE
)
_INTENDED_WORDS = re.compile(
    r"smoke|n't|n[o’]t |without|no (?:error|exception|warning|crash|assert|problem)|never|make sure"
    r"|making sure|ensure|sanity|exercis|coverage|trigger|regression|succe|fine|okay|\bok\b|works"
    r"|just (?:run|call|check|import|test)"
    r"|raise|fail|crash|error|verif|check|expect|assert|allowed|accept|typing|mypy|pyright|type.?check|simply|only",
    re.IGNORECASE,
)
_TRANSPARENT = re.compile(
    r"^(?:mock\.|unittest\.mock\.|mocker\.)?patch(?:\.\w+)*$"
    r"|^pytest\.mark\.(?!.*(?:skip$|xfail|filterwarnings|typing|mypy|pyright|benchmark|smoke|perf))\w+$"
    r"|^(?:mark\.)?(?:parametrize|usefixtures|asyncio|anyio)$|^(?:pytest_asyncio|anyio|trio)\.\w+$|^staticmethod$"
)
_SUPPORT = re.compile(
    r"(?:^|[._])(?:tests?|testing|conftest|helpers?|support|fixtures?|utils?|common|base|case)(?:[._]|$)"
)
_MODULE_MARK = re.compile(
    r"^pytestmark\b.{0,200}(?:skip|xfail|benchmark|smoke|typing)", re.MULTILINE
)
_MAX_DEPTH = 4


@dataclass(slots=True)
class ModuleNames:
    """The names that a test file defines and imports; helpers of a test are looked up here."""

    definitions: dict[str, Function | ast.ClassDef] = field(
        default_factory=dict[str, "Function | ast.ClassDef"]
    )
    """Functions and classes of the module, by name."""
    support: set[str] = field(default_factory=set[str])
    """Names imported from modules that look like test support; their code is not available."""
    marked: bool = False
    """Whether the whole module is skipped, expected to fail, or a benchmark."""


def names_in(tree: ast.Module, text: str) -> ModuleNames:
    """What `tree`, parsed from `text`, defines and imports."""
    names = ModuleNames(marked="pytestmark" in text and _MODULE_MARK.search(text) is not None)
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function | ast.ClassDef):
            names.definitions.setdefault(node.name, node)
        elif isinstance(node, ast.ImportFrom):
            if node.level or _SUPPORT.search(node.module or ""):
                names.support.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            names.support.update(
                alias.asname or alias.name.split(".", 1)[0]
                for alias in node.names
                if _SUPPORT.search(alias.name)
            )
        else:
            waiting += [inner for block in blocks(node) for inner in block]
    return names


def verdict(test: TestFunction, names: ModuleNames, lines: list[str]) -> Verdict:
    """Whether `test`, in a file with `names` and the text `lines`, checks anything."""
    decorators = [*test.node.decorator_list, *(test.owner.decorator_list if test.owner else ())]
    # A decorator that is not known to be transparent may skip the test, or check something itself.
    if names.marked or not all(_TRANSPARENT.match(dotted_name(one)) for one in decorators):
        return "checks"
    if _checks(test, names):
        return "checks"
    if all(_is_empty(statement) for statement in test.node.body):
        return "stub"
    return "checks" if _runs_on_purpose(test, lines) else "nothing"


def parameter_names(node: Function) -> Iterator[str]:
    """The names of a function's parameters, without `self`."""
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if argument.arg != "self":
            yield argument.arg


def _checks(test: TestFunction, names: ModuleNames) -> bool:
    """Whether `test` or a helper that it mentions contains what may be a check."""
    members = test.owner.body if test.owner else ()
    methods = {one.name: one for one in members if isinstance(one, Function)}
    seen: set[int] = {id(test.node)}
    waiting: list[tuple[Function | ast.ClassDef, int]] = [(test.node, 0)]
    while waiting:
        scope, depth = waiting.pop()
        for node in ast.walk(scope):
            if isinstance(node, ast.Assert | ast.Raise | ast.Yield | ast.YieldFrom):
                return True
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and "assert" in node.value[:20_000]
            ):
                return True  # code that runs elsewhere: a subprocess, a browser, a template
            if isinstance(node, ast.Call) and _is_check(node, test, methods, names):
                return True
            helper = _helper(node, methods, names)
            if helper and id(helper) not in seen and depth < _MAX_DEPTH:
                seen.add(id(helper))
                waiting.append((helper, depth + 1))
        if isinstance(scope, Function):
            for fixture in parameter_names(scope):
                if _CHECKING_FIXTURE.search(fixture):
                    return True
                known = names.definitions.get(fixture)
                if known and id(known) not in seen and depth < _MAX_DEPTH:
                    seen.add(id(known))
                    waiting.append((known, depth + 1))
    return False


def _is_check(
    call: ast.Call, test: TestFunction, methods: Mapping[str, Function], names: ModuleNames
) -> bool:
    name = symbol_name(call.func)
    if _CHECKING.search(name) or (_DELEGATES.search(name) and name not in _FLASK_STYLE):
        return True
    if any(word.arg in ("timeout", "check", "match", "expected") for word in call.keywords):
        return True
    root = dotted_name(call.func).split(".", 1)
    if root[0] in names.support:
        return True
    if len(root) == 1 and root[0] in set(parameter_names(test.node)) - set(names.definitions):
        return True  # a fixture that is a function defined elsewhere, which may check
    of_self = root[0] in ("self", "cls") and len(root) == 2 and "." not in root[1]
    return of_self and test.owner is not None and root[1] not in methods


def _helper(
    node: ast.AST, methods: Mapping[str, Function], names: ModuleNames
) -> Function | ast.ClassDef | None:
    """The function, method or class of this file that `node` mentions."""
    if isinstance(node, ast.Name):
        return names.definitions.get(node.id)
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("self", "cls")
    ):
        return methods.get(node.attr)
    return None


def _is_empty(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass)


def _runs_on_purpose(test: TestFunction, lines: list[str]) -> bool:
    """Whether the test says that it only has to run without an error."""
    node = test.node
    if _INTENDED_NAME.search(node.name) or _ISSUE.search(test.name):
        return True
    docstring = ast.get_docstring(node, clean=False) or ""
    if _INTENDED_WORDS.search(docstring[:2000]):
        return True
    body = lines[max(0, node.lineno - 2) : node.end_lineno or node.lineno]
    return any(
        "#" in line and _INTENDED_WORDS.search(line[line.index("#") : 1000]) for line in body
    )
