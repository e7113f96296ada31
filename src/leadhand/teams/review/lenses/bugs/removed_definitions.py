"""Names whose definition the change removes, although unchanged lines still use them."""

import ast
from collections.abc import Iterable, Iterator

from leadhand.contracts.finding import Finding
from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.bugs.hits import quoted
from leadhand.teams.review.lenses.bugs.names import may_be_provided
from leadhand.tools.ruff import Diagnostic, check

RULE = LensRule(
    "bugs/definition-removed", "bugs/linted", "critical",
    "That line fails with a NameError when it runs.",
    "Restore the definition, or change the code that still uses it.",
)  # fmt: skip


def find(file: ChangedFile, undefined: Iterable[Diagnostic]) -> Iterator[Finding]:
    """A finding for each name that a removed line defined and an unchanged line still uses.

    `undefined` are the linter's diagnostics of the whole new file. The old text is only parsed if
    a removed line contains a name that is undefined now.
    """
    removed = "\n".join(file.removed.values())
    first: dict[str, Diagnostic] = {}
    for one in undefined:
        name = _name(one)
        unchanged = name and not file.touches(one.line)
        if unchanged and name in removed and not may_be_provided(file, name):
            first.setdefault(name, one)
    if not first or file.base_tree is None:
        return
    # The linter may not understand where a name comes from: then it was undefined before, too.
    before = {_name(one) for one in check([file.base_file], select=["F821"], target="py314")}
    defined = {
        name: line
        for name, line in _definitions(file.base_tree)
        if name in first and name not in before and line in file.removed
    }
    for name, line in defined.items():
        hunk = file.hunk_removing(line)
        if hunk is not None:
            yield RULE.finding(
                file,
                hunk.new_line,
                message=f"`{name}` is no longer defined here, but line {first[name].line} of this "
                "file still uses it.",
                evidence=file.removed[line].strip(),
            )


def _name(one: Diagnostic) -> str:
    return quoted(one) if one.code == "F821" else ""


def _definitions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(name, line) of every definition."""
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
