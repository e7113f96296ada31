"""Finds the clauses of a contract by the categories of `categories.yaml`."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from pydantic import BaseModel, ConfigDict, TypeAdapter

from leadhand_teams.contracts.documents import Contract
from leadhand_teams.contracts.output import Clause
from leadhand_teams.contracts.passages import ContractPassage
from leadhand_teams.contracts.recognition import Cues, Recogniser, log_odds, matched
from leadhand_teams.contracts.terms import TermKind, terms
from leadhand_teams.contracts.wording import packaged

MAX_QUOTES = 12
MAX_WORDED = 3
FRONT = 4000
"""The characters at the beginning that parties and dates are read from."""


class Category(BaseModel):
    """A row of `categories.yaml`, which explains the fields, with its trained weights."""

    model_config = ConfigDict(frozen=True)

    cues: tuple[re.Pattern[str], ...] = ()
    value: TermKind | None = None
    near: str = ""
    asked: str = "(?!)"
    in_front: int = 0
    weights: Recogniser | None = None


class _Weights(BaseModel):
    recognisers: Mapping[str, Recogniser]


@cache
def categories() -> Mapping[str, Category]:
    """All categories that can be found, by name."""
    rows = TypeAdapter(dict[str, Category]).validate_python(packaged("categories.yaml"))
    trained = _Weights.model_validate(packaged("weights/clauses.json")).recognisers
    return {
        name: one.model_copy(update={"weights": trained.get(name)}) for name, one in rows.items()
    }


def asked(request: str) -> tuple[str, ...]:
    """The categories that a request names."""
    return tuple(
        name
        for name, one in categories().items()
        if name.lower() in request.lower() or re.search(one.asked, request, re.IGNORECASE)
    )


@lru_cache(maxsize=4096)
def clause(contract: Contract, name: str, words: Cues | None = None) -> Clause:
    """The clause of a category, present or not, with its quotes and its value.

    With `words`, passages that match one of these, or the first cue, count if there is no other.
    """
    category = categories()[name]
    chosen = _chosen(contract, category)
    if not chosen and words is not None:
        cues = words or category.cues[:1]
        chosen = [one for one in contract.passages if matched(one, cues)][:MAX_WORDED]
    found = terms(category.value, category.near, [one.text for one in chosen])
    return Clause(
        contract=contract.text.name,
        category=name,
        present=bool(chosen),
        quotes=tuple(map(contract.quote, chosen)),
        answer="; ".join(found) or "Yes" if chosen else None,
    )


def _chosen(contract: Contract, category: Category) -> list[ContractPassage]:
    weights, cues, every = category.weights, category.cues, contract.passages
    if category.in_front:
        front = (one for one in every if one.start < FRONT and (not cues or matched(one, cues)))
        set_here = [one for one in front if terms(category.value, "", [one.text])]
        return set_here[: category.in_front]
    if weights is None:
        return [one for one in every if matched(one, cues[:1])][:MAX_QUOTES]
    scores = [log_odds(one, weights, cues, least=weights.quote) for one in every]
    ranked = sorted(range(len(every)), key=lambda index: -scores[index])
    if not ranked or scores[ranked[0]] < weights.present:
        return []
    above = [index for index in ranked if scores[index] >= weights.quote][:MAX_QUOTES]
    return [every[index] for index in sorted(above or ranked[:1])]
