"""What the research team answers."""

from pydantic import BaseModel, ConfigDict

_FROZEN = ConfigDict(frozen=True)


class CitedWords(BaseModel):
    """The words of a source, and their place."""

    model_config = _FROZEN

    ref: str
    """`file:line`, `file!page`, `file#sheet:row` or an id."""
    quote: str


class FigureTable(BaseModel):
    """The figures behind an answer."""

    model_config = _FROZEN

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class ResearchFinding(BaseModel):
    """What the tables, or the texts, answer to a question."""

    model_config = _FROZEN

    sentence: str = ""
    """Plain text; empty if they have no answer."""
    value: float | str | None = None
    unit: str | None = None
    citations: tuple[CitedWords, ...] = ()
    sql: str = ""
    figures: FigureTable | None = None
    subjects: tuple[str, ...] = ()
    """The groups that the answer is about, to look up in texts."""
    doubts: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()
    """What no row or passage has."""
    unknown: tuple[str, ...] = ()
    """Words of the question that are nowhere in the tables, or texts."""
    notes: tuple[str, ...] = ()
    """How the tables were read."""
    unread: tuple[str, ...] = ()
    also: tuple[CitedWords, ...] = ()
    """What else is said on it."""


class ResearchAnswer(BaseModel):
    """The direct answer to a question over files."""

    model_config = _FROZEN

    answer: str
    """One or two sentences, plain text."""
    answered: bool
    value: float | str | None = None
    unit: str | None = None
    citations: tuple[CitedWords, ...] = ()
    doubts: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()
    """What the question names and no file has."""
    sql: str | None = None
    """The query that computed it."""
    figures: FigureTable | None = None
    also: tuple[CitedWords, ...] = ()
    notes: tuple[str, ...] = ()
    """How the tables were read."""
    unread: tuple[str, ...] = ()
    added: tuple[CitedWords, ...] = ()
    """Statements of a model, with `quote` as the words they rest on; `ref` is checked."""
