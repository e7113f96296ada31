"""The typed answer of the team `contracts`."""

import re
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


class ContractSides(_Model):
    """For whom a contract is read, and the words by which it means that side and the other."""

    reader: str = ""
    """A side of the playbook."""
    ours: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()

    def filled(self, patterns: Iterable[str | None]) -> list[str]:
        """Patterns with the words for {we} and {they}; none of those whose words are unknown."""
        we, they = ("|".join(map(re.escape, names)) for names in (self.ours, self.theirs))
        known = bool(we and they)
        return [
            one.replace("{we}", we).replace("{they}", they)
            for one in patterns
            if one and (known or not re.search(r"\{(we|they)\}", one))
        ]


class ReadContract(_Model):
    file: str
    title: str
    kind: Literal["nda", "services", "other"]
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

    @property
    def ref(self) -> str | None:
        """The place of its first quote; None if the contract does not mention it."""
        return self.quotes[0].ref if self.quotes and self.verdict != "not_mentioned" else None


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

    @property
    def ref(self) -> str:
        """Both places."""
        return " → ".join(filter(None, (self.ref_before, self.ref_after)))


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


def kinds_of(changes: Iterable[VersionChange]) -> str:
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
