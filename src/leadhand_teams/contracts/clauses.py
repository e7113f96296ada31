"""Finds the clauses of a contract by CUAD's categories, and the value that each sets."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from pydantic import BaseModel, TypeAdapter

from leadhand_teams.contracts.documents import Contract
from leadhand_teams.contracts.jurisdictions import jurisdictions
from leadhand_teams.contracts.limits import Kind, Limit, limits, nearest
from leadhand_teams.contracts.output import Clause, quote
from leadhand_teams.contracts.passages import ContractPassage
from leadhand_teams.contracts.recognition import Cues, cues_of, log_odds, matched, recognisers
from leadhand_teams.contracts.wording import packaged, wording
from leadhand_teams.shared import values

FRONT = ("Document Name", "Parties", "Agreement Date", "Effective Date")
"""Categories read from the beginning by rules."""
MAX_QUOTES = 12
MAX_WORDED = 3


class _Value(BaseModel):
    kind: Kind | None = None
    near: str | None = None
    asked: str


def categories() -> tuple[str, ...]:
    """All categories that can be found."""
    return (*FRONT, *_cues())


@cache
def _cues() -> Mapping[str, Cues]:
    """The cues of all categories; those of `more_cues.yaml` are in no training."""
    return {**cues_of("cues.yaml"), **cues_of("more_cues.yaml")}


def asked(request: str) -> tuple[str, ...]:
    """The categories that a request names."""
    by_words = [name for name, one in _values().items() if re.search(one.asked, request, re.I)]
    named = [name for name in categories() if name.lower() in request.lower()]
    return tuple(dict.fromkeys((*named, *by_words)))


def find(contract: Contract, wanted: Iterable[str] = ()) -> tuple[Clause, ...]:
    """Each wanted category (none: all), present or not, with its quotes."""
    return tuple(_clause(contract, name) for name in tuple(wanted) or categories())


def by_words(contract: Contract, category: str, words: Sequence[str] = ()) -> Clause:
    """A clause that `find` does not find, from the passages that have its words."""
    clause = find(contract, [category])[0]
    cues = [re.compile(one, re.I) for one in words] or _cues().get(category, ())[:1]
    chosen = [one for one in contract.passages if matched(one, cues)][:MAX_WORDED]
    if clause.present or not chosen:
        return clause
    quotes = tuple(quote(contract.text, one) for one in chosen)
    value = answer(category, [one.text for one in quotes])
    return clause.model_copy(update={"present": True, "quotes": quotes, "answer": value})


@lru_cache(maxsize=4096)
def _clause(contract: Contract, category: str) -> Clause:
    if category in FRONT:
        chosen, value = _front(contract, category)
    else:
        chosen = _chosen(contract, category)
        value = answer(category, [passage.text for passage in chosen])
    return Clause(
        contract=contract.text.name,
        category=category,
        present=bool(chosen),
        quotes=tuple(quote(contract.text, passage) for passage in chosen),
        answer=value if chosen else None,
    )


def _chosen(contract: Contract, category: str) -> list[ContractPassage]:
    cues = _cues()[category]
    weights = recognisers("weights/clauses.json").get(category)
    if weights is None:
        return [one for one in contract.passages if matched(one, cues[:1])][:MAX_QUOTES]
    scores = [log_odds(one, weights, cues, least=weights.quote) for one in contract.passages]
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    if best is None or scores[best] < weights.present:
        return []
    above = [index for index, score in enumerate(scores) if score >= weights.quote] or [best]
    ranked = sorted(above, key=lambda index: -scores[index])[:MAX_QUOTES]
    return [contract.passages[index] for index in sorted(ranked)]


def answer(category: str, quotes: Sequence[str]) -> str:
    """The value that a clause sets, as few words as it takes; `Yes` if there is none to tell."""
    found = [limit.text for one in quotes for limit in value_limits(category, one)]
    if category == "Governing Law":
        found = [name for one in quotes for name in jurisdictions(one)]
    elif category == "Expiration Date":
        ends = [
            date.value.isoformat()
            for one in quotes
            for date in values.dates(one)
            if date.value and wording("ends").search(one[: date.start])
        ]
        perpetual = any(wording("perpetual").search(one) for one in quotes)
        found = (
            ["perpetual"] if perpetual else ends[-1:] or [f"a term of {one}" for one in found[:1]]
        )
    return "; ".join(dict.fromkeys(found[:3])) or "Yes"


def value_limits(category: str, clause: str) -> tuple[Limit, ...]:
    """The limits that are the value of a clause of a category; empty if it has none."""
    value = _values().get(category)
    if value is not None and value.near:
        found = nearest(clause, re.compile(value.near, re.IGNORECASE))
        return (found,) if found is not None else ()
    return tuple(limit for limit in limits(clause) if value and limit.kind == value.kind)


@cache
def _values() -> Mapping[str, _Value]:
    return TypeAdapter(dict[str, _Value]).validate_python(packaged("values.yaml"))


def _front(contract: Contract, category: str) -> tuple[list[ContractPassage], str | None]:
    """What the beginning of a contract says of itself."""
    beginning = [one for one in contract.passages if one.start < 4000]
    if category == "Document Name":
        title = contract.about.title
        start = contract.text.text.find(title)
        return [ContractPassage(title, start, start + len(title), None, "")] * (start >= 0), title
    if category == "Parties":
        found = [(one, _parties(one.text)) for one in beginning]
        names = dict.fromkeys(name for _, parties in found for name in parties)
        return [one for one, parties in found if parties][:4], "; ".join(names)
    for one in beginning:
        dated = [date.value for date in values.dates(one.text) if date.value]
        if dated and (category == "Agreement Date" or wording("effective").search(one.text)):
            return [one], dated[0].isoformat()
    return [], None


def _parties(text: str) -> list[str]:
    return [
        " ".join(f'{match["name"].strip(" ,")} ("{match["short"].strip(" ,")}")'.split())
        for match in wording("party").finditer(text)
        if not wording("no_party").match(match["name"])
        and not wording("no_short_name").match(match["short"].strip(" ,"))
    ]
