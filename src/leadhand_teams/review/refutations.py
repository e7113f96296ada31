"""What models refute of the analysers' findings, as far as code lets it count.

A model may only refute what it was shown, by its id, with a reason and with a quote of code that is
there. A fact can't be refuted. Whether a refutation is right is for the scorer to say: the reviewed
code itself may tell a model to refute everything.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from leadhand import LeadhandError
from leadhand.extension.findings import (
    JUDGED_LOOK_FROM,
    UNSCORED,
    Finding,
    Note,
    Refutation,
    RefutationOutcome,
    fingerprint,
    needs_look,
)
from leadhand.extension.roles import Conflict, TaskResult
from leadhand.tools.git import read_blob
from leadhand.tools.text import counted
from leadhand_teams.review.change import Change
from leadhand_teams.review.diff_rows import numbered, unmarked
from leadhand_teams.review.reported import Refuted

AROUND = 15
"""Lines before and after a quote that the scorer sees."""
_MAX_CONFLICTS = 20
_MAX_REASON_CHARS = 400
_MAX_QUOTED_LINES = 10
_COMMENT = re.compile(r"\s*(?:#|//|\*|--|<!--)")


def short_id(finding: Finding) -> str:
    """By which a model names an analyser's finding; it depends on nothing but the finding."""
    return fingerprint(finding.path, finding.rule, finding.evidence, finding.line)[:8]


def is_shown(finding: Finding, threshold: int) -> bool:
    """Whether the report shows an analyser's finding in one of its two sections."""
    return finding.confidence >= threshold or needs_look(finding)


class Given(NamedTuple):
    """A refutation as a model gave it."""

    by: TaskResult
    lens: str
    paths: Sequence[str]
    """The files of the model's part of the change."""
    refuted: Refuted


