"""Tests that look as if they checked something but can't: constant asserts, lost names, skips."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.tests import rules
from leadhand.teams.review.lenses.tests.functions import (
    Case,
    Function,
    blocks,
    cases,
    dotted,
    first_line,
    name_of,
    own_scope,
)

_MISSPELT = {
    "called_once",
    "called_once_with",
    "called_with",
    "not_called",
    "has_calls",
    "any_call",
}
_UNCALLED = re.compile(
    r"assert_(?:called|called_once|not_called|any_call|has_calls|called_with|called_once_with)$"
)
_SKIPS = {"pytest.mark.skip", "mark.skip", "unittest.skip", "skip"}
_COMMENTED = re.compile(r"^\s*#+\s?(?:async )?def (test_\w{1,200})\(")
_REMOVED = re.compile(r"^\s*(?:async )?def (test_\w{1,200})\(")
_FOCUSED = re.compile(r"^\s*(?:(?:describe|it|test|context|suite)\.only|fdescribe|fit)\s*\(")
_JS_TEST = re.compile(r"\.(?:test|spec|cy)\.[cm]?[jt]sx?$|/__tests__/")


@dataclass(frozen=True, slots=True)
class OddTest:
    """One thing that a shape rule found."""

    rule: LensRule
    line: int
    end_line: int
    message: str
    evidence: str = ""
    """What to quote where it is not the line itself."""


def constant_checks(file: ChangedFile, case: Case) -> Iterator[OddTest]:
    """Checks on lines that the change adds that can't fail, or whose result is dropped."""
    where = f"In `{case.name}`, "
    asserts = 0
    trivial: list[ast.Assert] = []
    for node, guarded in _statements(case.node):
        asserts += isinstance(node, ast.Assert)
        if not isinstance(node, ast.Assert | ast.Expr) or not file.touches(node.lineno):
            continue
        end = node.end_lineno or node.lineno
        if isinstance(node, ast.Assert):
            if isinstance(node.test, ast.Constant) and node.test.value is True:
                trivial.append(node)
            elif why := _always_true(node.test):
                yield OddTest(rules.ALWAYS_TRUE, node.lineno, end, f"{where}{why}.")
        elif isinstance(node.value, ast.Call):
            if why := _call_always_true(node.value, case):
                yield OddTest(rules.ALWAYS_TRUE, node.lineno, end, f"{where}{why}.")
        elif isinstance(node.value, ast.Attribute) and _UNCALLED.match(node.value.attr):
            why = f"`{node.value.attr}` is mentioned but not called, so it checks nothing"
            yield OddTest(rules.ALWAYS_TRUE, node.lineno, end, f"{where}{why}.")
        elif isinstance(node.value, ast.Compare) and not guarded and _meant_to_assert(node.value):
            message = f"`{case.name}` compares without asserting."
            yield OddTest(rules.UNASSERTED, node.lineno, end, message)
    if trivial and asserts == len(trivial) and not _other_checks(case.node):
        only = trivial[0]
        message = f"`assert True` is all that `{case.name}` checks."
        yield OddTest(rules.ALWAYS_TRUE, only.lineno, only.lineno, message)


def same_names(file: ChangedFile, tree: ast.Module) -> Iterator[OddTest]:
    """Test functions that a later one of the same name in the same scope replaces."""
    scopes: list[tuple[str, list[ast.stmt]]] = [("", tree.body)]
    scopes += [(one.name, one.body) for one in tree.body if isinstance(one, ast.ClassDef)]
    for scope, body in scopes:
        earlier: dict[str, Function] = {}
        for node in body:
            if not isinstance(node, Function) or not node.name.startswith("test_"):
                continue
            if any(
                name_of(one) in ("register", "setter", "overload") for one in node.decorator_list
            ):
                continue
            lost = earlier.get(node.name)
            earlier[node.name] = node
            if lost is None:
                continue
            where = f" in `{scope}`" if scope else ""
            if file.touches(node.lineno):
                message = f"`{node.name}` is defined again{where}: line {lost.lineno}'s never runs."
                yield OddTest(rules.SAME_NAME, node.lineno, node.lineno, message)
            elif file.touches(lost.lineno):
                again = f"`{node.name}` is defined again{where} on line {node.lineno}"
                message = f"{again}: this one never runs."
                yield OddTest(rules.SAME_NAME, lost.lineno, lost.lineno, message)


