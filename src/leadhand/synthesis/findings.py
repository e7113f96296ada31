"""Makes one review of the reports of many lenses: verify, rate, merge, identify, rank, filter.

Pure functions, which `gather` and `conclude` run in order. The caller checks quotes and knows each
rule's confidence. Whatever is removed is kept or counted.
"""

import functools
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple, Protocol

from pydantic import Field

from leadhand.contracts.answer import Basis, Finding, LensReport, NotAssessed
from leadhand.contracts.data import Record
from leadhand.synthesis.duplicates import SEVERITIES, LensFinding, gather_places, merge, same_rules

MANY_FILES = 20
"""If one lens skipped more files for one reason, only their number is reported."""
LOOK_FROM = 30
"""From this confidence what an analyser finds needs a look."""
JUDGED_LOOK_FROM = 50
"""From this one what a model finds or refutes does, if it is serious."""
UNSCORED = "not scored"
"""The beginning of `why` of a model's finding without confidence."""


class Rating(NamedTuple):
    """The confidence of a rule, 0 to 100, what it rests on and why it is what it is."""

    confidence: int
    basis: Basis = "measured"
    why: str = ""
    unproven: bool = False
    """Whether too few labels prove it: then none of its findings is critical."""


class Quote(Record):
    side: Literal["added", "removed"]
    """Whether the change adds or removes the quoted lines."""
    lines: tuple[int, ...]
    """The line numbers of the quoted lines, without blank ones, in the new or the old file."""


class Quotes(Protocol):
    def quoted(self, finding: Finding) -> Quote | None:
        """None if the change does not have the evidence."""
        ...


class Dropped(Record):
    """A finding that was dropped because the change does not contain its evidence."""

    rule: str
    path: str
    line: int


class Note(Record):
    kind: Literal["settings", "ignore", "model"]
    path: str | None = None
    """The file that the note is about."""
    line: int | None = None
    text: str
    attempt: bool = False
    """Whether the change tries to influence its own review."""


RefutationOutcome = Literal["agreed", "disagreed", "not judged", "refused"]


class Refutation(Record):
    """A model's claim that an analyser's finding is wrong, and what came of it."""

    finding: str
    """The id of the finding; empty if the model named none that it was given."""
    rule: str = ""
    path: str = ""
    line: int = 0
    by: str
    """The model."""
    reason: str
    outcome: RefutationOutcome
    """Of an independent scorer: if it `agreed`, the finding moved down. `refused`: by code."""
    why: str = ""
    """The words of the scorer, or why it was refused."""


class Coverage(Record):
    """How many changed files of one kind there are, and how much of them was analysed."""

    kind: str
    """What one of them is called: `Python file`, `binary file`."""
    files: int
    how: Literal["all", "in part", "secrets only", "not"]
    why: str = ""
    """Why they were not analysed, if `kind` does not say it."""


