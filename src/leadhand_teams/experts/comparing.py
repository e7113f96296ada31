"""Where documents contradict each other. Pure."""

from collections.abc import Iterator

from leadhand_teams.experts.finding import FoundAnswer
from leadhand_teams.experts.output import Disagreement
from leadhand_teams.experts.sentences import KnownLines, QuotableLine
from leadhand_teams.experts.words import digits, pattern, shared_part
from leadhand_teams.shared import values


def disagreements(found: FoundAnswer, known: KnownLines) -> Iterator[Disagreement]:
    """The best sentence against those of other documents on the same."""
    best = found.near[0]
    # It must have all names of the question that the best one has, and what that says itself.
    names = {one for one, place in best.places.items() if one.is_name or place.name != "top"}
    seen = {best.sentence.file}
    for other in found.near[1:]:
        one, two = best.sentence, other.sentence
        if two.file in seen or not names <= other.places.keys() or one.title or two.title:
            continue
        if what := _difference(found.kind, one.quote, two.quote):
            seen.add(two.file)
            mine, theirs = (pattern("special").search(of.quote) for of in (one, two))
            case = f"for “{theirs[0]}”, " if theirs and not mine else ""
            yield _judged(f"{case}{what}", one, two, known)


def _difference(kind: str, one: str, two: str) -> str:
    """In what two sentences on the same differ; empty if they do not."""
    if shared_part(one, two) < 0.5:
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
    for new, old in ((one, two), (two, one)):
        by, why = known.replaced.get(old.file, ("", ""))
        if by == new.file:
            return Disagreement(what=what, one=new, other=old, settled=True, why=why)
    says = pattern("prevails").search
    claims = {s.file: s for s in reversed(known.sentences) if says(s.quote)}
    claim = claims.get(one.file) or claims.get(two.file)
    if claim and {one.file, two.file} - claims.keys():
        one, two = (one, two) if claim.file == one.file else (two, one)
        why = f"{claim.file} says so: “{claim.quote}” ({claim.ref})"
        return Disagreement(what=what, one=one, other=two, settled=True, why=why)
    why = "Neither document says that it replaces the other."
    return Disagreement(what=what, one=one, other=two, why=why)
