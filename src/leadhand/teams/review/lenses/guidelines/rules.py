"""The rules of the guidelines lens: one for each kind of thing that a document can ask for."""

from typing import get_args

from leadhand.contracts.finding import Severity
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.guidelines.guideline import Kind

_DECLARED: frozenset[Kind] = frozenset(
    {"final-newline", "indentation", "line-length", "quotes", "trailing-whitespace"}
)
_WARNINGS: frozenset[Kind] = frozenset(
    {"banned-import", "banned-name", "bare-except", "print", "wildcard-import", "required-import"}
)
_WHY = "The project asks for it in writing."
_FIXES: dict[Kind, str] = {
    "banned-import": "Import something that the rule allows, or move the code to where it may.",
    "banned-name": "Use what the rule names instead.",
    "bare-except": "Name the exceptions that are expected here.",
    "changelog": "Add a line to the changelog, or say why this change needs none.",
    "docstring": "Add a docstring.",
    "docstring-style": "Rewrite the sections in the declared style.",
    "file-length": "Split the file.",
    "final-newline": "End the file with a line end.",
    "function-length": "Split the function.",
    "import-placement": "Move the import to the top of the file.",
    "indentation": "Indent as declared.",
    "line-length": "Break the line.",
    "naming": "Rename it.",
    "os-path": "Use `pathlib.Path`.",
    "print": "Log it, or remove it.",
    "quotes": "Change the quotes.",
    "relative-import": "Import by the full name of the module.",
    "required-import": "Add the import at the top of the file.",
    "test-location": "Move the tests to the folder that the rule names.",
    "trailing-whitespace": "Remove the blanks at the end of the line.",
    "type-hints": "Annotate the parameters and the return value.",
    "wildcard-import": "Import the names that are used.",
}


def _severity(kind: Kind) -> Severity:
    return "warning" if kind in _WARNINGS else "info"


BY_KIND: dict[Kind, LensRule] = {
    kind: LensRule(
        id=f"guidelines/{kind}",
        family="guidelines/declared-style" if kind in _DECLARED else "guidelines/documents",
        severity=_severity(kind),
        why=_WHY,
        fix=_FIXES[kind],
    )
    for kind in get_args(Kind)
}
