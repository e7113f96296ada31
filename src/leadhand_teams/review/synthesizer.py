"""Merges the reports of all lenses into one ranked list of findings.

All of it is code, except that a model scores the findings of models, and judges what they refute
of the analysers' findings.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from leadhand import Plan
from leadhand.contracts.answer import Gap, Source
from leadhand.extension.findings import (
    UNSCORED,
    Finding,
    Gathered,
    LensReport,
    NotAssessed,
    Review,
    conclude,
    gather,
    is_serious,
)
from leadhand.extension.roles import Fence, ModelSpec, Synthesis, TaskResult, Tier
from leadhand_teams.review import DEFAULT_THRESHOLD
from leadhand_teams.review.change import Change
from leadhand_teams.review.coverage import COUNTED, coverage
from leadhand_teams.review.diff_rows import Chunks, around, header
from leadhand_teams.review.ignores import Ignores
from leadhand_teams.review.intention import meant, names
from leadhand_teams.review.precision import Confidence
from leadhand_teams.review.refutations import Given, Refutations, is_shown
from leadhand_teams.review.reported import MAX_FINDINGS, ChangeQuotes, LensAnswer, lens_report
from leadhand_teams.review.rules import equivalent, rule, rules
from leadhand_teams.review.secrets import mask_secrets
from leadhand_teams.review.team import SUFFIX, lens_of

if TYPE_CHECKING:
    from leadhand.extension.roles import Caller

_WEIGHTS: Mapping[str, int] = {
    "security": 5, "bugs": 4, "performance": 3, "tests": 2, "history": 1,
}  # fmt: skip
WEIGHTS = {**_WEIGHTS, **{f"{lens}{SUFFIX}": weight for lens, weight in _WEIGHTS.items()}}
"""Ranks lenses among findings of the same severity and confidence: the heavier first."""
MAX_QUESTIONS = 2
"""The most questions that one change is asked about what it removes; the rest is suppressed."""
_MAX_AROUND_CHARS = 40_000
_SHOWN_AROUND = 3
_MAX_SHOWN_CHARS = 4_000
_MAX_WITH_CODE = 100
"""The most findings that come with their code: each costs a walk through its file's diff."""


@functools.cache
def _adapter() -> TypeAdapter[LensAnswer]:
    """Reads what models report; built on first use, because most reviews have no model."""
    return TypeAdapter(LensAnswer)


