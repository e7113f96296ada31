"""Terms of a contract that are unlimited or one-sided against the reader."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, TypeAdapter

from leadhand_teams.contracts.documents import Contract
from leadhand_teams.contracts.output import PartySides, Risk, quote
from leadhand_teams.contracts.wording import packaged


class _Term(BaseModel):
    title: str
    words: tuple[str, ...]
    unless: str | None = None
    mutual: str | None = None
    payer: bool = False
    """Whether it is against the side that pays only."""
    question: str


def one_sided(contract: Contract, sides: PartySides) -> Iterator[Risk]:
    """The terms against the reader, at most one of each kind."""
    if not sides.ours or not sides.theirs:
        return

    def matches(pattern: str | None, text: str) -> bool:
        we, they = ("|".join(map(re.escape, names)) for names in (sides.ours, sides.theirs))
        filled = (pattern or "").replace("{we}", we).replace("{they}", they)
        return bool(filled and re.search(filled, " ".join(text.split()), re.IGNORECASE))

    terms = TypeAdapter(dict[str, _Term]).validate_python(packaged("onesided.yaml"))
    for name, term in terms.items():
        if term.payer and not sides.pays:
            continue
        if any(matches(term.mutual, one.text) for one in contract.passages):
            continue
        for one in contract.passages:
            found = any(matches(words, one.text) for words in term.words)
            if found and not matches(term.unless, one.text):
                quoted = quote(contract.text, one)
                yield Risk(
                    contract=contract.text.name,
                    title=term.title.replace("{side}", sides.ours[0]),
                    severity="high",
                    ref=quoted.ref,
                    question=term.question,
                    quote=quoted,
                    basis=name,
                )
                break


def sides_of(
    side: str, words: Mapping[str, Sequence[str]], named: Sequence[str], others: Sequence[str]
) -> PartySides:
    """The words for the reader and for the other side, with the names of parties."""
    ours = (side, *words.get(side, ()), *named)
    theirs = [word for other, more in words.items() if other != side for word in (other, *more)]
    return PartySides(
        ours=ours,
        theirs=tuple(one for one in (*theirs, *others) if one not in ours),
        pays=side == "customer",
    )
