"""The typed answer of the team `contracts`."""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict

from leadhand_teams.contracts.passages import ContractPassage
from leadhand_teams.contracts.verdicts import Verdict
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.statements import Statement

Severity = Literal["high", "medium", "low"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class ContractQuote(_Model):
    """Words of a contract: `text` is the file's text from `start` to `end`."""

    text: str
    start: int
    end: int
    ref: str
    """`file#section` where the section is known, else `file!page` or `file:line`."""
    place: str
    """The page or line, also where `ref` is a section."""


class PartySides(_Model):
    """The words by which a contract means the reader's side and the other one."""

    ours: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    pays: bool = False
    """Whether the reader is the side that pays."""


class ReadContract(_Model):
    file: str
    title: str
    kind: Literal["nda", "services", "other"]
    characters: int
    problems: tuple[str, ...] = ()
    """What a reader must know before relying on the rest."""


class Clause(_Model):
    contract: str
    category: str
    """As CUAD names it."""
    present: bool
    quotes: tuple[ContractQuote, ...] = ()
    """In the order of the text."""
    answer: str | None = None
    """The value that it sets, for example the law; `Yes` if it sets none; None if absent."""


class RuleVerdict(_Model):
    """A rule of a playbook and what a contract says on it."""

    contract: str
    rule: str
    statement: str
    verdict: Verdict
    concern: bool
    """Whether the verdict is against the reader's side."""
    quotes: tuple[ContractQuote, ...] = ()
    """Best first; of `not_mentioned`, the nearest passages."""
    why: str = ""
    severity: Severity = "medium"
    question: str = ""
    risk: str = ""
    """What the risk is called where it is not the statement."""


class Risk(_Model):
    contract: str
    title: str
    severity: Severity
    ref: str | None
    """The clause; None if it is missing."""
    question: str
    quote: ContractQuote | None = None
    basis: str
    """The rule that it comes from."""


class VersionChange(_Model):
    contract: str
    category: str
    """As CUAD names it, else the heading of the section."""
    kind: Literal["added", "dropped", "loosened", "tightened", "reworded"]
    """`reworded`, in the list of that name only: nothing tells a direction."""
    before: str | None = None
    after: str | None = None
    ref_before: str | None = None
    ref_after: str | None = None
    why: str = ""
    """Which limit or word makes it looser or tighter."""


class ContractReview(_Model):
    """What contracts contain, how they stand to a playbook, what to ask, and what changed."""

    contracts: tuple[ReadContract, ...] = ()
    playbook: str | None = None
    side: str | None = None
    """For whom the contracts were read."""
    clauses: tuple[Clause, ...] = ()
    checks: tuple[RuleVerdict, ...] = ()
    risks: tuple[Risk, ...] = ()
    compared: tuple[VersionChange, ...] = ()
    reworded: tuple[VersionChange, ...] = ()
    versions: tuple[str, ...] = ()
    """The earlier and the later file that were compared, pair after pair."""
    added: tuple[Statement, ...] = ()
    """Statements of a model whose quotes are in the text."""
    removed: int = 0
    """Statements of a model whose quotes are not."""


def be(count: int) -> str:
    """`is` or `are`."""
    return "is" if count == 1 else "are"


def counted(changes: Iterable[VersionChange]) -> str:
    """How many changes there are of each kind; empty: none."""
    kinds = Counter(one.kind for one in changes)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items())


def quote(text: Text, passage: ContractPassage) -> ContractQuote:
    """A passage of a text, with its place."""
    page = text.page(passage.start)
    place = f"page {page}" if page else f"line {text.line(passage.start)}"
    ref = f"{text.name}#{passage.section}" if passage.section else text.ref(passage.start)
    return ContractQuote(
        text=passage.text, start=passage.start, end=passage.end, ref=ref, place=place
    )