@dataclass(frozen=True, slots=True)
class Objection:
    """A refutation that the scorer has to judge."""

    finding: Finding
    by: TaskResult
    reason: str
    path: str
    line: int
    """Where the quoted code begins."""
    code: str
    """The quoted code with the lines around it."""

    def __str__(self) -> str:
        """What the scorer sees."""
        return f"{self.reason}\nIt quotes {self.path}, line {self.line}:\n{self.code}"

    def refuted(self, scored: Finding) -> Finding:
        """The finding as it moves down, with the reason instead of what was measured."""
        before = f"confidence {self.finding.confidence} before, {self.finding.why}"
        why = f"refuted by {model_of(self.by)}: {self.reason} ({before})"
        confidence = min(scored.confidence, self.finding.confidence)
        return self.finding.model_copy(
            update={"confidence": confidence, "basis": "model", "why": why}
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """The refutations of a review after they were judged."""

    refutations: tuple[Refutation, ...] = ()
    moved: dict[str, Finding] = field(default_factory=dict[str, Finding])
    """The findings that move down, by id."""
    conflicts: tuple[Conflict, ...] = ()

    def notes(self) -> Iterator[Note]:
        """How often each model refuted findings, and what came of it."""
        for model in dict.fromkeys(one.by for one in self.refutations):
            every = [one for one in self.refutations if one.by == model]
            counts = Counter(one.outcome for one in every)
            refused = dict.fromkeys(one.why for one in every if one.outcome == "refused")
            became = {
                "agreed": "moved down",
                "disagreed": "kept, because the scorer disagreed",
                "not judged": "kept, because they were not judged",
                "refused": f"did not count ({', '.join(refused)})",
            }
            what = "; ".join(f"{counts[of]} {text}" for of, text in became.items() if counts[of])
            times = counted(len(every), "time")
            text = f"{model} refuted findings of analysers {times}: {what}."
            yield Note(kind="model", text=text)


class Refutations:
    """The refutations in the results of models, checked by code."""

    def __init__(
        self,
        given: Iterable[Given],
        findings: Iterable[Finding],
        change: Change,
        *,
        allowed: Callable[[Finding], str],
    ) -> None:
        """`allowed` says why a finding can't be refuted; empty if it can."""
        self._change = change
        known = {short_id(one): one for one in findings if one.source == "analyser"}
        self.objections: dict[str, Objection] = {}
        """To be judged, by the id of the finding."""
        self._refused: list[Refutation] = []
        for by, lens, paths, refuted in given:
            finding = known.get(refuted.finding.strip(" []"))
            if finding is not None and (lens not in finding.lenses or finding.path not in paths):
                finding = None
            why = allowed(finding) if finding else "it names no finding that its model was given"
            objection = self._objection(finding, by, refuted) if finding and not why else why
            if isinstance(objection, str):
                self._refused.append(_refutation(finding, by, refuted.reason, "refused", objection))
            else:
                self.objections.setdefault(objection.finding.id, objection)

    def _objection(self, finding: Finding, by: TaskResult, refuted: Refuted) -> Objection | str:
        """The refutation to be judged, or why it does not count."""
        reason = " ".join(refuted.reason.split())[:_MAX_REASON_CHARS]
        wanted = [line.strip() for line in unmarked(refuted.evidence).split("\n") if line.strip()]
        if not re.search(r"\w", reason):
            return "it gives no reason"
        code = [line for line in wanted if not _COMMENT.match(line)]
        if not re.search(r"\w\W*\w\W*\w", " ".join(code)):  # a `)` is in any code
            return "it quotes no code"
        for lines in self._sides(refuted.path):
            line = _place(lines, wanted[:_MAX_QUOTED_LINES])
            if line:
                first = max(1, line - AROUND)
                code = numbered(lines[first - 1 : line + AROUND], first)
                return Objection(finding, by, reason, refuted.path, line, code)
        return "what it quotes is not in the code"

    def _sides(self, path: str) -> Iterator[Sequence[str]]:
        """The lines of a file after the change, and before it if the change touches it."""
        change = self._change
        file = change.by_path.get(path)
        if file is not None:
            yield from (file.head_lines, file.base_lines)
        elif change.git_dir is not None and change.head is not None:
            try:
                yield (read_blob(change.git_dir, change.head, path) or "").split("\n")
            except LeadhandError:
                return

    def judged(self, scored: dict[str, Finding], analysers: Callable[[Finding], str]) -> Judged:
        """What became of each, by the scored findings by id; without a score a finding stays.

        `analysers` gives the id of the task that found a finding.
        """
        refutations = list(self._refused)
        moved: dict[str, Finding] = {}
        conflicts: list[Conflict] = []
        for id, one in self.objections.items():
            score = scored.get(id)
            outcome = _outcome(score)
            why = score.why if score is not None else "it was not judged in time"
            if score is not None and outcome == "agreed":
                moved[id] = one.refuted(score)
            refutations.append(_refutation(one.finding, one.by, one.reason, outcome, why))
            sides = (analysers(one.finding), one.by.task.id)
            taken = {"agreed": sides[1:], "disagreed": sides[:1]}.get(outcome, ())
            conflicts.append(
                Conflict(
                    task_ids=sides,
                    about=f"{one.finding.rule} at {one.finding.path}:{one.finding.line}",
                    resolution={"agreed": "refuted", "disagreed": "it stands"}.get(outcome),
                    why=why,
                    taken=taken,
                )
            )
        return Judged(tuple(refutations), moved, tuple(conflicts[:_MAX_CONFLICTS]))


def model_of(result: TaskResult) -> str:
    """The model that gave a result."""
    usage = result.result.usage if result.result is not None else None
    return (usage.model if usage is not None else None) or "a model"


def _outcome(score: Finding | None) -> RefutationOutcome:
    if score is None or score.why.startswith(UNSCORED):
        return "not judged"
    return "agreed" if score.confidence < JUDGED_LOOK_FROM else "disagreed"


def _refutation(
    finding: Finding | None, by: TaskResult, reason: str, outcome: RefutationOutcome, why: str
) -> Refutation:
    place = (finding.id, finding.rule, finding.path, finding.line) if finding else ("", "", "", 0)
    id, rule, path, line = place
    return Refutation(
        finding=id,
        rule=rule,
        path=path,
        line=line,
        by=model_of(by),
        reason=" ".join(reason.split())[:_MAX_REASON_CHARS],
        outcome=outcome,
        why=why,
    )


def _place(lines: Sequence[str], wanted: Sequence[str]) -> int:
    """The line from 1 where the lines contain the wanted ones one after the other, or 0."""
    filled = [(number, text) for number, text in enumerate(lines, 1) if text.strip()]
    for start in range(len(filled) - len(wanted) + 1):
        if all(want in filled[start + n][1] for n, want in enumerate(wanted)):
            return filled[start][0]
    return 0
