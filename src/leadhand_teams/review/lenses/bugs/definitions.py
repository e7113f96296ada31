"""Definitions that the change removes although the same file still uses them."""

import ast
from collections.abc import Iterable, Iterator

from leadhand.extension.findings import Finding
from leadhand.tools.ruff import Diagnostic, check
from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.ruff_rules import TARGET
from leadhand_teams.review.ruff_rules.hits import quoted
from leadhand_teams.review.ruff_rules.names import may_be_provided
from leadhand_teams.review.rules import rule
from leadhand_teams.review.syntax import bound_name, line_of

RULE = rule("bugs/definition-removed")


def removed(file: ChangedFile, found: Iterable[Diagnostic]) -> Iterator[Finding]:
    """A finding for each name that a removed line defined and an unchanged line still uses.

    `found` are ruff's diagnostics of the whole new file. The old text is only parsed if a removed
    line contains a name that is undefined now.
    """
    text = "\n".join(file.removed.values())
    first: dict[str, Diagnostic] = {}
    for one in found:
        name = quoted(one) if one.code == "F821" and not file.touches(one.line) else ""
        if name and name in text and not may_be_provided(file, name):
            first.setdefault(name, one)
    if not first or file.base_tree is None:
        return
    # Ruff may not understand where a name comes from: then it was undefined before, too.
    before = {quoted(one) for one in check([file.base_file], select=["F821"], target=TARGET)}
    defined = {
        name: line_of(node)
        for node in ast.walk(file.base_tree)
        for name in (node.arg if isinstance(node, ast.arg) else bound_name(node).split(".", 1)[0],)
        if name in first and name not in before and line_of(node) in file.removed
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
