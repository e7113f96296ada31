"""Names for findings that stay the same while the code around them moves.

Line numbers are left out on purpose: a push that adds ten lines at the top of a file must not make
old findings look new. What is hashed is where (path), what (rule) and the quoted code without its
white space; twins in one file are told apart by their order. A model names a problem otherwise each
time, so what it finds goes by its category in place of a rule.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable

from leadhand.contracts.finding import Finding

_DIGITS = 16


def fingerprint(path: str, rule: str, evidence: str, ordinal: int) -> str:
    """16 hex digits over path, rule, evidence without regard to white space, and `ordinal`.

    `ordinal` counts from 0 among findings that are equal in the other three.
    """
    parts = json.dumps([path, rule, " ".join(evidence.split()), ordinal])
    return hashlib.sha256(parts.encode("ascii")).hexdigest()[:_DIGITS]


def fingerprints(findings: Iterable[Finding], *, same_rule: Callable[[str], str]) -> list[str]:
    """The fingerprint of each finding, in the order given.

    `same_rule` maps a rule to the name that its equals share, so that the id does not depend on
    which of two lenses was the surer one. Twins are counted down the file, whatever the order.
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