@dataclass(eq=False)
class FindingsSynthesizer:
    """Makes one review from the reports of the lenses."""

    change: Change
    _: KW_ONLY
    threshold: int = DEFAULT_THRESHOLD
    look: bool = True
    trust_ignores: bool = False
    baseline: AbstractSet[str] = frozenset()
    chunks: Chunks = field(default_factory=Chunks)
    """The parts that models reviewed, if any did."""
    caller: "Caller | None" = None
    """With it the models of `tiers` score their findings, which they see inside the `fence`."""
    tiers: Mapping[Tier, Sequence[ModelSpec]] = field(
        default_factory=dict[Tier, Sequence[ModelSpec]]
    )
    fence: Fence = field(default=Fence("none"))
    name: str = "findings"
    _scored: dict[str, Finding] = field(default_factory=dict[str, Finding])

    def __post_init__(self) -> None:
        self._quotes = ChangeQuotes(self.change)

    @property
    def calls_model(self) -> bool:
        """Whether a model scores findings."""
        return self.caller is not None

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The review as `output`."""
        gathered = self._gathered(results)
        found = [finding for finding in gathered.findings if finding.source == "model"]
        objections = self._refutations(gathered, results).objections
        found += [one.finding for one in objections.values()]
        if found and self.caller is not None:
            # Without a model nothing imports the packages for models.
            from leadhand.extension.findings import Scorer

            scorer = Scorer(self.caller, self.tiers, self.fence, surroundings=self)
            texts = {id: str(one) for id, one in objections.items()}
            await scorer.score(found, self._scored, objections=texts)
        return self._concluded(gathered, results)

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The review without a call of a model: findings without a score stay suppressed, and what
        models refuted stays as it was."""
        return self._concluded(self._gathered(results), results)

    def around(self, finding: Finding, lines: int) -> str:
        """The diff at a finding, with up to `lines` lines before and after it."""
        file = self.change.by_path.get(finding.path)
        if file is None:
            return ""
        text = "\n".join(around(file, finding.line, finding.end_line, lines=lines))
        if len(text) > _MAX_AROUND_CHARS and lines > 1:
            return self.around(finding, lines // 2)
        return f"{header(file)}\n{text[:_MAX_AROUND_CHARS]}"

    def _code(self, finding: Finding) -> str:
        """The diff at a finding, without secrets; empty if the change has no such place."""
        text = self.around(finding, _SHOWN_AROUND)
        lines = text[:_MAX_SHOWN_CHARS].split("\n")[1:]
        return "\n".join(map(mask_secrets, lines))

    def _gathered(self, results: Sequence[TaskResult]) -> Gathered:
        gathered = gather(
            list(self._reports(results)),
            quotes=self._quotes,
            rating=Confidence.of(rules(), meant=meant(self.change, rules())),
            threshold=self.threshold,
            baseline=self.baseline,
            equivalent=equivalent(),
        )
        shown, hidden = self._ignores.divided(gathered.findings)
        return gathered.model_copy(update={"findings": tuple(shown), "ignored": tuple(hidden)})

    @functools.cached_property
    def _ignores(self) -> Ignores:
        known = frozenset(rule.id for rule in rules())
        return Ignores.of(self.change, rules=known, trusted=self.trust_ignores)

    def _reports(self, results: Sequence[TaskResult]) -> Iterator[tuple[str, LensReport]]:
        for one in results:
            worker = one.task.worker
            if worker.endswith(SUFFIX):
                if answer := _answer(one):
                    yield worker, lens_report(answer.findings, self.change, lens=lens_of(worker))
            elif one.result is not None:
                yield worker, LensReport.model_validate(one.result.output)
        skipped = [
            NotAssessed(lens="review", path=path, why=why, idle=why in COUNTED)
            for path, why in self.change.skipped
        ]
        yield "review", LensReport(not_assessed=(*skipped, *self.chunks.not_assessed()))

    def _refutations(self, gathered: Gathered, results: Sequence[TaskResult]) -> Refutations:
        def given() -> Iterator[Given]:
            for one in results:
                lens = lens_of(one.task.worker)
                paths = [piece.path for piece in self.chunks.of(one.task.artifacts)]
                answer = _answer(one) if one.task.worker != lens else None
                for refuted in answer.refuted[:MAX_FINDINGS] if answer else ():
                    yield Given(one, lens, paths, refuted)

        return Refutations(given(), gathered.findings, self.change, allowed=self._why_standing)

    def _why_standing(self, finding: Finding) -> str:
        """Why no model can refute a finding; empty if it can."""
        if finding.basis == "fact":
            return "a fact can't be refuted"
        if not is_shown(finding, self.threshold):
            return "it is not in the report"
        if any(lens.endswith(SUFFIX) for lens in finding.lenses):
            return "a model reports it as well"
        if not self.look and is_serious(finding, _removals()):
            return "it would be out of sight, because nothing is shown that needs a look"
        return ""

    def _concluded(self, gathered: Gathered, results: Sequence[TaskResult]) -> Synthesis:
        task_ids = self._task_ids(results)
        judged = self._refutations(gathered, results).judged(
            self._scored, lambda one: task_ids.get((one.lenses[0], one.path), one.lenses[0])
        )
        known = {one.id: one.confidence for one in gathered.findings}
        by_models = {one.id for one in gathered.findings if one.source == "model"}
        now = {id: one for id, one in self._scored.items() if id in by_models} | judged.moved
        findings = tuple(now.get(one.id, one) for one in gathered.findings)
        notes = (*gathered.not_assessed, *_unscored(findings))
        scored = gathered.model_copy(update={"findings": findings, "not_assessed": notes})
        review = conclude(
            scored,
            quotes=self._quotes,
            threshold=self.threshold,
            removals=_removals(),
            refuted={id: known[id] for id in judged.moved},
            look=self.look,
            weights=WEIGHTS,
        )
        asked = [one for one in review.look if one.rule in _removals()]
        hidden = [one for one in asked if rule(one.rule).weak and names(self.change, one)]
        hidden += [one for one in asked if one not in hidden][MAX_QUESTIONS:]
        look = [one for one in review.look if one not in hidden]
        notes_of_files = (note for _, one in self._reports(results) for note in one.not_assessed)
        about_itself = (
            *self.change.settings.notes(review, is_patch=self.change.base is None),
            *self._ignores.notes((*findings, *gathered.ignored)),
            *judged.notes(),
        )
        review = review.model_copy(
            update={
                "look": tuple(look),
                "suppressed": (*hidden, *review.suppressed),
                "coverage": coverage(self.change, notes_of_files),
                "notes": about_itself,
                "refutations": judged.refutations,
                "hidden_by_ignores": tuple(sorted(one.id for one in gathered.ignored)),
                "code": {
                    one.id: self._code(one) for one in (*review.findings, *look)[:_MAX_WITH_CODE]
                },
            }
        )
        return Synthesis(
            answer=_in_words(review),
            output=review.model_dump(mode="json"),
            gaps=(Gap(task_id="change", why=self.change.cut),) if self.change.cut else (),
            conflicts=judged.conflicts,
            sources=self._sources(review, task_ids),
        )

    def _task_ids(self, results: Sequence[TaskResult]) -> dict[tuple[str, str], str]:
        """(worker, path) -> the task that looked at the file."""
        pieces = self.chunks.pieces
        return {
            (one.task.worker, pieces[ref].path if one.task.worker.endswith(SUFFIX) else ref): (
                one.task.id
            )
            for one in results
            for ref in one.task.artifacts
        }

    def _sources(
        self, review: Review, task_ids: Mapping[tuple[str, str], str]
    ) -> tuple[Source, ...]:
        """The place of each finding, for every task that reported it."""
        return tuple(
            Source(task_id=task_ids[lens, finding.path], ref=f"{finding.path}:{finding.line}")
            for finding in (*review.findings, *review.look)
            for lens in finding.lenses
            if (lens, finding.path) in task_ids
        )


@functools.cache
def _removals() -> frozenset[str]:
    """The rules of removed protections."""
    return frozenset(rule.id for rule in rules() if rule.removal)


def _answer(result: TaskResult) -> LensAnswer | None:
    """A model's answer; one that did not complete may have any form."""
    if result.result is None or result.status != "completed" or result.why is not None:
        return None
    return _adapter().validate_python(result.result.output)


def _unscored(findings: Sequence[Finding]) -> Iterator[NotAssessed]:
    """The findings of models that have no score, as not assessed."""
    for finding in findings:
        if finding.source == "model" and finding.why.startswith(UNSCORED):
            why = f"a model's finding, {finding.rule}: {finding.why}"
            yield NotAssessed(lens="scorer", path=finding.path, why=why)


def _in_words(review: Review) -> str:
    rows = [
        f"- **{finding.severity}** `{finding.path}:{finding.line}` {finding.message}"
        for finding in review.findings
    ]
    rows = rows or ["No findings at or above the threshold."]
    if review.look:
        rows += ["", "Needs a look:"]
        rows += [f"- `{one.path}:{one.line}` {one.message}" for one in review.look]
    return "\n".join(rows)
