"""Tells which findings are the same problem, and makes one of them.

Only compares what findings say; it reads no code and judges no severity of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from rapidfuzz import fuzz

from leadhand.contracts.finding import Finding, Severity

SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
"""From the most to the least severe."""

_SIMILAR = 75.0
"""`token_sort_ratio` (0 to 100) from which two messages about the same quote say the same."""
_BLOCK = 32
_REACH = 256
"""Lines from its first one within which a finding is compared with others: keeps the work linear
in the number of findings, whatever ranges they claim."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A finding and the lens that saw it."""

    lens: str
    finding: Finding


class SameRule:
    """Maps each rule to one name for all rules that mean the same problem."""

    def __init__(self, equivalent: Iterable[AbstractSet[str]] = ()) -> None:
        names: dict[str, str] = {}
        for rules in equivalent:
            for rule in rules:
                names[rule] = min(rules)
        self._names: Mapping[str, str] = names

    def __call__(self, rule: str) -> str:
        return self._names.get(rule, rule)


def strength(sighting: Sighting) -> tuple[object, ...]:
    """Sort key: the surest first, then the most severe; total, so that order never matters."""
    finding = sighting.finding
    return (
        -finding.confidence,
        SEVERITIES.index(finding.severity),
        finding.path,
        finding.line,
        finding.end_line,
        finding.rule,
        sighting.lens,
        finding.message,
        finding.evidence,
        finding.suggestion,
    )


def merge(sightings: Iterable[Sighting], *, same_rule: SameRule) -> list[Finding]:
    """One finding for each problem, naming every lens that saw it, the surest lens first.

    Of the same problem the surest sighting is kept, at the highest severity that any lens gave it.
    The result does not depend on the order of `sightings`.
    """
    groups: list[list[Sighting]] = []
    near: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for sighting in sorted(sightings, key=strength):
        candidates = {i for block in _blocks(sighting.finding) for i in near.get(block, ())}
        for i in sorted(candidates):
            if _same(groups[i][0], sighting, same_rule):
                groups[i].append(sighting)
                break
        else:
            for block in _blocks(sighting.finding):
                near[block].append(len(groups))
            groups.append([sighting])
    return [_merged(group) for group in groups]


def _blocks(finding: Finding) -> Iterator[tuple[str, int]]:
    last = min(finding.end_line, finding.line + _REACH)
    for block in range(finding.line // _BLOCK, last // _BLOCK + 1):
        yield finding.path, block


def _same(kept: Sighting, other: Sighting, same_rule: SameRule) -> bool:
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
    quoted = " ".join(a.evidence.split()) == " ".join(b.evidence.split())
    return quoted and fuzz.token_sort_ratio(a.message, b.message) >= _SIMILAR


def _merged(group: Sequence[Sighting]) -> Finding:
    kept = group[0].finding
    return kept.model_copy(
        update={
            "severity": min((s.finding.severity for s in group), key=SEVERITIES.index),
            "lenses": tuple(dict.fromkeys(s.lens for s in group)),
        }
    )
