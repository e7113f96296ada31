"""Whether a test function checks anything at all.

Errs on the side of "it does": a helper that can't be seen, an unknown decorator, a name or a
comment that says the test only has to get through without an error all count as a check.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from leadhand.teams.review.lenses.tests.functions import Case, Function, blocks, dotted, name_of

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
class FileNames:
    """What a test file defines and brings in, so that a test's helpers can be followed."""

    functions: dict[str, Function | ast.ClassDef] = field(
        default_factory=dict[str, "Function | ast.ClassDef"]
    )
    """Functions and classes of the module, by name."""
    support: set[str] = field(default_factory=set[str])
    """Names imported from modules that look like test support, whose code is not at hand."""
    marked: bool = False
    """Whether the whole module is skipped, expected to fail, or a benchmark."""


def names_in(tree: ast.Module, text: str) -> FileNames:
    """What `tree`, parsed from `text`, defines and imports."""
    names = FileNames(marked="pytestmark" in text and _MODULE_MARK.search(text) is not None)
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Function | ast.ClassDef):
            names.functions.setdefault(node.name, node)
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


def verdict(case: Case, names: FileNames, lines: list[str]) -> Verdict:
    """Whether `case`, in a file with `names` and the text `lines`, checks anything."""
    node = case.node
    if names.marked or any(_wraps(decorator) for decorator in _decorators(case)):
        return "checks"
    if _checks(node, case, names):
        return "checks"
    if all(_is_empty(statement) for statement in node.body):
        return "stub"
    if _intended(case, lines):
        return "checks"
    return "nothing"


def parameters(node: Function) -> Iterator[str]:
    """The names of a function's parameters, without `self`."""
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if argument.arg != "self":
            yield argument.arg


def _checks(start: Function, case: Case, names: FileNames) -> bool:
    """Whether `start` or a helper that it mentions contains what may be a check."""
    methods: dict[str, Function] = {}
    if case.owner:
        methods = {one.name: one for one in case.owner.body if isinstance(one, Function)}
    seen: set[int] = {id(start)}
    waiting: list[tuple[Function | ast.ClassDef, int]] = [(start, 0)]
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
            if isinstance(node, ast.Call) and _is_check(node, case, names):
                return True
            helper = _helper(node, methods, names)
            if helper and id(helper) not in seen and depth < _MAX_DEPTH:
                seen.add(id(helper))
                waiting.append((helper, depth + 1))
        if isinstance(scope, Function):
            for fixture in parameters(scope):
                if _CHECKING_FIXTURE.search(fixture):
                    return True
                known = names.functions.get(fixture)
                if known and id(known) not in seen and depth < _MAX_DEPTH:
                    seen.add(id(known))
                    waiting.append((known, depth + 1))
    return False


def _is_check(call: ast.Call, case: Case, names: FileNames) -> bool:
    name = name_of(call.func)
    if _CHECKING.search(name) or (_DELEGATES.search(name) and name not in _FLASK_STYLE):
        return True
    if any(word.arg in ("timeout", "check", "match", "expected") for word in call.keywords):
        return True
    root = dotted(call.func).split(".", 1)
    if root[0] in names.support:
        return True
    if len(root) == 1 and root[0] in set(parameters(case.node)) - set(names.functions):
        return True  # a fixture that is itself a function: what it checks can't be seen here
    inherited = root[0] in ("self", "cls") and len(root) == 2 and "." not in root[1]
    return inherited and case.owner is not None and not _defines(case.owner, root[1])


def _defines(owner: ast.ClassDef, name: str) -> bool:
    return any(isinstance(one, Function) and one.name == name for one in owner.body)


def _helper(
    node: ast.AST, methods: dict[str, Function], names: FileNames
) -> Function | ast.ClassDef | None:
    """The function, method or class of this file that `node` mentions."""
    if isinstance(node, ast.Name):
        return names.functions.get(node.id)
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("self", "cls")
    ):
        return methods.get(node.attr)
    return None


def _decorators(case: Case) -> Iterator[ast.expr]:
    yield from case.node.decorator_list
    if case.owner:
        yield from case.owner.decorator_list


def _wraps(decorator: ast.expr) -> bool:
    """Whether a decorator skips the test, or may check something itself."""
    return not _TRANSPARENT.match(dotted(decorator))


def _is_empty(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass)


def _intended(case: Case, lines: list[str]) -> bool:
    """Whether the test says that to get through without an error is all it wants."""
    if _INTENDED_NAME.search(case.node.name) or _ISSUE.search(case.name):
        return True
    docstring = ast.get_docstring(case.node, clean=False) or ""
    if _INTENDED_WORDS.search(docstring[:2000]):
        return True
    body = lines[max(0, case.node.lineno - 2) : case.node.end_lineno or case.node.lineno]
    return any(
        "#" in line and _INTENDED_WORDS.search(line[line.index("#") : 1000]) for line in body
    )
