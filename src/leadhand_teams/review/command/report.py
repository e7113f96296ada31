"""The data and the wording that all formats of a review share: no colours, no markup, no I/O."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from leadhand import Answer
from leadhand.extension.findings import SEVERITIES, Coverage, Finding, Note, Review
from leadhand.extension.output import format_duration, format_speedup
from leadhand.tools.text import counted, grouped_by_reason, joined_names
from leadhand_teams.review import FailOn
from leadhand_teams.review.change import Change
from leadhand_teams.review.rules import LensRule, rules
from leadhand_teams.review.syntax import texts_of
from leadhand_teams.review.team import lens_of

SHOWN_LOOK = 10
"""What needs a look is shown up to this number, and the rest is counted."""
_ID_DIGITS = 10
_MAX_KINDS = 5
_HOW = {"in part": "only in part"}
Section = Literal["findings", "look", "suppressed"]
KNOWN = texts_of("known")
"""What the rules of each lens know."""
OF_ANY_TEXT = "secrets, conflict markers"
"""What the rules look for in files that are not Python."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What was reviewed."""

    title: str
    base: str | None = None
    """Commit or tree id before; `None` for a patch."""
    head: str | None = None
    files: int = 0
    """0 if the numbers are not known."""
    added: int = 0
    """Lines that the change adds."""
    removed: int = 0

    @classmethod
    def of(cls, change: Change) -> "Subject":
        """The subject of a review of `change`."""
        hunks = [hunk for file in change.files for hunk in file.hunks]
        return cls(
            title=change.title,
            base=change.base,
            head=change.head,
            files=len(change.files) + len(change.skipped),
            added=sum(hunk.new_count for hunk in hunks),
            removed=sum(hunk.old_count for hunk in hunks),
        )


@dataclass(frozen=True, slots=True)
class NotAssessedGroup:
    """The lenses and files for which something was not assessed, for one reason."""

    why: str
    lenses: tuple[str, ...]
    """Empty if no lens could read the files."""
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReviewReport:
    """A review with the other data of its report."""

    review: Review
    answer: Answer
    """Status, engine, gaps and metrics of the run; its `output` is not used."""
    subject: Subject
    threshold: int
    lenses: tuple[str, ...] = ()
    """The lenses that took part."""
    stats: bool = False
    """Whether the report says how long the review took."""
    rules: tuple[LensRule, ...] = field(default=(), repr=False)
    """All rules, for formats that describe them."""

    @classmethod
    def of(
        cls, answer: Answer, subject: Subject, threshold: int, *, stats: bool = False
    ) -> "ReviewReport":
        """The report of the review that is the output of `answer`."""
        return cls(
            Review.model_validate(answer.output),
            answer,
            subject,
            threshold,
            lenses=tuple(sorted({lens_of(task.worker) for task in answer.tasks})),
            stats=stats,
            rules=rules(),
        )

    @property
    def extent(self) -> list[str]:
        """How much was reviewed, in parts: the commits, and the numbers of files, lines, lenses."""
        subject = self.subject
        parts = ["..".join(id[:_ID_DIGITS] for id in (subject.base, subject.head) if id)]
        if subject.files:  # a stored review has no numbers
            parts.append(counted(subject.files, "file"))
            parts.append(f"+{subject.added:,} −{subject.removed:,}")
        if self.lenses:
            parts.append(counted(len(self.lenses), "lens", "lenses"))
        return [part for part in parts if part]

    @property
    def headline(self) -> str:
        """The outcome in one line: findings by severity, what needs a look, what is suppressed.

        Without any: that no rule matched, in which files, and what the rules know.
        """
        review, status = self.review, self.answer.status
        if not self.answer.tasks and status == "failed":
            return "Nothing was reviewed: see the gaps below."
        look, below = len(review.look), review.suppressed
        refuted = sum(one.outcome == "agreed" for one in review.refutations)
        serious = sum(one.severity == "critical" for one in below)
        parts: list[str] = []
        if review.findings:
            counts = Counter(finding.severity for finding in review.findings)
            kinds = [
                counted(counts[kind], kind, "warnings" if kind == "warning" else kind)
                for kind in SEVERITIES
                if counts[kind]
            ]
            parts.append(f"{counted(len(review.findings), 'finding')}: {joined_names(kinds)}")
        else:
            parts.append("no findings" if look else self._nothing())
        if look:
            parts.append(f"{look:,} {'needs' if look == 1 else 'need'} a look")
        if below:
            critical = f", {serious:,} of them critical" if serious else ""
            parts.append(f"{len(below):,} suppressed{critical}")
        if refuted:
            parts.append(f"a model refuted {counted(refuted, 'finding')}")
        if status != "complete":
            parts.append(f"the review is {status}: see the gaps below")
        line = "; ".join(parts)
        return f"{line[:1].upper()}{line[1:]}."

    def _nothing(self) -> str:
        """That no rule matched, in which files, and what the rules know."""
        review = self.review
        nothing = "no rule matched"
        if review.hidden_by_baseline:
            nothing = "nothing new since the baseline"
        elif review.hidden_by_ignores:
            nothing = "nothing that no comment in the code ignores"
        elif review.suppressed:
            nothing = f"no rule matched with confidence {self.threshold}"
        if review.coverage and all(one.how == "not" for one in review.coverage):
            return "nothing was analysed"
        python = any(one.kind == "Python file" and one.how != "not" for one in review.coverage)
        known = [words for lens, words in KNOWN.items() if lens in self.lenses]
        words = joined_names(known, most=len(KNOWN)) if python and known else OF_ANY_TEXT
        analysed = [counted(one.files, one.kind) for one in review.coverage if one.how == "all"]
        files = f" in {joined_names(analysed)}" if analysed else ""
        return f"{nothing}{files} ({words})"

    @property
    def shown_look(self) -> tuple[Finding, ...]:
        """The most important of what needs a look, as many as a report shows."""
        return self.review.look[:SHOWN_LOOK]

    @property
    def more_look(self) -> str:
        """`12 more need a look; --format json lists all`; empty if all are shown."""
        more = len(self.review.look) - SHOWN_LOOK
        return f"{more:,} more need a look; `--format json` lists all" if more > 0 else ""

    @property
    def left_out(self) -> Iterator[tuple[str, str]]:
        """What is not shown and was not analysed: kind and words, as far as there is any."""
        review = self.review
        for kind, hidden, why in (
            ("ignored", review.hidden_by_ignores, "`leadhand: ignore` comments hide them"),
            ("baseline", review.hidden_by_baseline, "the baseline has them"),
        ):
            if hidden:
                yield kind, f"{counted(len(hidden), 'finding')} left out: {why}"
        if missing := [one for one in review.coverage if one.how != "all"]:
            yield "not analysed", _kinds(missing)

    @property
    def not_assessed(self) -> list[NotAssessedGroup]:
        """What was not assessed, grouped by reason, without what there was nothing to do for."""
        lenses_of: dict[tuple[str, str | None], list[str]] = {}
        for note in (note for note in self.review.not_assessed if not note.idle):
            lenses = lenses_of.setdefault((note.why, note.path), [])
            if note.lens != "review":
                lenses.append(note.lens)
        groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for (why, path), lenses in lenses_of.items():
            paths = groups.setdefault((why, tuple(dict.fromkeys(lenses))), [])
            if path is not None:
                paths.append(path)
        return [NotAssessedGroup(why, of, tuple(paths)) for (why, of), paths in groups.items()]

    @property
    def timing(self) -> list[str]:
        """How long it took, in parts, if the report is to say it."""
        metrics = self.answer.metrics
        at_least = "at least " if metrics.speedup_high else ""
        parts = [
            f"makespan {format_duration(metrics.makespan_s)}",
            f"sequential {at_least}{format_duration(metrics.sequential_s)}",
            f"critical path {format_duration(metrics.critical_path_s)}",
        ]
        if metrics.speedup != 0:
            parts.append(f"speed-up {format_speedup(metrics, '×')}")
        return [*parts, f"engine: {self.answer.engine}"] if self.stats else []


