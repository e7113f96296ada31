"""What the research team answers."""

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


class ResearchFinding(_Frozen):
    """What the tables, or the texts, answer to a question."""

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
    conflicts: tuple[str, ...] = ()
    """Places that give other answers."""
    not_found: tuple[str, ...] = ()
    """What no row or passage has."""
    is_known: bool = False
    """Whether a table has the figure that is asked for, but not of these rows."""
    nowhere: tuple[str, ...] = ()
    """Words of the question that are in no file."""
    notes: tuple[str, ...] = ()
    """How the tables were read."""
    unread: tuple[str, ...] = ()


class ResearchAnswer(_Frozen):
    """The direct answer to a question over files."""

    answer: str
    """One or two sentences, plain text."""
    answered: bool
    value: float | str | None = None
    unit: str | None = None
    citations: tuple[CitedWords, ...] = ()
    doubts: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()
    """What the question names and no file has."""
    not_answered: tuple[str, ...] = ()
    """Further questions of the request."""
    sql: str | None = None
    """The query that computed it."""
    figures: FigureTable | None = None
    also: tuple[CitedWords, ...] = ()
    notes: tuple[str, ...] = ()
    """How the tables were read."""
    unread: tuple[str, ...] = ()
    added: tuple[CitedWords, ...] = ()
    """Statements of a model, with `quote` as the words they rest on; `ref` is checked."""
