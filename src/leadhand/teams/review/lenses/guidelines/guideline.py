"""A rule of the reviewed project in a form that code can check."""

from dataclasses import dataclass
from typing import Literal, get_args

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.guidelines.prose import GuidelineSource

Kind = Literal[
    "banned-import",
    "banned-name",
    "bare-except",
    "changelog",
    "docstring",
    "docstring-style",
    "file-length",
    "final-newline",
    "function-length",
    "import-placement",
    "indentation",
    "line-length",
    "naming",
    "os-path",
    "print",
    "quotes",
    "relative-import",
    "required-import",
    "test-location",
    "trailing-whitespace",
    "type-hints",
    "wildcard-import",
]


@dataclass(frozen=True, slots=True)
class Guideline:
    """One checkable rule, where it is written, and what it applies to."""

    kind: Kind
    value: str
    """What the rule is about; its meaning depends on `kind`, for example a number or a name."""
    source: GuidelineSource
    folder: str = ""
    """It applies to files below this folder, which ends in `/`; empty for all."""
    within: tuple[str, ...] = ()
    """Folders that the sentence itself limits it to; empty for no limit."""
    tests_only: bool = False
    soft: bool = False
    """Whether the document recommends it and does not demand it."""
    excluded: tuple[str, ...] = ()
    """Patterns of files that the project's settings exclude."""
    glob: str = ""
    """The pattern of an `.editorconfig` section; empty for all files."""

    @property
    def number(self) -> int:
        """The value of a rule that is about a number."""
        return int(self.value)


_DECLARED: frozenset[Kind] = frozenset(
    {"final-newline", "indentation", "line-length", "quotes", "trailing-whitespace"}
)
_WARNINGS: frozenset[Kind] = frozenset(
    {"banned-import", "banned-name", "bare-except", "print", "wildcard-import", "required-import"}
)
_WHY = "This is one of the project's own rules."
_FIXES: dict[Kind, str] = {
    "banned-import": "Import what the rule allows, or move the code to where it is allowed.",
    "banned-name": "Replace it as the rule says.",
    "bare-except": "Name the exceptions that are expected here.",
    "changelog": "Add a line to the changelog, or say why this change needs none.",
    "docstring": "Add a docstring.",
    "docstring-style": "Rewrite the sections in the declared style.",
    "file-length": "Split the file.",
    "final-newline": "End the file with a newline.",
    "function-length": "Split the function.",
    "import-placement": "Move the import to the top of the file.",
    "indentation": "Use the declared indentation.",
    "line-length": "Split the line.",
    "naming": "Rename it.",
    "os-path": "Use `pathlib.Path`.",
    "print": "Log it, or remove it.",
    "quotes": "Use the declared quotes.",
    "relative-import": "Import by the full name of the module.",
    "required-import": "Add the import at the top of the file.",
    "test-location": "Move the tests to the folder that the rule names.",
    "trailing-whitespace": "Remove the white space at the end of the line.",
    "type-hints": "Annotate the parameters and the return value.",
    "wildcard-import": "Import the names that are used.",
}


BY_KIND: dict[Kind, LensRule] = {
    kind: LensRule(
        id=f"guidelines/{kind}",
        family="guidelines/declared-style" if kind in _DECLARED else "guidelines/documents",
        severity="warning" if kind in _WARNINGS else "info",
        why=_WHY,
        fix=_FIXES[kind],
    )
    for kind in get_args(Kind)
}
