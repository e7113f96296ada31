"""The review team with a model: a model worker with the same lens beside each analyser.

Each gets a part of the change, what analysers found in it, the callers and tests of what changed,
and read-only tools. The analysers work as without a model; the synthesizer merges the findings of
both.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from leadhand import Limits, TaskTemplate, Team, Worker
from leadhand.contracts.task import Batch
from leadhand.extension.roles import MaterialFunction, joined, prompt
from leadhand_teams.review.change import Change
from leadhand_teams.review.diff_rows import Chunks
from leadhand_teams.review.lookup_tools import LookupTools
from leadhand_teams.review.material import (
    CALLERS,
    ONLY_MODELS,
    REMOVED,
    TESTS,
    Material,
    analysers_of,
)
from leadhand_teams.review.reported import LensAnswer

SUFFIX = "-model"
LIMITS = Limits(timeout_s=300, max_steps=8)
"""The limits of one task of a model."""

_INTENT = (
    "Review your part of the change, {count} files or parts of files, through your own lens only."
)
_DONE = "Every changed line was looked at, and each finding quotes the line at fault."


def with_model(
    team: Team,
    change: Change,
    chunks: Chunks,
    *,
    threshold: int,
    past_reviews: Path | None = None,
) -> Team:
    """`team` with a model worker beside the analyser of each lens that has something to compare.

    Models are told not to report what analysers report at or above `threshold`. The lenses of
    `ONLY_MODELS` that have a model then have no analyser.
    """
    material = Material(change, chunks, threshold=threshold, past_reviews=past_reviews)
    asked = [worker for worker in team.workers if worker.name not in material.not_needed()]
    lenses = [worker.name for worker in asked]
    replaced = ONLY_MODELS.intersection(lenses)
    analysers = tuple(
        dataclasses.replace(worker, run=worker.offline, offline=None)
        for worker in team.workers
        if worker.name not in replaced
    )
    there = {worker.name for worker in analysers}
    beside = tuple(_worker(worker, change, material.of(worker.name)) for worker in asked)
    entries = tuple(
        TaskTemplate(
            id=f"{lens}{SUFFIX}",
            worker=f"{lens}{SUFFIX}",
            intent=_INTENT,
            depends_on=tuple(name for name in analysers_of(lens) if name in there),
            for_each="model",
            done_when=_DONE,
            tolerates_missing=True,
        )
        for lens in lenses
    )
    return dataclasses.replace(
        team,
        workers=(*analysers, *beside),
        template=(*(one for one in team.template if one.worker not in replaced), *entries),
        limits=Limits(timeout_s=LIMITS.timeout_s),
        shared_tools=(*team.shared_tools, *(tool.__name__ for tool in LookupTools(change).tools())),
    )


def model_batches(chunks: Chunks) -> Mapping[str, tuple[Batch, ...]]:
    """The batches of the models' tasks, by their name in the template."""
    return {"model": chunks.batches}


def lens_of(worker: str) -> str:
    """The lens of a worker, which is an analyser or a model."""
    return worker.removesuffix(SUFFIX)


def _worker(analyser: Worker, change: Change, material: MaterialFunction) -> Worker:
    lens = analyser.name
    lookup_tools = LookupTools(change)
    prompts = ["lens", "lookups"] if lens in REMOVED | CALLERS | TESTS else ["lens"]
    return Worker(
        f"{lens}{SUFFIX}",
        analyser.description,
        instructions=joined(
            analyser.instructions, *(prompt("leadhand_teams.review", name) for name in prompts)
        ),
        tools=lookup_tools.tools(history=lens == "history"),
        output=LensAnswer,
        material=material,
        limits=LIMITS,
    )
