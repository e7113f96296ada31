"""Resumes a review from its folder to the report and the exit status."""

from collections.abc import Callable
from pathlib import Path

from leadhand import Answer, Event, InputError, Supervisor
from leadhand.extension import LiveRun, ResumeOptions, RunStorage, StoredRun
from leadhand_teams.review.command.execution import CHANGE, ReviewRun
from leadhand_teams.review.command.options import ReviewSetup


def resume_review(options: ResumeOptions, storage: RunStorage, stored: StoredRun) -> int:
    """Resume a review. Raises `InputError` if its change is gone."""
    setup = ReviewSetup.of(stored.state.origin, **options.changed)
    run_id, output = stored.run_id, options.output
    if not (Path(setup.folder) / CHANGE).is_dir():
        raise InputError(
            f"review {run_id!r} is over, and its change was not kept: "
            f"`leadhand show {run_id}` shows it, and `leadhand review` begins another"
        )
    review_run = ReviewRun(setup, storage)
    title = f"review of {review_run.change.title}"
    session = LiveRun(storage, run_id, title, output, past=stored.events)

    async def resumed(supervisor: Supervisor, listener: Callable[[Event], None]) -> Answer:
        run = supervisor.handle(run_id)
        await run.resume(
            from_task=options.from_task,
            batches=review_run.reviewers.batches,
            listener=listener,
            stored=stored,
        )
        return await run.answer()

    return review_run.execute(
        session,
        resumed,
        stored=stored,
        format=output.answer_format,
        quiet=output.quiet,
    )
