"""Makes one review of what many lenses saw: verified, rated, merged, named, ranked and filtered.

Pure functions, a step each; `synthesize` runs them in order. Nothing here reads a file or knows
what a change is: whether a quote is real and how sure a rule is are asked of the caller. Whatever
is taken out on the way is kept or counted in the result, so that nothing disappears silently.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from leadhand.contracts.finding import Finding, LensReport, NotAssessed
from leadhand.synthesis.duplicates import SEVERITIES, LensFinding, RuleAliases, merge
from leadhand.synthesis.fingerprint import fingerprints

MANY_FILES = 20
"""More files than this that one lens passed over for one reason are reported as their number."""
UNSCORED = "not scored"
"""What `why` begins with where a model's finding has no confidence."""


class Quote(BaseModel):
    """Where the evidence of a finding stands in the change."""

    model_config = ConfigDict(frozen=True)

    side: Literal["added", "removed"]
    """Whether the change adds the quoted lines or takes them away."""
    lines: tuple[int, ...]
    """Line number of each quoted line that is not blank: in the new file, or in the old one."""


class Quotes(Protocol):
    """Knows the change that findings quote."""

    def quoted(self, finding: Finding) -> Quote | None:
        """Where the change has the finding's evidence word for word, or none where it has not."""
        ...


class Dropped(BaseModel):
    """A finding that was thrown away because the change does not have the words it quotes."""

    model_config = ConfigDict(frozen=True)

    rule: str
    path: str
    line: int