def switched_off(file: ChangedFile, tree: ast.Module) -> Iterator[OddTest]:
    """Tests that were there before and that this change skips or comments out without a reason."""
    if file.status == "added":
        return
    if any("skip" in line for line in file.added.values()):
        before = {case.name: case for case in cases(file.base_tree)} if file.base_tree else {}
        for case in cases(tree):
            was = before.get(case.name)
            if was is None or any(_skips(one) for one in was.node.decorator_list):
                continue
            for one in case.node.decorator_list:
                if file.touches(one.lineno) and _skips(one) and not _reason(one, file, case):
                    message = f"`{case.name}` ran before and is now skipped without a reason."
                    yield OddTest(rules.SKIPPED, one.lineno, one.lineno, message)
    removed = {found[1] for line in file.removed.values() if (found := _REMOVED.match(line))}
    if not removed:
        return
    alive = {case.node.name for case in cases(tree)}
    for number, line in file.added.items():
        found = _COMMENTED.match(line)
        if found and found[1] in removed - alive:
            message = f"`{found[1]}` ran before and is now commented out."
            yield OddTest(rules.SKIPPED, number, number, message)


def focused(file: ChangedFile) -> Iterator[OddTest]:
    """`.only(` and the like in JavaScript tests, which keep all other tests from running."""
    if file.language not in ("javascript", "typescript") and not _JS_TEST.search(file.path):
        return
    for number, line in file.added.items():
        found = _FOCUSED.match(line[:500])
        if found and _JS_TEST.search(file.path):
            call = found.group().strip().rstrip("( ")
            message = f"`{call}` keeps every other test of this file from running."
            yield OddTest(rules.SKIPPED, number, number, message)


def _always_true(test: ast.expr) -> str:
    if isinstance(test, ast.Tuple) and test.elts:
        return "the assert is on a tuple, which is always true; the brackets take in the message"
    if isinstance(test, ast.Constant) and isinstance(test.value, str) and test.value:
        return "the assert is on a string, which is always true"
    if (
        isinstance(test, ast.Call | ast.Attribute)
        and name_of(test) in _MISSPELT
        and "." in dotted(test)
    ):
        call = name_of(test)
        if isinstance(test, ast.Call):
            return (
                f"`{call}` is no assertion of a mock: calling it just returns another, true, mock"
            )
        return f"`{call}` is no attribute of a mock that says anything: it is another, true, mock"
    return ""


def _call_always_true(call: ast.Call, case: Case) -> str:
    name = name_of(call.func)
    if name in _MISSPELT and isinstance(call.func, ast.Attribute):
        return (
            f"`{name}` is no assertion of a mock; `assert_{name}` is meant"
            if name != "not_called"
            else ""
        )
    if name not in ("assertTrue", "failUnless") or not case.unittest or not call.args:
        return ""
    first = call.args[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value:
        return f"`{name}` is given a string, which is always true"
    if len(call.args) == 2 and isinstance(call.args[1], ast.Constant):
        second = call.args[1].value
        if isinstance(second, int | float) and not isinstance(second, bool):
            return f"`{name}` takes {second!r} as its message; `assertEqual` is meant"
    return ""


def _statements(start: Function) -> Iterator[tuple[ast.stmt, bool]]:
    """Every statement of a function, and whether it stands where something is expected to raise.

    That is within `with`, `try` or a nested function. Expressions are not walked: there are many.
    """
    waiting: list[tuple[ast.stmt, bool]] = [(one, False) for one in reversed(start.body)]
    while waiting:
        node, guarded = waiting.pop()
        yield node, guarded
        opens = isinstance(node, ast.With | ast.AsyncWith | ast.Try | ast.TryStar | Function)
        inner = [one for block in (*blocks(node), *own_scope(node)) for one in block]
        waiting += [(one, guarded or opens) for one in reversed(inner)]


def _meant_to_assert(compare: ast.Compare) -> bool:
    """Whether a bare comparison looks like a forgotten assert, not like a try of an operator.

    What is compared is then the outcome of a call, or an attribute, and not with itself.
    """
    left, right = compare.left, compare.comparators[0]
    if not all(isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot) for op in compare.ops):
        return False
    if isinstance(left, ast.Call):
        if not isinstance(left.func, ast.Attribute) or name_of(left).startswith("__"):
            return False
    elif not isinstance(left, ast.Attribute):
        return False
    return ast.dump(left) != ast.dump(right)


def _other_checks(start: Function) -> bool:
    """Whether anything but plain asserts may check in it: a call, a context, an except."""
    for node in ast.walk(start):
        if isinstance(node, ast.With | ast.AsyncWith | ast.Try | ast.TryStar | ast.Raise):
            return True
        if isinstance(node, ast.Call):
            return True
    return False


def _skips(decorator: ast.expr) -> bool:
    return dotted(decorator) in _SKIPS


def _reason(decorator: ast.expr, file: ChangedFile, case: Case) -> bool:
    """Whether the decorator says why, or a comment beside it does."""
    if isinstance(decorator, ast.Call) and (decorator.args or decorator.keywords):
        given = [*decorator.args, *(word.value for word in decorator.keywords)]
        return any(not (isinstance(one, ast.Constant) and not one.value) for one in given)
    start, end = first_line(case.node), case.node.lineno
    return any("#" in line for line in file.head_lines[max(0, start - 2) : end])
