"""What is wrong with a team's folder: gathered with file and line, so that all is said at once."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from rapidfuzz import fuzz, process


class FileLine(NamedTuple):
    """A line of a file of the team, or the file as a whole: line 0.

    The file is named from the team's folder on.
    """

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(slots=True)
class Notes:
    """Problems, which keep a team from working, and warnings, which don't."""

    _problems: list[tuple[FileLine, str]] = field(default_factory=list[tuple[FileLine, str]])
    _warnings: list[tuple[FileLine, str]] = field(default_factory=list[tuple[FileLine, str]])

    def problem(self, place: FileLine, text: str) -> None:
        """Note what is wrong and how to mend it."""
        self._problems.append((place, text))

    def warn(self, place: FileLine, text: str) -> None:
        """Note what is doubtful and what would be better."""
        self._warnings.append((place, text))

    @property
    def problems(self) -> tuple[str, ...]:
        """Every problem as `file:line: text`, in the order of files and lines."""
        return _lines(self._problems)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Every warning as `file:line: text`, in the order of files and lines."""
        return _lines(self._warnings)


def _lines(notes: Iterable[tuple[FileLine, str]]) -> tuple[str, ...]:
    # Noted twice where a value stands behind a YAML alias: once says it.
    ordered = sorted(dict.fromkeys(notes), key=lambda note: note[0])
    return tuple(f"{place}: {text}" for place, text in ordered)


def near(name: str, known: Iterable[str]) -> str | None:
    """The one of `known` that `name` is most likely a misspelling of, or none."""
    found = process.extractOne(name, list(known), score_cutoff=70)
    return found[0] if found else None


def misspelt(name: str, known: Iterable[str], *, likeness: int = 88) -> str | None:
    """The one of `known` that `name` is a misspelling of, or none.

    `likeness` is from 0 to 100; 88 is about one wrong letter in a short word.
    """
    found = process.extractOne(name, list(known), scorer=fuzz.ratio, score_cutoff=likeness)
    return found[0] if found and found[0] != name else None


def instead(name: str, known: Iterable[str]) -> str:
    """What to write in place of `name`: the nearest of `known`, else the first ten of them."""
    choices = list(known)
    guess = near(name, choices)
    if guess is not None:
        return f"did you mean {guess!r}?"
    return f"it has {', '.join(choices[:10])}" + (" and more" if len(choices) > 10 else "")
