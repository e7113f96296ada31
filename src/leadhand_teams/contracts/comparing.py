"""Compares two versions of a contract: what was added, dropped, loosened or tightened."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from rapidfuzz import fuzz, process

from leadhand_teams.contracts.clauses import categories, clause, limits_of
from leadhand_teams.contracts.documents import Contract, ContractPassage
from leadhand_teams.contracts.output import VersionChange
from leadhand_teams.contracts.wording import wording

SAME = 60.0
"""From this similarity on, of 100, two passages are versions of one another."""
_LOOSER_IF_MORE = ("Cap On Liability", "License Grant")
"""Categories whose limits bind less if they rise."""
_NUMBERING = re.compile(r"^\W*(?:section|article|clause)?\s*(?:[\d.]+|\(?[a-z])[.)\s]\s*")


def compare(before: Contract, after: Contract) -> list[VersionChange]:
    """What differs in `after`, in its order, then what `before` alone has."""
    known_old, known_new = ({_key(one) for one in each.passages} for each in (before, after))
    old = [one for one in before.passages if _key(one) not in known_new]
    new = [one for one in after.passages if _key(one) not in known_old]
    pairs = _pairs(old, new)
    found: list[tuple[ContractPassage | None, ContractPassage | None]] = []
    found += [(pairs.get(one), one) for one in new]
    found += [(one, None) for one in old if one not in pairs.values()]
    changes: list[VersionChange] = []
    for one, other in found:
        category = _category(after, other) or _category(before, one)
        kind, why = "added" if other else "dropped", ""
        if one and other:
            kind, why = direction(one.text, other.text, category)
        changes.append(
            VersionChange(
                contract=after.text.name,
                quotes=tuple(filter(None, (one, other))),
                category=category,
                kind=kind,
                before=one and one.text,
                after=other and other.text,
                why=why,
            )
        )
    return changes


def direction(
    before: str, after: str, category: str = ""
) -> tuple[Literal["tightened", "loosened", "reworded"], str]:
    """Say whether a wording binds more or less than an earlier one, and by which limit or word.

    Args:
        before: The earlier wording.
        after: The later wording.
        category: The category of the clause, if it has one.
    """
    moved, why = _limits_moved(before, after, more_is_looser=category in _LOOSER_IF_MORE)
    if wording("mutual").search(before) and not wording("mutual").search(after):
        why.append("it no longer works for both sides")
        moved = moved or 1
    if not moved:
        for name, sign in (("tight", 1), ("loose", -1)):
            old, new = (
                Counter(found.group() for found in wording(name).finditer(text.lower()))
                for text in (before, after)
            )
            moved += sign * (len(new - old) - len(old - new))
            why += [f"“{word}” added" for word in new - old]
            why += [f"“{word}” gone" for word in old - new]
    kind = "tightened" if moved > 0 else "loosened" if moved < 0 else "reworded"
    return kind, "; ".join(why)


def _limits_moved(before: str, after: str, *, more_is_looser: bool) -> tuple[int, list[str]]:
    """Whether limits bind more (above 0) or less (below 0), and which changed.

    The most that is allowed binds more if it falls, other limits if they rise, unless
    `more_is_looser`. Limits of one kind are compared if there are as many as before.
    """
    moved, why = 0, list[str]()
    for kind in ("period", "money", "percent"):
        was, now = (limits_of(kind, "", text) for text in (before, after))
        for one, other in zip(was, now, strict=True) if len(was) == len(now) else ():
            if one.value != other.value:
                words = after[max(0, other.start - 80) : other.start]
                is_least = wording("at_least").search(words) is not None
                is_most = wording("at_most").search(words) or (more_is_looser and not is_least)
                moved += -1 if (other.value > one.value) == bool(is_most) else 1
                why.append(f"{one.text} became {other.text}")
    return moved, why


def _key(passage: ContractPassage) -> str:
    """The words without numbering, so that a moved or renumbered clause is not a change."""
    return " ".join(re.findall(r"\w+", _NUMBERING.sub("", passage.plain)))


def _pairs(
    old: Sequence[ContractPassage], new: Sequence[ContractPassage]
) -> dict[ContractPassage, ContractPassage]:
    """By new passage, the old one that it is a version of; the most similar are paired first."""
    keys = {one: _key(one) for one in old}
    alike: list[tuple[float, ContractPassage, ContractPassage]] = []
    for one in new:
        scored = process.extract(
            _key(one), keys, scorer=fuzz.token_sort_ratio, score_cutoff=SAME, limit=5
        )
        alike += [(score, one, other) for _, score, other in scored]
    pairs: dict[ContractPassage, ContractPassage] = {}
    for _, one, other in sorted(alike, key=lambda found: -found[0]):
        if one not in pairs and other not in pairs.values():
            pairs[one] = other
    return pairs


def _category(contract: Contract, passage: ContractPassage | None) -> str:
    """The category of clause that a passage is quoted for, else its heading."""
    if passage is None:
        return ""
    for name, one in categories().items():
        quotes = clause(contract, name).quotes if not one.in_front else ()
        if any(quote.start == passage.start for quote in quotes):
            return name
    return passage.heading or " ".join(passage.text.split()[:5])
