"""Tests that seem to check something but don't: constant asserts, duplicate names, skips."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.syntax import Function, blocks, first_line, word_set
from leadhand.teams.review.lenses.tests import functions, rules

_MISSPELT = word_set("called_once called_once_with called_with not_called has_calls any_call")
"""Names of `assert_...` methods of mocks without their prefix."""
_UNCALLED = re.compile(
    r"assert_(?:called|called_once|not_called|any_call|has_calls|called_with|called_once_with)$"
)
_SKIPS = {"pytest.mark.skip", "mark.skip", "unittest.skip", "skip"}
_COMMENTED = re.compile(r"^\s*#+\s?(?:async )?def (test_\w{1,200})\(")
_REMOVED = re.compile(r"^\s*(?:async )?def (test_\w{1,200})\(")
_FOCUSED = re.compile(r"^\s*(?:(?:describe|it|test|context|suite)\.only|fdescribe|fit)\s*\(")
_JS_TEST = re.compile(r"\.(?:test|spec|cy)\.[cm]?[jt]sx?$|/__tests__/")


@dataclass(frozen=True, slots=True)
class TestProblem:
    """One problem of a test."""

    rule: LensRule
    line: int
    message: str
    evidence: str = ""
    """What to quote; empty for the text of `line`."""
    end_line: int | None = None


def ineffective_checks(file: ChangedFile, test: functions.TestFunction) -> Iterator[TestProblem]:
    """Checks on added lines that can't fail, or whose result is discarded."""
    asserts = 0
    trivial: list[ast.Assert] = []
    for node, guarded in _statements(test.node):
        asserts += isinstance(node, ast.Assert)
        if not isinstance(node, ast.Assert | ast.Expr) or not file.touches(node.lineno):
            continue
        why, rule = "", rules.ALWAYS_TRUE
        if isinstance(node, ast.Assert):
            if isinstance(node.test, ast.Constant) and node.test.value is True:
                trivial.append(node)
            else:
                why = _always_true(node.test)
        elif isinstance(node.value, ast.Call):
            why = _call_always_true(node.value, test)
        elif isinstance(node.value, ast.Attribute) and _UNCALLED.match(node.value.attr):
            why = f"`{node.value.attr}` is mentioned but not called, so it checks nothing"
        elif isinstance(node.value, ast.Compare) and not guarded and _meant_to_assert(node.value):
            why, rule = "a comparison is not asserted", rules.UNASSERTED
        if why:
            message = f"In `{test.name}`, {why}."
            yield TestProblem(rule, node.lineno, message, end_line=node.end_lineno)
    if trivial and asserts == len(trivial) and not _other_checks(test.node):
        message = f"`assert True` is all that `{test.name}` checks."
        yield TestProblem(rules.ALWAYS_TRUE, trivial[0].lineno, message)


def same_names(file: ChangedFile, tree: ast.Module) -> Iterator[TestProblem]:
    """Tests that a later one of the same name in the same scope replaces."""
    scopes: list[tuple[str, list[ast.stmt]]] = [("", tree.body)]
    scopes += [(one.name, one.body) for one in tree.body if isinstance(one, ast.ClassDef)]
    for scope, body in scopes:
        earlier: dict[str, Function] = {}
        for node in body:
            if not isinstance(node, Function) or not node.name.startswith("test_"):
                continue
            decorators = {functions.symbol_name(one) for one in node.decorator_list}
            if not decorators.isdisjoint(("register", "setter", "overload")):
                continue
            lost = earlier.get(node.name)
            earlier[node.name] = node
            if lost is None:
                continue
            where = f" in `{scope}`" if scope else ""
            twice = f"`{node.name}` is defined twice{where}"
            if file.touches(node.lineno):
                message = f"{twice}; the one on line {lost.lineno} never runs."
                yield TestProblem(rules.SAME_NAME, node.lineno, message)
            elif file.touches(lost.lineno):
                message = f"{twice}; this one never runs, only the one on line {node.lineno} does."
                yield TestProblem(rules.SAME_NAME, lost.lineno, message)


def newly_skipped(file: ChangedFile, tree: ast.Module) -> Iterator[TestProblem]:
    """Existing tests that the change skips or comments out without a reason."""
    if file.status == "added":
        return
    if any("skip" in line for line in file.added.values()):
        before = {test.name: test for test in functions.test_functions(file.base_tree)}
        for test in functions.test_functions(tree):
            was = before.get(test.name)
            if was is None or any(_skips(one) for one in was.node.decorator_list):
                continue
            for one in test.node.decorator_list:
                if file.touches(one.lineno) and _skips(one) and not _has_reason(one, file, test):
                    message = f"`{test.name}` ran before and is now skipped without a reason."
                    yield TestProblem(rules.SKIPPED, one.lineno, message)
    removed = {found[1] for line in file.removed.values() if (found := _REMOVED.match(line))}
    if not removed:
        return
    remaining = {test.node.name for test in functions.test_functions(tree)}
    for number, line in file.added.items():
        found = _COMMENTED.match(line)
        if found and found[1] in removed - remaining:
            message = f"`{found[1]}` ran before and is now commented out."
            yield TestProblem(rules.SKIPPED, number, message)


