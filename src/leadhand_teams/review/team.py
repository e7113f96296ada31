"""Builds the review team for one change: workers bound to the snapshot, batches, and models.

`lenses` has what each lens does, `team.yaml` the workers and the plan. With a model, a model worker
with the same lens works beside each analyser: it gets a part of the change, what analysers found in
it, the callers and tests of what changed, and read-only tools. The synthesizer merges the findings
of both.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from leadhand import Limits, TaskTemplate, Team, Worker
from leadhand.contracts.task import Batch
from leadhand.extension import load
from leadhand.extension.roles import MaterialFunction, joined, prompt
from leadhand_teams.review.change import Change, ChangedFile
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

SMALL_FILES = 20
"""The most files of a change that needs no processes of its own."""
SMALL_BYTES = 1 << 20
"""The most bytes of its texts, old and new."""
BATCH_FILES = 250
"""The most files of one task."""
BATCH_BYTES = 2 << 20
"""The most bytes of new text of one task, unless a single file has more."""


def review_team(change: Change, *, past_reviews: Path | None = None) -> Team:
    """The ready-made team with every worker bound to the snapshot of `change`.

    `past_reviews` is an export of earlier review comments, if the user gave one.
    """
    team = _ready_made()
    small = is_small(change)
    bound: dict[str, dict[str, object]] = {"past_reviews": {}}
    if past_reviews is not None:
        bound["past_reviews"]["past_reviews"] = str(past_reviews)
    lenses = change.settings.used.lenses or [worker.name for worker in team.workers]
    return dataclasses.replace(
        team,
        template=tuple(entry for entry in team.template if entry.worker in lenses),
        workers=tuple(
            dataclasses.replace(
                worker,
                isolate="none" if small else worker.isolate,
                offline=functools.partial(
                    cast("Callable[..., object]", worker.offline),
                    change=str(change.folder),
                    **bound.get(worker.name, {}),
                ),
            )
            for worker in team.workers
            if worker.name in lenses
        ),
    )


def is_small(change: Change) -> bool:
    """Whether all lenses work on `change` in the supervisor's own process.

    Starting processes would take longer than the work. The limits keep a hostile change from being
    slow where it can't be killed.
    """
    if len(change.files) > SMALL_FILES:
        return False
    sides = (side for file in change.files for side in (file.head_file, file.base_file))
    return sum(side.stat().st_size for side in sides if side.exists()) <= SMALL_BYTES


@functools.cache
def _ready_made() -> Team:
    return load("review")


def template_batches(change: Change) -> dict[str, list[Batch]]:
    """The batches for the template: `python` files, `text` files, and all files as a `whole`.

    Without batches there are no tasks; the whole is there even if no file is text. If the lenses
    that the settings choose have no files, each has one batch without any, so that there is a plan.
    """
    python = [file for file in change.files if file.language == "python"]
    batches = {
        "python": _batches(python),
        "text": _batches(change.files),
        "whole": [_batch(change.files)],
    }
    chosen = review_team(change).template
    if any(batches[entry.for_each] for entry in chosen if entry.for_each):
        return batches
    return {kind: [_batch(())] for kind in batches}


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
