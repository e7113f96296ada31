"""Names that lose their definition, while lines that the change leaves alone still use them."""

import ast
from collections.abc import Iterable, Iterator

from leadhand.contracts.finding import Finding
from leadhand.teams.review.change import ChangedFile, Hunk
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.bugs.names import given
from leadhand.tools.ruff import Diagnostic, check

RULE = LensRule(
    id="bugs/definition-removed",
    family="bugs/linted",
    severity="critical",
    why="That line fails with a NameError when it runs.",
    fix="Bring the definition back, or change what still uses it.",
)


def find(file: ChangedFile, undefined: Iterable[Diagnostic]) -> Iterator[Finding]:
    """A finding for each name that was defined on a removed line and is undefined elsewhere now.

    `undefined` is what the linter says of the whole new file. The old text is parsed only where a
    name that is undefined now stands on a removed line.
    """
    left = [(one, name) for one in undefined if (name := _name(one)) and not file.touches(one.line)]
    removed = "\n".join(file.removed.values())
    first: dict[str, Diagnostic] = {}
    for one, name in left:
        if name in removed and not given(file, name):
            first.setdefault(name, one)
    if not first or file.base_tree is None:
        return
    # What the linter did not understand before the change it does not understand now.
    before = {_name(one) for one in check([file.base_file], select=["F821"], target="py314")}
    defined = {
        name: line
        for name, line in _definitions(file.base_tree)
        if name in first and name not in before and line in file.removed
    }
    for name, line in defined.items():
        hunk = next((one for one in file.hunks if _has(one, line)), None)
        if hunk is not None:
            yield RULE.finding(
                file,
                hunk.new_line,
                message=f"`{name}` is not defined here any more, but line {first[name].line} of "
                "this file still uses it.",
                evidence=file.removed[line].strip(),
            )


def _has(hunk: Hunk, line: int) -> bool:
    return hunk.old_start <= line < hunk.old_start + hunk.old_count


def _name(one: Diagnostic) -> str:
    parts = one.message.split("`", 2)
    return parts[1] if one.code == "F821" and len(parts) > 2 else ""


def _definitions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(name, line) of everything that gives a name a meaning."""
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    yield alias.asname or alias.name.split(".", 1)[0], alias.lineno
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.arg():
                yield node.arg, node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case _:
                pass
