"""What the research team answers."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class CitedWords(_Frozen):
    """The words of a source, and their place."""

    ref: str
    """`file:line`, `file!page`, `file#sheet:row` or an id."""
    quote: str


class FigureTable(_Frozen):
    """The figures behind an answer."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class _Found(_Frozen):
    value: float | str | None = None
    unit: str | None = None
    citations: tuple[CitedWords, ...] = ()
    doubts: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()
    """What the question names and no file has, or no row or passage of them."""
    sql: str | None = None
    """The query that computed it."""
    figures: FigureTable | None = None
    notes: tuple[str, ...] = ()
    """How the tables were read."""
    unread: tuple[str, ...] = ()


class ResearchFinding(_Found):
    """What the tables, or the texts, answer to a question."""

    kind: Literal["answer", "guess", "part", "no rows", "nothing"] = "nothing"
    """`guess`: of a figure that was not named. `part`: without the words in `not_found`. `no rows`:
    a table has the figure that is asked for, but not of these rows, so that no sentence with some
    of the words can be the answer."""
    sentence: str = ""
    """Plain text; empty if they have no answer."""
    subjects: tuple[str, ...] = ()
    """The groups that the answer is about, to look up in texts."""
    conflicts: tuple[str, ...] = ()
    """Places that give other answers."""
    nowhere: tuple[str, ...] = ()
    """Words of the question that are in no file."""
    second: "ResearchFinding | None" = None
    """What they answer to the second question of the request."""


class ResearchAnswer(_Found):
    """The direct answer to a question over files."""

    answer: str
    """One or two sentences, plain text."""
    answered: bool
    not_answered: tuple[str, ...] = ()
    """Further questions of the request."""
    also: tuple[CitedWords, ...] = ()
    added: tuple[CitedWords, ...] = ()
    """Statements of a model, with `quote` as the words they rest on; `ref` is checked."""