def focused(file: ChangedFile) -> Iterator[TestProblem]:
    """`.only(` and the like in JavaScript tests, which keep all other tests from running."""
    if not _JS_TEST.search(file.path):
        return
    for number, line in file.added.items():
        found = _FOCUSED.match(line[:500])
        if found:
            call = found.group().strip().rstrip("( ")
            message = f"`{call}` keeps every other test of this file from running."
            yield TestProblem(rules.SKIPPED, number, message)


def _always_true(condition: ast.expr) -> str:
    """Why an asserted condition is always true; empty if it is not."""
    if isinstance(condition, ast.Tuple) and condition.elts:
        return "the assert tests a tuple, probably `(condition, message)`, which is always true"
    if isinstance(condition, ast.Constant) and isinstance(condition.value, str):
        return "the assert tests a string, which is always true" if condition.value else ""
    name = functions.symbol_name(condition)
    if name not in _MISSPELT or "." not in functions.dotted_name(condition):
        return ""
    if isinstance(condition, ast.Call):
        return f"`{name}` does not assert on a mock: the call returns a mock, which is always true"
    if isinstance(condition, ast.Attribute):
        return f"`{name}` is no attribute of a mock: it is another mock, which is always true"
    return ""


def _call_always_true(call: ast.Call, test: functions.TestFunction) -> str:
    """Why a call that looks like an assertion checks nothing; empty if it may check."""
    name = functions.symbol_name(call.func)
    if name in _MISSPELT and isinstance(call.func, ast.Attribute):
        hint = f"`{name}` does not assert on a mock; use `assert_{name}`"
        return hint if name != "not_called" else ""
    if name not in ("assertTrue", "failUnless") or not test.unittest or not call.args:
        return ""
    first = call.args[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value:
        return f"`{name}` is given a string, which is always true"
    if len(call.args) == 2 and isinstance(call.args[1], ast.Constant):
        second = call.args[1].value
        if isinstance(second, int | float) and not isinstance(second, bool):
            return f"`{name}` takes {second!r} as its message; use `assertEqual`"
    return ""


def _statements(start: Function) -> Iterator[tuple[ast.stmt, bool]]:
    """Every statement of a function, and whether it is where an exception may be expected.

    That is inside `with`, `try` or a nested function.
    """
    waiting: list[tuple[ast.stmt, bool]] = [(one, False) for one in reversed(start.body)]
    while waiting:
        node, guarded = waiting.pop()
        yield node, guarded
        opens = isinstance(node, ast.With | ast.AsyncWith | ast.Try | ast.TryStar | Function)
        inner = [one for block in blocks(node) for one in block]
        waiting += [(one, guarded or opens) for one in reversed(inner)]


def _meant_to_assert(compare: ast.Compare) -> bool:
    """Whether a bare comparison looks like a forgotten assert, not like a test of an operator.

    It does if its left side is a method call or an attribute and its right side is something else.
    """
    left, right = compare.left, compare.comparators[0]
    if not all(isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot) for op in compare.ops):
        return False
    if isinstance(left, ast.Call):
        if not isinstance(left.func, ast.Attribute) or functions.symbol_name(left).startswith("__"):
            return False
    elif not isinstance(left, ast.Attribute):
        return False
    return ast.dump(left) != ast.dump(right)


def _other_checks(start: Function) -> bool:
    """Whether anything but plain asserts may check in it: a call, a context manager, a handler."""
    kinds = (ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Raise, ast.Call)
    return any(isinstance(node, kinds) for node in ast.walk(start))


def _skips(decorator: ast.expr) -> bool:
    return functions.dotted_name(decorator) in _SKIPS


def _has_reason(decorator: ast.expr, file: ChangedFile, test: functions.TestFunction) -> bool:
    """Whether the decorator or a comment beside it gives a reason."""
    if isinstance(decorator, ast.Call) and (decorator.args or decorator.keywords):
        given = [*decorator.args, *(word.value for word in decorator.keywords)]
        return any(not (isinstance(one, ast.Constant) and not one.value) for one in given)
    start, end = first_line(test.node), test.node.lineno
    return any("#" in line for line in file.head_lines[max(0, start - 2) : end])
