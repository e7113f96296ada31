"""Tells which findings are the same problem, and makes one of them.

Only compares what findings say; it reads no code and judges no severity of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from rapidfuzz import fuzz, utils

from leadhand.contracts.finding import Finding, Severity

SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
"""From the most to the least severe."""

_SIMILAR = 75.0
"""`token_sort_ratio` (0 to 100) from which two messages about the same quote say the same."""
_SIMILAR_IN_ONE_KIND = 63.0
_SIMILAR_IN_OTHERS = 70.0
"""`token_set_ratio` for the same where a model is one of the two: it never says a thing twice in
the same words. In one category less is asked for; too little would lose a finding."""
_BLOCK = 32
_REACH = 256
"""Lines from its first one within which a finding is compared with others: keeps the work linear
in the number of findings, whatever ranges they claim."""


@dataclass(frozen=True, slots=True)
class LensFinding:
    """A finding and the lens that saw it."""

    lens: str
    finding: Finding


class RuleAliases:
    """Maps each rule to one name for all rules that mean the same problem."""

    def __init__(self, equivalent: Iterable[AbstractSet[str]] = ()) -> None:
        names: dict[str, str] = {}
        for rules in equivalent:
            for rule in rules:
                names[rule] = min(rules)
        self._names: Mapping[str, str] = names

    def __call__(self, rule: str) -> str:
        return self._names.get(rule, rule)


def certainty_order(reported: LensFinding) -> tuple[object, ...]:
    """Sort key: the surest first, then the most severe; total, so that order never matters.

    What a model saw comes last: an analyser that saw it too has measured how sure it is.
    """
    finding = reported.finding
    return (
        finding.source == "model",
        -finding.confidence,
        SEVERITIES.index(finding.severity),
        finding.path,
        finding.line,
        finding.end_line,
        finding.rule,
        reported.lens,
        finding.message,
        finding.evidence,
        finding.suggestion,
    )


def merge(
    found: Iterable[LensFinding], *, same_rule: RuleAliases, threshold: int = 0
) -> list[Finding]:
    """One finding for each problem, naming every lens that saw it, the surest lens first.

    Of the same problem the surest sighting is kept, at the highest severity that any lens gave it.
    What a model saw only joins an analyser's finding that reaches `threshold`: below it, what the
    model says has to stand by itself. It makes no analyser's finding surer or more severe.
    The result does not depend on the order of `found`.
    """
    groups: list[list[LensFinding]] = []
    near: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for reported in sorted(found, key=certainty_order):
        candidates = {i for block in _blocks(reported.finding) for i in near.get(block, ())}
        for i in sorted(candidates):
            kept = groups[i][0]
            if not _apart(kept.finding, reported.finding, threshold) and _same(
                kept, reported, same_rule
            ):
                groups[i].append(reported)
                break
        else:
            for block in _blocks(reported.finding):
                near[block].append(len(groups))
            groups.append([reported])
    return [_merged(group) for group in groups]


def _blocks(finding: Finding) -> Iterator[tuple[str, int]]:
    last = min(finding.end_line, finding.line + _REACH)
    for block in range(finding.line // _BLOCK, last // _BLOCK + 1):
        yield finding.path, block


def _apart(kept: Finding, other: Finding, threshold: int) -> bool:
    """Whether `other` is a model's, and `kept` an analyser's that is too unsure to be shown."""
    return kept.source != other.source and kept.confidence < threshold


def _same(kept: LensFinding, other: LensFinding, same_rule: RuleAliases) -> bool:
    a, b = kept.finding, other.finding
    if a.end_line < b.line or b.end_line < a.line:
        return False
    alike = same_rule(a.rule) == same_rule(b.rule)
    if kept.lens == other.lens:
        # One lens saying two things of overlapping lines means two things, unless it repeats
        # itself on the very line.
        return alike and a.line == b.line
    if alike:
        return True
    one, another = " ".join(a.evidence.split()), " ".join(b.evidence.split())
    if a.source == b.source == "analyser":
        return one == another and fuzz.token_sort_ratio(a.message, b.message) >= _SIMILAR
    enough = _SIMILAR_IN_ONE_KIND if a.category == b.category else _SIMILAR_IN_OTHERS
    return (one in another or another in one) and _likeness(a, b) >= enough


def _likeness(a: Finding, b: Finding) -> float:
    """How much of what the two say, in the rule's name and the message, is the same: 0 to 100."""
    names = (finding.rule.partition("/")[2].removeprefix("model-") for finding in (a, b))
    said = (f"{name} {finding.message}" for name, finding in zip(names, (a, b), strict=True))
    one, other = map(utils.default_process, said)
    return fuzz.token_set_ratio(one, other)


def _merged(group: Sequence[LensFinding]) -> Finding:
    kept = group[0].finding
    said = (s.finding.severity for s in group if s.finding.source == kept.source)
    return kept.model_copy(
        update={
            "severity": min(said, key=SEVERITIES.index),
            "lenses": tuple(dict.fromkeys(s.lens for s in group)),
        }
    )
