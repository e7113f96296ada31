"""`leadhand review`: from the options to the report and the exit status."""

import asyncio
import contextlib
import os
import shutil
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO

from leadhand import InputError, Supervisor
from leadhand.contracts.task import Batch
from leadhand.errors import ToolError
from leadhand.extension import LiveRun, RunSetup, RunStorage
from leadhand.extension.options import OutputOptions
from leadhand.extension.output import DataConsole, safe, show_plan, writing_output
from leadhand.tools.git import reading_until
from leadhand.tools.patch import open_patch
from leadhand.tools.scratch import scratch_folder
from leadhand_teams.review import DocumentFormat
from leadhand_teams.review.change import Change
from leadhand_teams.review.command.declaration import ReviewOptions
from leadhand_teams.review.command.execution import (
    BASELINE,
    CHANGE,
    PAST_REVIEWS,
    ReviewRun,
    report_unreadable,
)
from leadhand_teams.review.command.files import (
    also_files,
    check_apart,
    check_writable,
    load_baseline,
)
from leadhand_teams.review.command.models import Reviewers, ReviewSetup
from leadhand_teams.review.lens import data_limit
from leadhand_teams.review.lenses.past_reviews import load_export
from leadhand_teams.review.snapshot import write_snapshot

READING_SHARE = 0.6
"""The share of the time that reading the change may take; the rest is for reviewing it."""


def review_command(options: ReviewOptions) -> int:
    """Review the change that `options` name, print the report, and return the exit status."""
    _check_alternatives(options)
    also = also_files(options.also or ())
    for file in (options.baseline, options.past_reviews):
        if file is not None and file.is_fifo():  # files are read twice, and a pipe may block
            raise InputError(f"can't read {safe(str(file))}: it is a pipe; give a file")
    if options.write_baseline is not None:
        check_writable(options.write_baseline)
    written = (*also.values(), options.write_baseline)
    read = (options.diff, options.baseline, options.past_reviews)
    check_apart(filter(None, written), filter(None, read))
    if options.baseline is not None:
        load_baseline(options.baseline)
    if options.past_reviews is not None:
        load_export(options.past_reviews)
    setup = _setup(options, also)
    # All raise an error for a wrong value, before any work is done.
    _ = setup.deadline_s, setup.budget, data_limit()
    storage = RunStorage(options.home, new=True)
    run_id = storage.new_run_id()
    try:
        with _folder(options, storage, run_id) as folder:
            try:
                with reading_until(time.monotonic() + READING_SHARE * setup.time_left_s):
                    _snapshot(options, folder / CHANGE)
            except ToolError as error:
                return report_unreadable(
                    setup, run_id, options.range, error, format=options.printed
                )
            for file, name in ((options.baseline, BASELINE), (options.past_reviews, PAST_REVIEWS)):
                if file is not None:
                    shutil.copyfile(file, folder / name)
            return _reviewed(options, replace(setup, folder=str(folder)), storage, run_id)
    finally:
        storage.store.close()


def _setup(options: ReviewOptions, also: Mapping[DocumentFormat, str]) -> ReviewSetup:
    baseline = os.path.abspath(options.write_baseline) if options.write_baseline else None
    limits = asdict(options.limits)
    return ReviewSetup.of(asdict(options), **limits, also=also, write_baseline=baseline)


def _reviewed(options: ReviewOptions, setup: ReviewSetup, storage: RunStorage, run_id: str) -> int:
    review_run = ReviewRun(setup, storage)
    request = f"Review {review_run.change.title}"
    if options.plan_only:
        return _show_plan(review_run.supervisor(), request, review_run.reviewers, options)
    title = f"review of {review_run.change.title}"
    output = OutputOptions(events=options.events, quiet=options.quiet, no_input=True)
    session = LiveRun(storage, run_id, title, output)
    return review_run.execute(
        session,
        lambda supervisor, listener: supervisor.run(
            request,
            run_id=run_id,
            batches=review_run.reviewers.batches,
            origin=setup.origin("review"),
            listener=listener,
        ),
        format=options.printed,
        quiet=options.quiet,
    )


def review_trial(
    setup: RunSetup, storage: RunStorage, folder: Path, inputs: Sequence[Path]
) -> tuple[Supervisor, Mapping[str, Sequence[Batch]]]:
    """The supervisor of a case of `leadhand eval`, whose only input is a patch, and its batches."""
    if len(inputs) != 1:
        raise InputError("a case of the team review has one input, a patch: name it in `inputs`")
    if not (folder / CHANGE).exists():  # else the evaluation is resumed
        with _patch(str(inputs[0])) as patch:
            write_snapshot(folder / CHANGE, patch=patch, patch_name=inputs[0].name)
    run = ReviewRun(ReviewSetup.of(asdict(setup), folder=str(folder)), storage)
    return run.supervisor(), run.reviewers.batches


@contextlib.contextmanager
def _folder(options: ReviewOptions, storage: RunStorage, run_id: str) -> Generator[Path]:
    """A new folder for the review's files; it is kept after the process if the run is."""
    if options.plan_only or storage.lost is not None:
        with scratch_folder() as folder:
            yield folder
        return
    folder = storage.folder(run_id)
    try:
        folder.mkdir(mode=0o700, parents=True)
    except OSError as error:
        raise ToolError(f"can't make the folder {folder}: {error.strerror}") from error
    try:
        yield folder
    except BaseException:
        if not storage.store.last_seq(run_id):  # it never started, so it can't be resumed
            storage.forget(run_id)
        raise
    if options.plan_only:
        storage.forget(run_id)


def _check_alternatives(options: ReviewOptions) -> None:
    if options.range == "":
        raise InputError("the range is empty: give A..B or a commit, or leave it out")
    subjects = {"RANGE": options.range, "--diff": options.diff}
    switches = {"--staged": options.staged, "--worktree": options.worktree}
    for given in (
        {**subjects, **switches},
        {"--no-look": options.no_look, "--fail-on-look": options.fail_on_look},
        {"--baseline": options.baseline, "--write-baseline": options.write_baseline},
    ):
        named = [name for name, value in given.items() if value]
        if len(named) > 1:
            raise InputError(f"{' and '.join(named)} exclude each other: give one of them")


def _snapshot(options: ReviewOptions, folder: Path) -> Change:
    if options.diff is None:
        return write_snapshot(
            folder,
            repo=options.repo,
            revision=options.range,
            staged=options.staged,
            worktree=options.worktree,
        )
    with _patch(options.diff) as patch:
        name = "the patch on stdin" if options.diff == "-" else Path(options.diff).name
        return write_snapshot(folder, patch=patch, patch_name=name)


@contextlib.contextmanager
def _patch(name: str) -> Generator[IO[bytes]]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        file = open_patch(Path(name))
    except OSError as error:
        raise InputError(f"can't read the patch {name}: {error.strerror}") from error
    with file:
        yield file


def _show_plan(
    supervisor: Supervisor, request: str, reviewers: Reviewers, options: ReviewOptions
) -> int:
    plan = asyncio.run(supervisor.plan(request, batches=reviewers.batches))
    with writing_output():
        if options.printed == "json":
            sys.stdout.write(plan.model_dump_json(indent=2) + "\n")
        else:
            console = DataConsole()
            show_plan(plan, console, models=reviewers.models)
            reviewers.announce_calls(plan, console)
    return 0
