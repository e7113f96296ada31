"""Collects the problems of a team's folder with file and line, and suggests what was meant."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from rapidfuzz import fuzz, process

from leadhand.errors import InputError


class FileLine(NamedTuple):
    file: str
    line: int
    """From 1; 0 is the file as a whole."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(slots=True)
class Notes:
    """Collects problems, which keep a team from working, and warnings, which don't."""

    _problems: list[tuple[FileLine, str]] = field(default_factory=list[tuple[FileLine, str]])
    _warnings: list[tuple[FileLine, str]] = field(default_factory=list[tuple[FileLine, str]])

    def problem(self, place: FileLine, text: str) -> None:
        self._problems.append((place, text))

    def warn(self, place: FileLine, text: str) -> None:
        self._warnings.append((place, text))

    @contextmanager
    def problems_at(self, place: FileLine) -> Generator[None]:
        try:
            yield
        except InputError as error:
            self.problem(place, str(error))

    @property
    def problems(self) -> tuple[str, ...]:
        """As `file:line: text`, in the order of files and lines."""
        return _lines(self._problems)

    @property
    def warnings(self) -> tuple[str, ...]:
        """As `file:line: text`, in the order of files and lines."""
        return _lines(self._warnings)


def _lines(notes: Iterable[tuple[FileLine, str]]) -> tuple[str, ...]:
    # A value behind a YAML alias is checked, and so noted, more than once.
    ordered = sorted(dict.fromkeys(notes), key=lambda note: note[0])
    return tuple(f"{place}: {text}" for place, text in ordered)


def closest(name: str, known: Iterable[str]) -> str | None:
    found = process.extractOne(name, list(known), score_cutoff=70)
    return found[0] if found else None


def intended_name(name: str, known: Iterable[str], *, min_similarity: int = 88) -> str | None:
    """The one of `known` that `name` misspells; 88 of 100 is about one wrong letter."""
    found = process.extractOne(name, list(known), scorer=fuzz.ratio, score_cutoff=min_similarity)
    return found[0] if found and found[0] != name else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """What to write instead of `name`: the closest of `known`, else the first ten of them."""
    choices = list(known)
    guess = closest(name, choices)
    if guess is not None:
        return f"did you mean {guess!r}?"
    return f"it has {', '.join(choices[:10])}" + (" and more" if len(choices) > 10 else "")
