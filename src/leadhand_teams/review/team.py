"""Builds the review team for one change: workers bound to the snapshot, batches, and rules.

`lenses` has what each lens does, `team.yaml` the workers and the plan, and `with_model` what a
model adds.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from leadhand import Team
from leadhand.contracts.task import Batch
from leadhand.extension import load
from leadhand_teams.review.change import Change, ChangedFile

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