class Review(BaseModel):
    """What a review says; as JSON it is the `output` of the answer document."""

    model_config = ConfigDict(frozen=True)

    findings: tuple[Finding, ...] = ()
    """At or above the threshold, what matters most first."""
    suppressed: tuple[Finding, ...] = ()
    """Below the threshold, in the same order."""
    not_assessed: tuple[NotAssessed, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    hidden_by_baseline: tuple[str, ...] = ()
    """Ids that an earlier report had; kept, so that this report can be the next baseline."""
    quotes: dict[str, Quote] = Field(default_factory=dict)
    """Where the evidence of each finding stands, by id."""


class Gathered(BaseModel):
    """What lenses saw, before it is decided what is shown."""

    model_config = ConfigDict(frozen=True)

    findings: tuple[Finding, ...]
    """Each problem once, with its id; what a model found has no confidence yet."""
    not_assessed: tuple[NotAssessed, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    hidden: tuple[str, ...] = ()


def synthesize(
    reports: Sequence[tuple[str, LensReport]],
    *,
    quotes: Quotes,
    confidence: Callable[[str], int],
    threshold: int = 80,
    baseline: AbstractSet[str] = frozenset(),
    weights: Mapping[str, int] | None = None,
    equivalent: Iterable[AbstractSet[str]] = (),
) -> Review:
    """The review that `reports`, pairs of a lens's name and what it returned, amount to.

    `confidence` gives 0 to 100 for a rule; `baseline` holds ids to hide; `weights` ranks lenses
    where all else is equal (the heavier first, 0 where none is given); each set of `equivalent`
    holds rules of different lenses that mean the same problem. The order of `reports` does not
    matter.
    """
    gathered = gather(
        reports,
        quotes=quotes,
        confidence=confidence,
        threshold=threshold,
        baseline=baseline,
        equivalent=equivalent,
    )
    return conclude(gathered, quotes=quotes, threshold=threshold, weights=weights)


def gather(
    reports: Sequence[tuple[str, LensReport]],
    *,
    quotes: Quotes,
    confidence: Callable[[str], int],
    threshold: int,
    baseline: AbstractSet[str] = frozenset(),
    equivalent: Iterable[AbstractSet[str]] = (),
) -> Gathered:
    """What is real, new and said once of `reports`; see `synthesize`."""
    same_rule = RuleAliases(equivalent)
    real, dropped = verify(reports, quotes)
    merged = merge(rate(real, confidence), same_rule=same_rule, threshold=threshold)
    named = identify(merged, same_rule=same_rule)
    fresh, hidden = hide(named, baseline)
    return Gathered(
        findings=tuple(fresh),
        not_assessed=collapse(note for _, report in reports for note in report.not_assessed),
        dropped=tuple(dropped),
        hidden=tuple(hidden),
    )


def conclude(
    gathered: Gathered,
    *,
    quotes: Quotes,
    threshold: int,
    weights: Mapping[str, int] | None = None,
) -> Review:
    """The review of what was gathered: ranked, and divided at `threshold`."""
    ranked = rank(gathered.findings, weights or {})
    findings, suppressed = divide(ranked, threshold)
    return Review(
        findings=tuple(findings),
        suppressed=tuple(suppressed),
        not_assessed=gathered.not_assessed,
        dropped=gathered.dropped,
        hidden_by_baseline=gathered.hidden,
        quotes={f.id: where for f in ranked if (where := quotes.quoted(f)) is not None},
    )


def verify(
    reports: Sequence[tuple[str, LensReport]], quotes: Quotes
) -> tuple[list[LensFinding], list[Dropped]]:
    """What quotes the change word for word, and what does not and is thrown away."""
    real: list[LensFinding] = []
    dropped: list[Dropped] = []
    for lens, report in reports:
        for finding in report.findings:
            if quotes.quoted(finding) is not None:
                real.append(LensFinding(lens, finding))
            else:
                dropped.append(Dropped(rule=finding.rule, path=finding.path, line=finding.line))
    return real, sorted(dropped, key=lambda row: (row.path, row.line, row.rule))


def rate(found: Iterable[LensFinding], confidence: Callable[[str], int]) -> list[LensFinding]:
    """The same, each with its rule's measured confidence, whatever the lens had put there.

    Nothing was ever measured of what a model found: it has none until a scorer gives it one.
    """
    measured: dict[str, int] = {}
    rated: list[LensFinding] = []
    for lens, finding in ((reported.lens, reported.finding) for reported in found):
        if finding.source == "model":
            update: dict[str, object] = {"confidence": 0, "why": UNSCORED}
        else:
            if finding.rule not in measured:
                measured[finding.rule] = confidence(finding.rule)
            update = {"confidence": measured[finding.rule]}
        rated.append(LensFinding(lens, finding.model_copy(update=update)))
    return rated


def identify(findings: Sequence[Finding], *, same_rule: RuleAliases) -> list[Finding]:
    """The same, each with its fingerprint as `id`."""
    ids = fingerprints(findings, same_rule=same_rule)
    return [f.model_copy(update={"id": name}) for f, name in zip(findings, ids, strict=True)]


def hide(
    findings: Iterable[Finding], baseline: AbstractSet[str]
) -> tuple[list[Finding], list[str]]:
    """What `baseline` does not have yet, and the ids of what it has."""
    fresh: list[Finding] = []
    hidden: list[str] = []
    for finding in findings:
        if finding.id in baseline:
            hidden.append(finding.id)
        else:
            fresh.append(finding)
    return fresh, sorted(hidden)


def rank(findings: Iterable[Finding], weights: Mapping[str, int]) -> list[Finding]:
    """What matters most first: by severity, confidence, number of lenses, weight of the lens.

    Where these are equal, rules and then files take turns, so that one rule that fires often does
    not push all others down; path and line settle the rest.
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


def divide(findings: Iterable[Finding], threshold: int) -> tuple[list[Finding], list[Finding]]:
    """What is at or above `threshold`, and what is below it; the order is kept."""
    above: list[Finding] = []
    below: list[Finding] = []
    for finding in findings:
        (above if finding.confidence >= threshold else below).append(finding)
    return above, below


def collapse(notes: Iterable[NotAssessed]) -> tuple[NotAssessed, ...]:
    """Each note once; more than `MANY_FILES` files with one lens and reason become one note."""
    groups: defaultdict[tuple[str, str], set[str | None]] = defaultdict(set)
    for note in notes:
        groups[note.lens, note.why].add(note.path)
    collapsed: list[NotAssessed] = []
    for lens, why in sorted(groups):
        paths = groups[lens, why]
        named = sorted(path for path in paths if path is not None)
        if None in paths:
            collapsed.append(NotAssessed(lens=lens, why=why))
        if len(named) > MANY_FILES:
            collapsed.append(NotAssessed(lens=lens, why=f"{why} ({len(named)} files)"))
        else:
            collapsed += [NotAssessed(lens=lens, path=path, why=why) for path in named]
    return tuple(collapsed)
