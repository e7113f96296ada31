"""Merges findings that are the same problem, by their texts alone. It does not decide severity."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from rapidfuzz import fuzz, utils

from leadhand.contracts.answer import Finding, Place, Severity

SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")
"""From the most to the least severe."""

_SIMILAR = 75.0
"""The least `token_sort_ratio` (0 to 100) of messages about the same quote."""
_SIMILAR_IN_ONE_KIND = 63.0
_SIMILAR_IN_OTHERS = 70.0
"""The least `token_set_ratio` if a model, which words things differently each time, reported
one. Too low would lose findings."""
_BLOCK = 32
_REACH = 256
"""A finding is compared within this many lines, so that the work stays linear in their number."""


@dataclass(frozen=True, slots=True)
class LensFinding:
    lens: str
    finding: Finding


SameRule = Callable[[str], str]
"""Maps each rule to one name for all rules that mean the same problem."""


def same_rules(equivalent: Iterable[AbstractSet[str]] = ()) -> SameRule:
    names = {rule: min(rules) for rules in equivalent for rule in rules}
    return lambda rule: names.get(rule, rule)


def certainty_order(reported: LensFinding) -> tuple[object, ...]:
    """Sort key: the highest confidence, then severity; a total order. Findings of models come
    last, because an analyser's confidence is measured."""
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
    found: Iterable[LensFinding], *, same_rule: SameRule, threshold: int = 0
) -> list[Finding]:
    """One finding for each problem, with every lens that reported it, the most confident first.

    The most confident finding is kept, with the highest severity of all. A model's is merged only
    into an analyser's that reaches `threshold`, or it would be hidden with it; it changes neither
    confidence nor severity. The result does not depend on the order of `found`.
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


def gather_places(findings: Iterable[Finding], rules: AbstractSet[str]) -> list[Finding]:
    """One finding for all hits of one of `rules` with the same quote, with its other `places`."""
    kept: dict[object, list[Finding]] = {}
    for finding in findings:
        key = (finding.rule, " ".join(finding.evidence.split())) if finding.rule in rules else None
        kept.setdefault(key or finding.id, []).append(finding)
    return [_with_places(*same) for same in kept.values()]


def _with_places(first: Finding, *others: Finding) -> Finding:
    places = tuple(
        Place(id=one.id, path=one.path, line=one.line, end_line=one.end_line)
        for one in sorted(others, key=lambda one: (one.path, one.line))
    )
    return first.model_copy(update={"places": places}) if places else first


def _blocks(finding: Finding) -> Iterator[tuple[str, int]]:
    last = min(finding.end_line, finding.line + _REACH)
    for block in range(finding.line // _BLOCK, last // _BLOCK + 1):
        yield finding.path, block


def _apart(kept: Finding, other: Finding, threshold: int) -> bool:
    """Whether `other` is a model's, and `kept` an analyser's below the threshold."""
    return kept.source != other.source and kept.confidence < threshold


def _same(kept: LensFinding, other: LensFinding, same_rule: SameRule) -> bool:
    a, b = kept.finding, other.finding
    if a.end_line < b.line or b.end_line < a.line:
        return False
    alike = same_rule(a.rule) == same_rule(b.rule)
    if kept.lens == other.lens:
        # Two findings of one lens on overlapping lines are two problems, unless they have the same
        # rule and line.
        return alike and a.line == b.line
    if alike:
        return True
    one, another = " ".join(a.evidence.split()), " ".join(b.evidence.split())
    if a.source == b.source == "analyser":
        return one == another and fuzz.token_sort_ratio(a.message, b.message) >= _SIMILAR
    enough = _SIMILAR_IN_ONE_KIND if a.category == b.category else _SIMILAR_IN_OTHERS
    return (one in another or another in one) and _likeness(a, b) >= enough


def _likeness(a: Finding, b: Finding) -> float:
    """How similar the rule names and messages of two findings are, 0 to 100."""
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
