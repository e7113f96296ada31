"""Finds the sentences that answer a question, and where documents contradict each other. Pure.

A sentence answers if it has the question's words, those that are rare in the documents above all,
and what the question asks for: an amount, a time, a permission, steps.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from leadhand.tools.files import content_words
from leadhand_teams.experts.fields import Expert
from leadhand_teams.experts.output import Disagreement
from leadhand_teams.experts.sentences import KnownLines, QuotableLine
from leadhand_teams.experts.words import digits, pattern, patterns, same, stems_of
from leadhand_teams.shared import values
from leadhand_teams.shared.search import Index, stem, terms

ANSWERS_FROM: Final = 0.6
"""A sentence answers if it has this share of the question's words, weighed by their rarity."""
FITTING_FROM: Final = 0.5
"""The same if it has the amount or time that is asked for."""
SURE_FROM: Final = 0.75
"""The same if no document has some of the question's words."""
BESIDE_FROM: Final = 0.8
"""Further sentences are quoted if they score this share of the best one."""
MOST_QUOTES: Final = 4
_CANDIDATES: Final = 40
_FITS: Final = 1.35
"""A sentence that has what the question asks for counts this much more."""
_OWN_FIELD: Final = 1.15
"""So does a sentence of a document of the expert's own field."""
_RARE: Final = 3
"""A word in so many sentences at most is what a clause is about."""


class FoundLine(NamedTuple):
    """A sentence that has words of the question."""

    sentence: QuotableLine
    score: float
    share: float
    """Of the question's words, weighed by their rarity; 0 to 1."""


class FoundAnswer(NamedTuple):
    """What the documents say on a question."""

    found: Sequence[FoundLine]
    """Best first."""
    answers: bool
    unknown: Sequence[str]
    """Words of the question that no document has."""
    disagreements: Sequence[Disagreement]


def asked(question: str) -> str:
    """What a question asks for: a key of `asked` in `words.yaml`, or `fact`."""
    return next((kind for kind, one in patterns("asked").items() if one.search(question)), "fact")


def find(question: str, known: KnownLines, expert: Expert | None) -> FoundAnswer:
    """The sentences that answer `question`, best first."""
    kind, items = asked(question), [(same(o.heading), same(o.quote)) for o in known.sentences]
    every = {word for heading, body in items for word in f"{heading} {body}".split()}
    words = [(word, {*same(word).split()}) for word in meant(question) if not word.isdigit()]
    new = [word for word, stems in words if not stems <= every]
    unknown = [word for word in new if stem(word) not in stems_of("generic")]
    words = [(word, stems) for word, stems in words if word in unknown or word not in new]
    found: list[FoundLine] = []
    index = Index(items)
    for hit in index.search(same(" ".join(word for word, _ in words)), _CANDIDATES):
        sentence = known.sentences[hit.item]
        score = hit.score * (0.3 + hit.share) * (_FITS if _fits(kind, sentence) else 1.0)
        own = expert is not None and known.fields.get(sentence.file) == expert
        found.append(FoundLine(sentence, score * (_OWN_FIELD if own else 1.0), hit.share))
    found.sort(key=lambda one: -one.score)
    best = _best(found)
    answers = False
    if best:
        body = {*same(best[0].sentence.quote).split()}
        here = [stems for word, stems in words if word not in new]
        rarity = [sum(map(index.rarity, stems)) for stems in here]
        said = sum(weight for stems, weight in zip(here, rarity, strict=True) if stems & body)
        is_here = best[0].sentence.is_item or said >= 0.4 * sum(rarity)
        is_fit = kind in ("amount", "time") and _fits(kind, best[0].sentence)
        least = SURE_FROM if unknown else FITTING_FROM if is_fit else ANSWERS_FROM
        answers = is_here and best[0].share >= least
        answers = answers and (is_fit or not pattern("quantity").search(question))
        # A clause that forbids subletting answers for a room and a company that it does not name.
        is_clause = expert == "legal" and kind == "permission" and _fits(kind, best[0].sentence)
        rare = bool(here) and sum(here[0] <= {*text.split()} for _, text in items) <= _RARE
        answers = answers or (is_clause and rare and said >= sum(rarity) and words[0][0] not in new)
    disagreements = [*_disagreements(kind, found, known)] if answers else []
    return FoundAnswer(best, answers, unknown, disagreements)


