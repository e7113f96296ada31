"""A rule of the reviewed project in a form that code can check."""

from dataclasses import dataclass
from typing import Literal

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
