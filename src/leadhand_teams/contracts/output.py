"""The typed answer of the team `contracts`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from leadhand_teams.shared.statements import Statement

Severity = Literal["high", "medium", "low"]
Verdict = Literal["entailed", "contradicted", "not_mentioned"]


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


class ContractFinding(_Model):
    """Something about a contract, with the words that it rests on."""

    contract: str
    quotes: tuple[ContractQuote, ...] = ()

    @property
    def where(self) -> str:
        """The places of its quotes."""
        return " and ".join(dict.fromkeys(one.ref for one in self.quotes))


class Clause(ContractFinding):
    """Its quotes are in the order of the text."""

    category: str
    """As CUAD names it."""
    present: bool
    answer: str | None = None
    """The value that it sets, for example the law; `Yes` if it sets none; None if absent."""


class RuleVerdict(ContractFinding):
    """What a contract says on a rule of a playbook; quotes are the best first.

    Those of `not_mentioned` are the nearest passages.
    """

    rule: str
    category: str | None = None
    """Of the clause that it is about, as CUAD names it."""
    statement: str
    """What the rule expects, or the risk."""
    title: str = ""
    """What to raise with a lawyer, if it is a concern."""
    verdict: Verdict
    concern: bool
    """Whether the verdict is against the reader's side."""
    ref: str | None = None
    """The place of its first quote; None if no version mentions it."""
    why: str = ""
    severity: Severity = "medium"
    question: str = ""


class VersionChange(ContractFinding):
    """What differs between two versions, of which the later is `contract`; quotes are of both."""

    category: str
    """As CUAD names it, else the heading of the section."""
    kind: Literal["added", "dropped", "loosened", "tightened", "reworded"]
    """`reworded`, in the list of that name only: nothing tells a direction."""
    before: str | None = None
    after: str | None = None
    why: str = ""
    """Which limit or word makes it looser or tighter."""


class ContractReview(_Model):
    """What contracts contain, how they stand to a playbook, what to ask, and what changed."""

    problems: tuple[str, ...] = ()
    """What a reader must know before relying on the rest."""
    playbook: str | None = None
    side: str | None = None
    """For whom the contracts were read."""
    clauses: tuple[Clause, ...] = ()
    checks: tuple[RuleVerdict, ...] = ()
    risks: tuple[RuleVerdict, ...] = ()
    """Concerns, the most severe first."""
    compared: tuple[VersionChange, ...] = ()
    reworded: tuple[VersionChange, ...] = ()
    versions: tuple[str, ...] = ()
    """The earlier and the later file that were compared, pair after pair."""
    added: tuple[Statement, ...] = ()
    """Statements of a model whose quotes are in the text."""
    removed: int = 0
    """Statements of a model whose quotes are not."""
