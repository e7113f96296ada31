"""The review team put together for one change: its workers bound to the snapshot, its cuts, rules.

What each lens does is in `lenses`; who they are and what the plan looks like is in `team.yaml`.
"""

import dataclasses
import importlib
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path
from typing import cast

from leadhand.contracts.answer import Source, Synthesis
from leadhand.contracts.finding import LensReport, NotAssessed
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.ports import Batch, TaskResult
from leadhand.synthesis import Review, synthesize
from leadhand.teams.loader import load
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import Rule
from leadhand.teams.review.precision import Confidence
from leadhand.teams.review.quotes import ChangeQuotes

BATCH_FILES = 250
"""Files that one task takes on at most."""
BATCH_BYTES = 2 << 20
"""Bytes of new text that one task takes on, unless a single file has more."""

WEIGHTS: Mapping[str, int] = {"security": 5, "bugs": 4, "performance": 3, "tests": 2, "history": 1}
"""Which lens comes first among findings that are alike in severity and confidence."""

EQUIVALENT: tuple[AbstractSet[str], ...] = ()
"""Rules of different lenses that mean the same problem, a set each."""


def review_team(change: Change, *, past_reviews: Path | None = None) -> Team:
    """The ready-made team with every worker bound to the snapshot of `change`.

    `past_reviews` is the export of earlier review comments, if one was handed over.
    """
    team = load("review")
    bound: dict[str, dict[str, str]] = {"past_reviews": {}}
    if past_reviews is not None:
        bound["past_reviews"]["past_reviews"] = str(past_reviews)
    return dataclasses.replace(
        team,
        workers=tuple(
            dataclasses.replace(
                worker,
                run=partial(
                    cast("Callable[..., object]", worker.run),
                    change=str(change.folder),
                    **bound.get(worker.name, {}),
                ),
            )
            for worker in team.workers
        ),
    )


def rules() -> tuple[Rule, ...]:
    """Every rule that the lenses know, by id."""
    found: list[Rule] = []
    for worker in load("review").workers:
        module = importlib.import_module(f"leadhand.teams.review.lenses.{worker.name}")
        found.extend(cast("Sequence[Rule]", module.RULES))
    return tuple(sorted(found, key=lambda rule: rule.id))


def cuts(change: Change) -> dict[str, list[Batch]]:
    """The change cut for the template: `python` and `text` files in batches, and all as a `whole`.

    An empty cut makes no tasks; the whole is there even where nothing can be read as text.
    """
    python = [file for file in change.files if file.language == "python"]
    return {
        "python": _batches(python),
        "text": _batches(change.files),
        "whole": [_batch(change.files)],
    }


def _batches(files: Sequence[ChangedFile]) -> list[Batch]:
    batches: list[Batch] = []
    held: list[ChangedFile] = []
    held_bytes = 0
    for file in files:
        size = file.head_file.stat().st_size if file.head_file.exists() else 0
        if held and (len(held) == BATCH_FILES or held_bytes + size > BATCH_BYTES):
            batches.append(_batch(held))
            held, held_bytes = [], 0
        held.append(file)
        held_bytes += size
    if held:
        batches.append(_batch(held))
    return batches


def _batch(files: Sequence[ChangedFile]) -> Batch:
    return Batch(artifacts=tuple(file.path for file in files))


class FindingsSynthesizer:
    """Makes one review of what the lenses report, by code."""

    name = "findings"

    def __init__(
        self, change: Change, *, threshold: int = 80, baseline: AbstractSet[str] = frozenset()
    ) -> None:
        self._change = change
        self._threshold = threshold
        self._baseline = baseline

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The review as `output`. What a lens could not give at all is a gap of the answer."""
        reports = [
            (one.task.worker, LensReport.model_validate(one.result.output))
            for one in results
            if one.result is not None
        ]
        reports += [("review", LensReport(not_assessed=_skipped(self._change)))]
        review = synthesize(
            reports,
            quotes=ChangeQuotes(self._change),
            confidence=Confidence.of(rules()),
            threshold=self._threshold,
            baseline=self._baseline,
            weights=WEIGHTS,
            equivalent=EQUIVALENT,
        )
        return Synthesis(
            answer=_in_words(review),
            output=review.model_dump(mode="json"),
            sources=_sources(review, results),
        )


def _sources(review: Review, results: Sequence[TaskResult]) -> tuple[Source, ...]:
    """Where each finding stands, under every task that reported it."""
    task_ids = {
        (one.task.worker, path): one.task.id for one in results for path in one.task.artifacts
    }
    return tuple(
        Source(task_id=task_ids[lens, finding.path], ref=f"{finding.path}:{finding.line}")
        for finding in review.findings
        for lens in finding.lenses
        if (lens, finding.path) in task_ids
    )


def _skipped(change: Change) -> tuple[NotAssessed, ...]:
    return tuple(NotAssessed(lens="review", path=path, why=why) for path, why in change.skipped)


def _in_words(review: Review) -> str:
    if not review.findings:
        return "No findings at or above the threshold."
    return "\n".join(
        f"- **{finding.severity}** `{finding.path}:{finding.line}` {finding.message}"
        for finding in review.findings
    )
