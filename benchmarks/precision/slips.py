"""Slips: the mistakes of a hurried edit, made at random places of real code.

Well-kept releases hold few plain bugs to measure a rule on. So a fourth kind of change is made of
each package: at random places an import, a statement, a decorator, a keyword argument or an `await`
is lost, or a function or a parameter is renamed where it is defined and nowhere else. What slips
does not depend on any rule; whether a hit on such a change is true is labelled like every other.
"""

import ast
import random
from collections.abc import Iterator
from pathlib import Path

Edit = tuple[int, int, int, int, str]
"""First line, column in it, last line, column in it (lines from 1, columns in bytes), new text."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def make_slips(folder: Path, *, count: int, seed: int) -> int:
    """Make one slip in each of up to `count` files below `folder`; how many were made."""
    chance = random.Random(seed)
    files = sorted(file for file in folder.rglob("*.py") if ".git" not in file.parts)
    chance.shuffle(files)
    made = 0
    for file in files:
        if made == count:
            break
        source = file.read_bytes()
        edits = list(_edits(source))
        chance.shuffle(edits)
        kinds = sorted({kind for kind, _ in edits})
        chance.shuffle(kinds)
        for kind in kinds[:1]:
            edit = next(edit for one, edit in edits if one == kind)
            changed = _applied(source, edit)
            if _parses(changed):
                file.write_bytes(changed)
                made += 1
    return made


def _edits(source: bytes) -> Iterator[tuple[str, Edit]]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) and len(tree.body) > 1:
            yield "import", _whole(node)
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield from _in_function(node)


def _in_function(function: Function) -> Iterator[tuple[str, Edit]]:
    body = function.body
    for statement in body[1:] if len(body) > 1 else ():
        yield "statement", _whole(statement)
    for decorator in function.decorator_list:
        first, last = decorator.lineno, decorator.end_lineno or decorator.lineno
        yield "decorator", (first, 0, last + 1, 0, "")
    for parameter in function.args.args[1:]:
        end = parameter.col_offset + len(parameter.arg.encode())
        renamed = f"{parameter.arg}_value"
        yield "parameter", (parameter.lineno, parameter.col_offset, parameter.lineno, end, renamed)
    yield from _renamed(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Await):
            value = node.value
            yield "await", (node.lineno, node.col_offset, value.lineno, value.col_offset, "")
        elif isinstance(node, ast.Call) and len(node.keywords) > 1:
            before, lost = node.keywords[-2], node.keywords[-1]
            start = (before.end_lineno or 0, before.end_col_offset or 0)
            yield "keyword", (*start, lost.end_lineno or 0, lost.end_col_offset or 0, "")


def _renamed(function: Function) -> Iterator[tuple[str, Edit]]:
    word = "async def " if isinstance(function, ast.AsyncFunctionDef) else "def "
    start = function.col_offset + len(word)
    end = start + len(function.name.encode())
    if not function.name.startswith("__"):
        yield "function", (function.lineno, start, function.lineno, end, f"{function.name}_now")


def _whole(node: ast.stmt) -> Edit:
    return node.lineno, 0, (node.end_lineno or node.lineno) + 1, 0, ""


def _applied(source: bytes, edit: Edit) -> bytes:
    first, start, last, end, text = edit
    return (
        source[: _offset(source, first) + start]
        + text.encode()
        + source[_offset(source, last) + end :]
    )


def _offset(source: bytes, line: int) -> int:
    return sum(len(one) + 1 for one in source.split(b"\n")[: line - 1])


def _parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True