def _fits(kind: str, sentence: QuotableLine) -> bool:
    """Whether a sentence has what is asked for."""
    text = digits(sentence.quote)
    if kind == "amount":
        return re.search(r"\d", text) is not None
    if kind == "time" and (pattern("duration").search(text) or values.periods(text)):
        return True
    fitting = patterns("answers").get(kind)
    return sentence.is_item if kind == "steps" else bool(fitting and fitting.search(text))


def _best(found: Sequence[FoundLine]) -> list[FoundLine]:
    """The first, and further ones that are nearly as good and say something else."""
    kept: list[FoundLine] = []
    for one in found:
        if len(kept) == MOST_QUOTES or one.score < BESIDE_FROM * found[0].score:
            break
        words = {*terms(one.sentence.quote)}
        if all(len(words & {*terms(k.sentence.quote)}) < 0.8 * len(words) for k in kept):
            kept.append(one)
    return kept


def _disagreements(
    kind: str, found: Sequence[FoundLine], known: KnownLines
) -> Iterable[Disagreement]:
    """The best sentence against those of other documents on the same."""
    best = found[0].sentence
    seen = {best.file}
    for other in found[1:]:
        two = other.sentence
        if two.file in seen or other.share < 0.5 * found[0].share or best.title or two.title:
            continue
        if what := _difference(kind, best.quote, two.quote):
            seen.add(two.file)
            yield _judged(what, best, two, known)


def _difference(kind: str, one: str, two: str) -> str:
    """In what two sentences on the same differ; empty if they do not."""
    words = [{*same(text).split()} - stems_of("noise") for text in (one, two)]
    if len(words[0] & words[1]) < 0.5 * min(map(len, words)):
        return ""
    negated = [pattern("negation").search(text) is not None for text in (one, two)]
    if kind == "permission" and negated[0] != negated[1]:
        return "one of them says not"
    first, second = _quantities(one), _quantities(two)
    differing: list[str] = []
    for unit in sorted(first.keys() & second.keys()):
        if not first[unit] & second[unit]:
            said = [", ".join(map(values.number_text, sorted(of[unit]))) for of in (first, second)]
            differing.append(f"{unit}: {said[0]} or {said[1]}")
    return "; ".join(differing)


def _quantities(text: str) -> dict[str, set[float]]:
    """The amounts and durations of a text by their unit."""
    found: dict[str, set[float]] = {}
    for name in ("duration", "measure"):
        for match in pattern(name).finditer(digits(text)):
            if (value := values.number(match["number"])) is not None:
                found.setdefault(match["unit"].lower().rstrip("s"), set()).add(value)
    for amount in values.amounts(text):
        if amount.unit:
            found.setdefault(amount.unit, set()).add(amount.value)
    return found


def _judged(what: str, one: QuotableLine, two: QuotableLine, known: KnownLines) -> Disagreement:
    """The contradiction; settled if exactly one document says that it replaces or rules."""
    says = pattern("prevails").search
    claims = {s.file: s for s in reversed(known.sentences) if says(s.quote)}
    claim = claims.get(one.file) or claims.get(two.file)
    if claim and {one.file, two.file} - claims.keys():
        one, two = (one, two) if claim.file == one.file else (two, one)
        why = f"{claim.file} says so: “{claim.quote}” ({claim.ref})"
        return Disagreement(what=what, one=one, other=two, settled=True, why=why)
    why = "Neither document says that it replaces the other."
    return Disagreement(what=what, one=one, other=two, why=why)


def meant(question: str) -> list[str]:
    """The words of a question that carry its meaning, as written; all words if none do."""
    content = {word.lower() for word in content_words(question)}
    words = [*dict.fromkeys(re.findall(r"[^\W_]+(?:-[^\W_]+)*", question))]
    said = [w for w in words if len(w) > 1 and content & {*w.lower().split("-")}]
    return [word for word in said if stem(word) not in stems_of("noise")] or words