class Review(Record):
    """The result of a review; as JSON it is the `output` of the answer document."""

    findings: tuple[Finding, ...] = ()
    """At or above the threshold, the most important first."""
    look: tuple[Finding, ...] = ()
    """Below the threshold, from `LOOK_FROM`, if it is more than an information; of what a model
    found or refuted only what is critical or a removed protection, from `JUDGED_LOOK_FROM`."""
    suppressed: tuple[Finding, ...] = ()
    """In the same order."""
    not_assessed: tuple[NotAssessed, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    """All changed files by kind, those that were analysed first."""
    dropped: tuple[Dropped, ...] = ()
    hidden_by_baseline: tuple[str, ...] = ()
    """Ids that the baseline contains; listed, so that this report can be the next baseline."""
    hidden_by_ignores: tuple[str, ...] = ()
    """Ids that comments in the code hide."""
    notes: tuple[Note, ...] = ()
    refutations: tuple[Refutation, ...] = ()
    """What models said against findings of analysers."""
    quotes: dict[str, Quote] = Field(default_factory=dict)
    """The place of each finding's evidence, by id."""
    code: dict[str, str] = Field(default_factory=dict)
    """The change at each finding and look, by id: a line has a sign, its number and its text."""


class Gathered(Record):
    findings: tuple[Finding, ...]
    """Each problem once, with its id; those of models have no confidence yet."""
    not_assessed: tuple[NotAssessed, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    hidden: tuple[str, ...] = ()
    ignored: tuple[Finding, ...] = ()
    """Hidden by comments in the code; set by the caller."""


def gather(
    reports: Sequence[tuple[str, LensReport]],
    *,
    quotes: Quotes,
    rating: Callable[[str], Rating],
    threshold: int,
    baseline: AbstractSet[str] = frozenset(),
    equivalent: Iterable[AbstractSet[str]] = (),
) -> Gathered:
    """The verified, merged and new findings of `reports`: a lens's name and its report.

    `baseline` has ids to hide; each set of `equivalent` has rules of different lenses that mean the
    same problem.
    """
    same_rule = same_rules(equivalent)
    real, dropped = verify(reports, quotes)
    merged = merge(rate(real, rating), same_rule=same_rule, threshold=threshold)
    ids = fingerprints(merged, same_rule=same_rule)
    named = [one.model_copy(update={"id": id}) for one, id in zip(merged, ids, strict=True)]
    return Gathered(
        findings=tuple(one for one in named if one.id not in baseline),
        not_assessed=collapse(note for _, report in reports for note in report.not_assessed),
        dropped=tuple(dropped),
        hidden=tuple(sorted(baseline & {*ids})),
    )


def conclude(
    gathered: Gathered,
    *,
    quotes: Quotes,
    threshold: int,
    removals: AbstractSet[str] = frozenset(),
    refuted: Mapping[str, int] | None = None,
    look: bool = True,
    weights: Mapping[str, int] | None = None,
) -> Review:
    """The review of the gathered findings, ranked and divided at `threshold`.

    `removals` are the rules of removed protections: many in the same words are one finding.
    `refuted` has the confidence of findings before a model refuted them: what was in sight still
    needs a look. Without `look`, nothing needs one. `weights` ranks lenses if all else is equal (0
    by default).
    """
    before = refuted or {}
    every = rank(gathered.findings, weights or {})
    ranked = gather_places((one for one in every if one.id not in before), removals)
    ranked += [one for one in every if one.id in before]

    def section(finding: Finding) -> str:
        if finding.confidence >= threshold:
            return "findings"
        if finding.id not in before and finding.source == "analyser":
            in_sight = needs_look(finding)
        else:
            was = before.get(finding.id, finding.confidence)
            in_sight = is_serious(finding, removals) and was >= JUDGED_LOOK_FROM
        return "look" if look and in_sight else "suppressed"

    sections: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in ranked:
        sections[section(finding)].append(finding)
    return Review(
        findings=tuple(sections["findings"]),
        look=tuple(sections["look"]),
        suppressed=tuple(sections["suppressed"]),
        not_assessed=gathered.not_assessed,
        dropped=gathered.dropped,
        hidden_by_baseline=gathered.hidden,
        quotes={f.id: where for f in ranked if (where := quotes.quoted(f)) is not None},
    )


def needs_look(finding: Finding) -> bool:
    """Whether what an analyser finds needs a look if it is below the threshold."""
    return finding.severity != "info" and finding.confidence >= LOOK_FROM


def is_serious(finding: Finding, removals: AbstractSet[str]) -> bool:
    """Whether it needs a look even if a model refutes it: critical, or a removed protection."""
    return finding.severity == "critical" or finding.rule in removals


def verify(
    reports: Sequence[tuple[str, LensReport]], quotes: Quotes
) -> tuple[list[LensFinding], list[Dropped]]:
    """Drops findings without a verbatim quote of the change."""
    real: list[LensFinding] = []
    dropped: list[Dropped] = []
    for lens, report in reports:
        for finding in report.findings:
            if quotes.quoted(finding) is not None:
                real.append(LensFinding(lens, finding))
            else:
                dropped.append(Dropped(rule=finding.rule, path=finding.path, line=finding.line))
    return real, sorted(dropped, key=lambda row: (row.path, row.line, row.rule))


def rate(found: Iterable[LensFinding], rating: Callable[[str], Rating]) -> list[LensFinding]:
    """With the ratings of their rules; a scorer sets the confidence of models' findings."""
    by_rule = functools.cache(rating)
    unscored = Rating(0, "model", UNSCORED)
    rated: list[LensFinding] = []
    for lens, finding in ((one.lens, one.finding) for one in found):
        now = unscored if finding.source == "model" else by_rule(finding.rule)
        severity = finding.severity
        if now.unproven and severity == "critical":
            severity = "warning"
        update = {
            "confidence": now.confidence, "basis": now.basis, "why": now.why, "severity": severity
        }  # fmt: skip
        rated.append(LensFinding(lens, finding.model_copy(update=update)))
    return rated


def rank(findings: Iterable[Finding], weights: Mapping[str, int]) -> list[Finding]:
    """The most important first: by severity, confidence, number of lenses, weight of the lens.

    Equal ones alternate by rule and then by file, so that a frequent rule does not push others
    down.
    """

    def merit(finding: Finding) -> tuple[int, ...]:
        return (
            SEVERITIES.index(finding.severity),
            -finding.confidence,
            -len(finding.lenses),
            -max((weights.get(lens, 0) for lens in finding.lenses), default=0),
        )

    turns: Counter[tuple[object, ...]] = Counter()
    keyed: list[tuple[tuple[object, ...], Finding]] = []
    for finding in sorted(findings, key=lambda f: (f.path, f.line, f.rule, f.id)):
        earned = merit(finding)
        of_rule = turns[earned, "rule", finding.rule]
        of_path = turns[earned, "path", finding.path]
        turns[earned, "rule", finding.rule] += 1
        turns[earned, "path", finding.path] += 1
        place = (finding.path, finding.line, finding.rule, finding.id)
        keyed.append(((earned, of_rule, of_path, *place), finding))
    return [finding for _, finding in sorted(keyed, key=lambda pair: pair[0])]


def collapse(notes: Iterable[NotAssessed]) -> tuple[NotAssessed, ...]:
    """The distinct notes; more than `MANY_FILES` files of one lens and reason become one note."""
    groups: defaultdict[tuple[str, str, bool], set[str | None]] = defaultdict(set)
    for note in notes:
        groups[note.lens, note.why, note.idle].add(note.path)
    collapsed: list[NotAssessed] = []
    for lens, why, idle in sorted(groups):
        paths = groups[lens, why, idle]
        named = sorted(path for path in paths if path is not None)
        if None in paths:
            collapsed.append(NotAssessed(lens=lens, why=why, idle=idle))
        if len(named) > MANY_FILES:
            collapsed.append(NotAssessed(lens=lens, why=f"{why} ({len(named)} files)", idle=idle))
        else:
            collapsed += [NotAssessed(lens=lens, path=p, why=why, idle=idle) for p in named]
    return tuple(collapsed)


def fingerprint(path: str, rule: str, evidence: str, ordinal: int) -> str:
    """16 hex digits of a hash of path, rule, evidence without white space, and `ordinal`, which
    counts from 0 among findings that are equal in the other three."""
    parts = json.dumps([path, rule, " ".join(evidence.split()), ordinal])
    return hashlib.sha256(parts.encode("ascii")).hexdigest()[:16]


def fingerprints(findings: Iterable[Finding], *, same_rule: Callable[[str], str]) -> list[str]:
    """The fingerprint of each finding, in the given order: ids that survive when code moves.

    Line numbers are not part of an id, or ten new lines at the top of a file would make old
    findings look new. A model's category replaces its rule, because models name a problem
    differently each time. `same_rule` gives equivalent rules one name.
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
