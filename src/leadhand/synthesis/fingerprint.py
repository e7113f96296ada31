"""Ids for findings that stay the same when the code around them moves.

Line numbers are not part of an id: a push that adds ten lines at the top of a file must not make
old findings look new. The id is a hash of the path, the rule and the quoted code without white
space; equal findings in one file are distinguished by their order. For a model's finding the
category replaces the rule, because models name a problem differently each time.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable

from leadhand.contracts.finding import Finding

_DIGITS = 16


def fingerprint(path: str, rule: str, evidence: str, ordinal: int) -> str:
    """16 hex digits of a hash of path, rule, evidence without white space, and `ordinal`.

    `ordinal` counts from 0 among findings that are equal in the other three.
    """
    parts = json.dumps([path, rule, " ".join(evidence.split()), ordinal])
    return hashlib.sha256(parts.encode("ascii")).hexdigest()[:_DIGITS]


def fingerprints(findings: Iterable[Finding], *, same_rule: Callable[[str], str]) -> list[str]:
    """The fingerprint of each finding, in the given order.

    `same_rule` maps a rule to the common name of equivalent rules, so that the id does not depend
    on which lens was more confident. Equal findings are counted by line, not in the given order.
    """
    rows = list(findings)
    down_the_file = sorted(range(len(rows)), key=lambda i: (rows[i].line, rows[i].end_line, i))
    seen: Counter[tuple[str, str, str]] = Counter()
    ids = [""] * len(rows)
    for i in down_the_file:
        finding = rows[i]
        by_model = finding.source == "model"
        rule = f"{finding.category}/model" if by_model else same_rule(finding.rule)
        key = (finding.path, rule, " ".join(finding.evidence.split()))
        ids[i] = fingerprint(*key, seen[key])
        seen[key] += 1
    return ids
