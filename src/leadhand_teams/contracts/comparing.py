"""Compares two versions of a contract: what was added, dropped, loosened or tightened."""

import re
from collections import Counter
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from leadhand_teams.contracts.clauses import FRONT, find
from leadhand_teams.contracts.documents import Contract
from leadhand_teams.contracts.limits import tightened
from leadhand_teams.contracts.output import Clause, VersionChange, quote
from leadhand_teams.contracts.passages import ContractPassage
from leadhand_teams.contracts.wording import wording

SAME = 60.0
"""From this similarity on, of 100, two passages are versions of one another."""
MIN_CHARACTERS = 25
_LOOSER_IF_MORE = frozenset({"Cap On Liability", "License Grant"})
"""Categories whose limits bind less if they rise."""
_NUMBERING = re.compile(r"^\W*(?:section|article|clause)?\s*(?:[\d.]+|\(?[a-z])[.)\s]\s*")


def compare(before: Contract, after: Contract) -> tuple[VersionChange, ...]:
    """What differs in `after`, in its order, then what `before` alone has."""
    old, new = _passages(before), _passages(after)
    known_old, known_new = {_key(one) for one in old}, {_key(one) for one in new}
    old = [one for one in old if _key(one) not in known_new]
    new = [one for one in new if _key(one) not in known_old]
    pairs = _pairs(old, new)
    earlier, later = find(before), find(after)
    changes = [_change(before, pairs.get(one), after, one, later) for one in new]
    kept = set(pairs.values())
    changes += [_change(before, one, after, None, earlier) for one in old if one not in kept]
    return tuple(changes)


def _change(
    before: Contract,
    old: ContractPassage | None,
    after: Contract,
    new: ContractPassage | None,
    clauses: Sequence[Clause],
) -> VersionChange:
    passage = new or old
    category = _category(passage, clauses) if passage else ""
    kind, why = "added" if new else "dropped", ""
    if old and new:
        score, why = direction(category, old.text, new.text)
        kind = "tightened" if score > 0 else "loosened" if score < 0 else "reworded"
    return VersionChange(
        contract=after.text.name,
        category=category,
        kind=kind,
        before=old.text if old else None,
        after=new.text if new else None,
        ref_before=quote(before.text, old).ref if old else None,
        ref_after=quote(after.text, new).ref if new else None,
        why=why,
    )


def direction(category: str, before: str, after: str) -> tuple[int, str]:
    """Above 0 if a passage became tighter for the side that it binds, below 0 if looser; why."""
    moved, why = tightened(before, after, more_is_looser=category in _LOOSER_IF_MORE)
    if wording("mutual").search(before) and not wording("mutual").search(after):
        why = "; ".join(filter(None, (why, "it no longer works for both sides")))
        moved = moved or 1
    if moved:
        return moved, why
    told: list[str] = []
    for name, sign in (("tight", 1), ("loose", -1)):
        old, new = (
            Counter(found.group() for found in wording(name).finditer(text.lower()))
            for text in (before, after)
        )
        moved += sign * (len(new - old) - len(old - new))
        told += [f"“{word}” added" for word in new - old] + [f"“{word}” gone" for word in old - new]
    return moved, "; ".join(told)


def _passages(contract: Contract) -> list[ContractPassage]:
    return [one for one in contract.passages if one.end - one.start >= MIN_CHARACTERS]


def _key(passage: ContractPassage) -> str:
    """The words without numbering, so that a moved or renumbered clause is not a change."""
    return " ".join(re.findall(r"\w+", _NUMBERING.sub("", passage.text.lower())))


def _pairs(
    old: Sequence[ContractPassage], new: Sequence[ContractPassage]
) -> dict[ContractPassage, ContractPassage]:
    """By new passage, the old one that it is a version of; the most similar are paired first."""
    choices = [_key(one) for one in old]
    ranked = [
        (score, i, j)
        for i, one in enumerate(new)
        for _, score, j in process.extract(
            _key(one), choices, scorer=fuzz.token_sort_ratio, score_cutoff=SAME, limit=5
        )
    ]
    pairs: dict[ContractPassage, ContractPassage] = {}
    for _, i, j in sorted(ranked, reverse=True):
        if new[i] not in pairs and old[j] not in pairs.values():
            pairs[new[i]] = old[j]
    return pairs


def _category(passage: ContractPassage, clauses: Sequence[Clause]) -> str:
    """The category of clause that a passage is quoted for, else its heading."""
    for clause in clauses:
        if clause.category not in FRONT and any(q.start == passage.start for q in clause.quotes):
            return clause.category
    return passage.heading or " ".join(passage.text.split()[:5])
