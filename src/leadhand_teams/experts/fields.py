"""Which experts a question is for: by the words of each field, and by a trained router. Pure.

A trained router (`leadhand router train`) is not the last word: its scores and those of the words
are added. Both are on the scale of the router's margins.
"""

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple, Protocol, get_args, runtime_checkable

import yaml

Expert = Literal["legal", "medical", "technical", "financial"]
EXPERTS: tuple[Expert, ...] = get_args(Expert)
OTHER = "other"
"""The field of what is for none of the experts."""

_WEIGHTS = {"sure": 3.0, "likely": 1.5, "faint": 0.5}
_WORDS_SHARE = 0.4
"""What a word's logarithm counts beside a trained router's margin; cross-validated."""
_LEAST = 0.9
"""Words must weigh more than one faint word before an expert is chosen without a trained router."""
_NONE_MARGIN = 0.4
"""Added to a trained router's score for no worker, of which it has few examples."""
_SECOND_SHARE = 0.4
"""A second expert is asked if it has a sure word, and this share of the first one's weight."""
_EVIDENCE = 1.2
"""What a passage that has all of a question counts for the field of its document."""
_MAX_CHARS = 4_000

_WORD = re.compile(r"\w[\w'/+#.&-]*[\w+#]|\w|[$%£€]|/\w+/\w+")
_CODE = re.compile(
    r"\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z][a-z]\w*|\b[A-Z][A-Z]+[a-z]\w+|\w\(\)|\b\w+\.\w{2,}\b"
    r"|\b[vV]?\d+\.\d\d\b|<\w+>|[{}]|::|->|--\w"
)


@runtime_checkable
class Scores(Protocol):
    """A trained router that scores every worker."""

    def candidates(self, text: str, most: int = 3) -> list[tuple[str | None, float]]:
        """The labels with the highest scores."""
        ...


class FieldChoice(NamedTuple):
    """Whom a question is for."""

    expert: Expert | None
    """`None`: it is for none of the experts."""
    secondary: Expert | None
    confidence: float
    """0 to 100."""


@cache
def _vocabulary() -> Mapping[str, Mapping[str, str]]:
    """For each word of the vocabulary how sure it is of each field."""
    text = (files("leadhand_teams.experts") / "vocabulary.yaml").read_text(encoding="utf-8")
    fields: dict[str, dict[str, str]] = yaml.safe_load(text)
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for field, kinds in fields.items():
        for kind in _WEIGHTS:  # the surest first
            for word in kinds[kind].split():
                found[word.replace("_", " ")].setdefault(field, kind)
    return found


def _field_words(text: str) -> dict[str, dict[str, str]]:
    """The words and phrases of a text that belong to a field: field, word, how sure it is."""
    words = _WORD.findall(text[:_MAX_CHARS].lower().replace("’", "'"))
    longest = max(word.count(" ") for word in _vocabulary()) + 1
    units = {
        " ".join(words[at : at + size])
        for size in range(1, longest + 1)
        for at in range(len(words) - size + 1)
    }
    units |= {part for word in words for part in re.split(r"[-/]|'s$", word)}
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for unit in sorted(units):
        last = unit.rfind(" ") + 1  # only the last word of a phrase may be any that begins so
        keys = [unit, *(f"{unit[:end]}*" for end in range(last + 2, len(unit) + 1))]
        if " " not in unit:
            keys += [f"*{unit[start:]}" for start in range(2, len(unit) - 1)]
        for key in keys:
            for field, kind in _vocabulary().get(key, {}).items():
                known = found[field].get(unit, "faint")
                found[field][unit] = max(known, kind, key=_WEIGHTS.__getitem__)
    return found


def weights(text: str) -> dict[str, float]:
    """How much the words of a text speak for each field."""
    found = _field_words(text)
    heavy = {
        field: sum(_WEIGHTS[kind] for kind in found.get(field, {}).values())
        for field in (*EXPERTS, OTHER)
    }
    code = len({*_CODE.findall(text[:_MAX_CHARS])})
    heavy["technical"] += 1.5 * min(code, 3)
    return heavy


def choose(
    text: str, router: object = None, *, evidence: Mapping[Expert, float] | None = None
) -> FieldChoice:
    """The expert for a question, and the second one where it is for two.

    `router` is a team's trained router, or `None`; `evidence` says for each field how well a
    document of it answers, 0 to 1.
    """
    heavy, trained = weights(text), dict[str | None, float]()
    if isinstance(router, Scores):
        trained = dict(router.candidates(text, len(EXPERTS) + 1))
        trained[OTHER] = trained.pop(None, -1.0) + _NONE_MARGIN
    least = heavy if trained else {**heavy, OTHER: max(heavy[OTHER], _LEAST)}
    scores = {
        field: _WORDS_SHARE * math.log1p(weight) + trained.get(field, 0.0)
        for field, weight in least.items()
    }
    for field, share in (evidence or {}).items():
        scores[field] += _EVIDENCE * share
    first, second = sorted(scores, key=scores.__getitem__, reverse=True)[:2]
    margin = scores[first] - scores[second]
    log_odds = 5.5 * margin - 0.7 if trained else 4.7 * margin + 0.25
    confidence = 100 / (1 + math.exp(-log_odds))
    if first == OTHER:
        return FieldChoice(None, None, confidence)
    one, two = sorted(EXPERTS, key=lambda expert: (expert != first, -heavy[expert]))[:2]
    is_sure = "sure" in _field_words(text).get(two, {}).values()
    asks_both = is_sure and heavy[two] >= _SECOND_SHARE * heavy[one]
    return FieldChoice(one, two if asks_both else None, confidence)
