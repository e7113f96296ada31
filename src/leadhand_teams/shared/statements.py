"""What a model adds to a draft, and whether its citations hold. Pure."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from leadhand.tools.text import counted
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import Text

MIN_QUOTE_CHARS: Final = 12
_QUOTES: Final = str.maketrans("“”„«»‘’‚`´", "\"\"\"\"\"'''''")
_ADDRESS: Final = re.compile(r"https?://[^\s<>()\[\]\"']+|\bwww\.[^\s<>()\[\]\"']+", re.IGNORECASE)
_WORDS: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_WORD: Final = re.compile(rf"\b(?:{_WORDS})\b", re.IGNORECASE)
_SPELLED: Final = re.compile(
    rf"{_WORD.pattern}(?=\s+(?:\(\d+\)\s+)?(?:hour|day|week|month|quarter|year|per ?cent))",
    re.IGNORECASE,
)
_MARKDOWN_LINK: Final = re.compile(r"!?\[([^\]]*)\]\(([^)]*)\)")


class Statement(BaseModel):
    """A sentence and where it comes from."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(max_length=2_000)
    """What is stated."""
    ref: str = Field(max_length=400)
    """The place, as the material gave it."""
    quote: str = Field(max_length=2_000)
    """The words of the source, verbatim."""


class Added(BaseModel):
    """What a model adds to what code has found."""

    model_config = ConfigDict(frozen=True)

    statements: tuple[Statement, ...] = Field(default=(), max_length=100)
    """Each with the words of the source that it rests on."""


class RemovedStatement(NamedTuple):
    """A statement that was left out."""

    statement: Statement
    why: str


class Checked(NamedTuple):
    """The statements whose citations hold, and the others."""

    kept: tuple[Statement, ...]
    removed: tuple[RemovedStatement, ...]

    @property
    def note(self) -> str:
        """What to say about those that were left out; empty if there are none."""
        count = counted(len(self.removed), "statement")
        said = f"{count} of the model left out, because the citation does not hold."
        return said if self.removed else ""


def check(
    statements: Iterable[Statement],
    texts: Sequence[Text],
    *,
    computed: Iterable[float] = (),
    allows: Callable[[Statement], str | None] | None = None,
) -> Checked:
    """Keep the statements whose quote is in the text that `ref` names.

    Numbers in a statement, also periods in words ("two years"), must be in its quote, or among
    those that code `computed`; addresses must be in the texts. `ref` becomes the place where the
    quote is. `allows` may give another reason against a statement.
    """
    kept: list[Statement] = []
    removed: list[RemovedStatement] = []
    known = [round(value, 6) for value in computed]
    for statement in statements:
        place, why = _place(statement, texts)
        why = why or _wrong_number(statement, known) or _unknown_address(statement, texts)
        why = why or (allows(statement) if allows else None)
        if any(statement.text == one.text for one in kept):
            why = why or "it says the same as another one"
        if why:
            removed.append(RemovedStatement(statement, why))
        else:
            kept.append(statement.model_copy(update={"ref": place}))
    return Checked(tuple(kept), tuple(removed))


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where `quote` is in `text`, whatever the spaces and the form of quotation marks."""
    words = quote.translate(_QUOTES).strip(' ."\n').split()
    pattern = r"\s+".join(map(re.escape, words))
    found = re.search(pattern, text.translate(_QUOTES), re.IGNORECASE) if words else None
    return found.span() if found else None


def _place(statement: Statement, texts: Sequence[Text]) -> tuple[str, str | None]:
    if len(statement.quote.strip()) < MIN_QUOTE_CHARS:
        return "", "the quote is too short to be checked"
    wanted = statement.ref.strip().strip("[]")
    named = [one for one in texts if _is_named(one, wanted)]
    for text in named:
        if span := find_quote(statement.quote, text.text):
            return text.ref(span[0]), None
    if not named:
        return "", "there is no such source"
    return "", "the source does not have these words"


def _is_named(text: Text, ref: str) -> bool:
    if text.id is not None:
        return ref == text.id
    rest = ref.removeprefix(text.name)
    return rest != ref and (not rest or rest[0] in "!:#, ")


def _wrong_number(statement: Statement, computed: Sequence[float]) -> str | None:
    said, quote = _SPELLED.sub(_digits, statement.text), _WORD.sub(_digits, statement.quote)
    quoted = {round(one.value, 6) for one in values.amounts(quote)}
    for one in values.amounts(said):
        value = round(one.value, 6)
        is_computed = any(abs(value - other) <= _slack(one.text, other) for other in computed)
        text = one.text.strip()
        is_written = re.search(rf"(?<![\d.,]){re.escape(text)}(?![.,]?\d)", quote)
        if value not in quoted and not is_written and not is_computed:
            return f"{text} is neither in the quote nor computed"
    return None


def _digits(word: re.Match[str]) -> str:
    return str(re.split(r"\|", _WORDS).index(word[0].casefold()) + 1)


def _slack(text: str, value: float) -> float:
    """How far a rounded number may be from the one that was computed."""
    decimals = len(text.rpartition(".")[2].rstrip(" %")) if "." in text else 0
    return 0.5000001 * 10**-decimals if abs(value) < 1e6 else abs(value) * 5e-3


def _unknown_address(statement: Statement, texts: Sequence[Text]) -> str | None:
    links = [found[2] for found in _MARKDOWN_LINK.finditer(statement.text)]
    addresses = [*_ADDRESS.findall(statement.text), *filter(None, links)]
    for address in addresses:
        if not any(address.rstrip(".,;") in text.text for text in texts):
            return "its address is in no source"
    return None