def exit_status(review: Review, fail_on: FailOn, *, fail_on_look: bool = False) -> int:
    """1 if a finding is at or above `fail_on`, or if `fail_on_look` and something needs a look."""
    if fail_on_look and review.look:
        return 1
    if fail_on == "never":
        return 0
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return int(any(finding.severity in failing for finding in review.findings))


def every(review: Review) -> Iterator[tuple[Finding, Section]]:
    """Each finding with its section."""
    sections: tuple[tuple[Section, tuple[Finding, ...]], ...] = (
        ("findings", review.findings), ("look", review.look), ("suppressed", review.suppressed)
    )  # fmt: skip
    return ((one, section) for section, found in sections for one in found)


def facts(finding: Finding) -> list[str]:
    """The confidence of a finding, with the labelled hits behind it, or that a model found it."""
    if finding.basis == "fact":
        return ["a fact"]
    confidence = f"confidence {finding.confidence}"
    if finding.source == "model":
        return [confidence, "found by a model"]
    if finding.basis == "model":
        return [confidence, "refuted by a model"]
    return [confidence, finding.why] if finding.why else [confidence]


def verdict(finding: Finding) -> str:
    """What a model said about a finding that it scored or refuted; not escaped."""
    if finding.source == "model" and finding.why:
        return f"Scorer: {finding.why}"
    return f"{finding.why[:1].upper()}{finding.why[1:]}" if finding.basis == "model" else ""


def place(finding: Finding) -> str:
    """`path:line`, which editors and terminals can open; not escaped."""
    return f"{finding.path}:{finding.line}"


def also_at(finding: Finding, most: int) -> str:
    """`Also at a.py:3, b.py:7 and 12 more`: the further places of a finding; not escaped."""
    places = [f"{one.path}:{one.line}" for one in finding.places]
    return f"Also at {joined_names(places, most)}." if places else ""


def noted(note: Note) -> str:
    """A note with its place; not escaped."""
    line = f":{note.line}" if note.line is not None else ""
    return f"{note.path}{line}: {note.text}" if note.path is not None else note.text


def by_rule(findings: Iterable[Finding]) -> list[str]:
    """`rule ×3`, the most frequent first."""
    counts = Counter(finding.rule for finding in findings)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return [f"{rule} ×{n}" if n > 1 else rule for rule, n in rows]


def _kinds(missing: Sequence[Coverage]) -> str:
    """`130 JavaScript files and 1 YAML file (secrets only), 2 binary files`."""
    kinds = grouped_by_reason(
        (counted(one.files, one.kind), one.why if one.how == "not" else one.how)
        for one in missing[:_MAX_KINDS]
    )
    parts = [names + (f" ({_HOW.get(why, why)})" if why else "") for names, why in kinds]
    more = len(missing) - _MAX_KINDS
    return ", ".join(parts) + (f" and {counted(more, 'more kind')}" if more > 0 else "")
