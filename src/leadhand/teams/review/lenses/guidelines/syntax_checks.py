"""Checks of Python code by its syntax tree: type hints, docstrings, lengths, imports, constants."""

import ast
import re
from collections.abc import Iterator, Sequence

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lenses.guidelines.guideline import Guideline
from leadhand.teams.review.lenses.guidelines.hits import (
    GuidelineHit,
    is_generated,
    is_product_code,
    nearest,
)
from leadhand.teams.review.syntax import is_test

Function = ast.FunctionDef | ast.AsyncFunctionDef

_REST_FIELD = re.compile(
    r"^\s*:(?:param|parameter|arg|returns?|rtype|raises?)\b[^:\n]{0,80}:", re.MULTILINE
)
_GOOGLE = re.compile(r"^\s*(?:Args|Arguments|Returns|Raises|Yields):\s*$", re.MULTILINE)
_NUMPY = re.compile(
    r"^\s*(?:Parameters|Returns|Raises|Yields|Attributes)\s*\n\s*-{3,}\s*$", re.MULTILINE
)
_SECTION = re.compile(
    r"\s*(?::(?:param|parameter|arg|return|rtype|raise)|-{3,}\s*$|(?:Args|Arguments|Returns|Raises|Yields):\s*$)"
)
_OTHER_STYLES = {
    "google": (("Sphinx", _REST_FIELD), ("NumPy", _NUMPY)),
    "numpy": (("Sphinx", _REST_FIELD), ("Google", _GOOGLE)),
}


def functions(tree: ast.Module | None) -> Iterator[tuple[Function, ast.ClassDef | None, str]]:
    """(function, its class, qualified name) of all functions that are not inside functions."""
    waiting: list[tuple[list[ast.stmt], ast.ClassDef | None, str]] = [
        (tree.body if tree else [], None, "")
    ]
    while waiting:
        body, owner, prefix = waiting.pop()
        for node in body:
            if isinstance(node, Function):
                yield node, owner, prefix + node.name
            elif isinstance(node, ast.ClassDef):
                waiting.append((node.body, node, f"{prefix}{node.name}."))
            elif isinstance(node, ast.If):
                waiting += [(node.body, owner, prefix), (node.orelse, owner, prefix)]


def type_hints(file: ChangedFile, found: Sequence[Guideline]) -> Iterator[GuidelineHit]:
    """New public functions with a parameter or return value that has no type hint."""
    if not is_product_code(file) or not file.path.endswith(".py"):
        return
    for node, owner, name in functions(file.head_tree):
        if node.lineno not in file.added or any(part.startswith("_") for part in name.split(".")):
            continue
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        if owner is not None and arguments and arguments[0].arg in ("self", "cls", "mcs", "mcls"):
            arguments = arguments[1:]
        bare = [one.arg for one in arguments if one.annotation is None]
        if bare:
            shown = ", ".join(f"`{one}`" for one in bare[:3])
            yield GuidelineHit(found[0], node.lineno, f"`{name}` has no type hint for {shown}")
        elif node.returns is None:
            yield GuidelineHit(found[0], node.lineno, f"`{name}` has no return type")


def docstring_style(file: ChangedFile, found: Sequence[Guideline]) -> Iterator[GuidelineHit]:
    """Added docstrings with sections in another style than the declared one."""
    innermost = nearest(found)
    if len({one.value for one in innermost}) > 1 or not is_product_code(file):
        return
    styles = _OTHER_STYLES.get(innermost[0].value, ())
    if not any(_SECTION.match(text[:200]) for text in file.added.values()):
        return
    for node, _, name in functions(file.head_tree):
        first = node.body[0]
        text = ast.get_docstring(node, clean=False)
        if not text or not file.touches(first.lineno, first.end_lineno):
            continue
        for style, pattern in styles:
            match = pattern.search(text[:20_000])
            if match is None:
                continue
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            line = first.lineno + text[:start].count("\n")
            if file.touches(line):
                what = f"the docstring of `{name}` has sections in {style} style"
                yield GuidelineHit(innermost[0], line, what)
                break


def function_length(file: ChangedFile, found: Sequence[Guideline]) -> Iterator[GuidelineHit]:
    """Functions that the change makes longer than any document allows."""
    if file.language != "python" or is_test(file.path) or is_generated(file.path):
        return
    one = max(nearest(found), key=lambda one: one.number)
    if len(file.added) == 0 or file.head.count("\n") < one.number:
        return
    before: dict[str, int] | None = None
    for node, _, name in functions(file.head_tree):
        length = _lines(node)
        if length <= one.number or not file.touches(node.lineno, node.end_lineno):
            continue
        if before is None:
            before = {other: _lines(was) for was, _, other in functions(file.base_tree)}
        if before.get(name, 0) <= one.number:
            line = node.lineno if node.lineno in file.added else _added_in(file, node)
            was = f" ({before[name]} before)" if name in before else ""
            yield GuidelineHit(one, line, f"`{name}` has {length} lines{was} without its docstring")


def import_placement(file: ChangedFile, found: Sequence[Guideline]) -> Iterator[GuidelineHit]:
    """Added imports inside functions, except in `try` blocks."""
    if not any(re.match(r"\s+(?:import|from)\s", text[:200]) for text in file.added.values()):
        return
    for node, _, name in functions(file.head_tree):
        waiting: list[ast.stmt] = list(node.body)
        while waiting:
            inner = waiting.pop()
            if isinstance(inner, ast.Import | ast.ImportFrom) and file.touches(inner.lineno):
                yield GuidelineHit(found[0], inner.lineno, f"`{name}` imports inside its body")
            elif isinstance(inner, ast.If | ast.With | ast.For | ast.While):
                waiting += [one for one in ast.iter_child_nodes(inner) if isinstance(one, ast.stmt)]


def required_import(file: ChangedFile, found: Sequence[Guideline]) -> Iterator[GuidelineHit]:
    """New modules with code but without `from __future__ import annotations`."""
    if file.status != "added" or file.head_tree is None or "import annotations" in file.head:
        return
    code = [node for node in file.head_tree.body if not isinstance(node, ast.Expr)]
    defines = re.search(r"^\s*(?:async def|def|class) ", file.head, re.MULTILINE)
    if code and defines and is_product_code(file):
        what = "the new module does not import `annotations` from `__future__`"
        yield GuidelineHit(found[0], code[0].lineno, what)


def constants(file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    """Added module constants, annotated as `Final`, with lower case letters."""
    for node in file.head_tree.body if file.head_tree else ():
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and file.touches(node.lineno)
        ):
            annotation = ast.dump(node.annotation)
            name = node.target.id
            if "'Final'" in annotation and name != name.upper() and not name.startswith("__"):
                yield GuidelineHit(one, node.lineno, f"the constant `{name}` is not in upper case")


def _lines(node: Function) -> int:
    """The lines of a function without its decorators and docstring."""
    first = node.body[0]
    text = ast.get_docstring(node, clean=False)
    skipped = (first.end_lineno or first.lineno) - first.lineno + 1 if text is not None else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - skipped


def _added_in(file: ChangedFile, node: Function) -> int:
    inside = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return next((n for n in inside if file.added.get(n, "").strip()), node.lineno)
