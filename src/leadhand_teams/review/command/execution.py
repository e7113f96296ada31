"""Executes a review from its folder to the report.

The folder contains the snapshot of the change and the other input files, so that a review can be
resumed by another process, even without the repository.
"""

import os
import shutil
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

from leadhand import Answer, Event, InputError, Supervisor
from leadhand.contracts.answer import Gap
from leadhand.errors import ToolError
from leadhand.extension import INTERRUPTED, LiveRun, ResumeOptions, RunStorage, StoredRun, follow_up
from leadhand.extension.findings import Review
from leadhand.extension.output import DataConsole, error_console, print_note, writing_output
from leadhand.extension.roles import TemplatePlanner, with_gaps
from leadhand.tools.git import GitTimeout, OutOfTime
from leadhand_teams.review import ReviewFormat
from leadhand_teams.review.change import Change
from leadhand_teams.review.command.files import load_baseline, write_whole
from leadhand_teams.review.command.github import annotate
from leadhand_teams.review.command.models import ReviewSetup, reviewers
from leadhand_teams.review.command.rendering import rendered
from leadhand_teams.review.command.report import ReviewReport, Subject, exit_status
from leadhand_teams.review.command.text import show_review
from leadhand_teams.review.lens import limited_data
from leadhand_teams.review.settings import ReviewSettings
from leadhand_teams.review.synthesizer import FindingsSynthesizer
from leadhand_teams.review.team import review_team

CHANGE = "change"
BASELINE = "baseline.json"
PAST_REVIEWS = "past_reviews.json"


class ReviewRun:
    """One review of the change in a folder."""

    def __init__(self, setup: ReviewSetup, storage: RunStorage) -> None:
        """Raises `InputError` and `ToolError` if the folder was changed."""
        self._setup = setup
        self._storage = storage
        self._folder = Path(setup.folder)
        self.change = Change.load(str(self._folder / CHANGE))
        export = self._folder / PAST_REVIEWS
        past_reviews = export if export.exists() else None
        team = review_team(self.change, past_reviews=past_reviews)
        self.reviewers = reviewers(team, self.change, setup, past_reviews)

    def supervisor(self) -> Supervisor:
        """The supervisor of the run. Raises `InputError`."""
        setup, reviewers = self._setup, self.reviewers
        file = self._folder / BASELINE
        baseline = load_baseline(file) if file.exists() else frozenset[str]()
        return Supervisor(
            reviewers.team,
            deadline_s=setup.left_s(reviewers.team),
            budget=setup.budget,
            concurrency=setup.concurrency,
            journal=self._storage.read_only_journal,
            planner=TemplatePlanner(),
            synthesizer=lambda caller, fence: FindingsSynthesizer(
                self.change,
                threshold=setup.threshold_of(self.change.settings.used),
                look=not setup.no_look,
                trust_ignores=setup.trust_ignores,
                baseline=baseline,
                chunks=reviewers.chunks,
                caller=caller,
                tiers=reviewers.team.tiers,
                fence=fence,
            ),
        )

    def execute(
        self,
        session: LiveRun,
        work: Callable[[Supervisor, Callable[[Event], None]], Coroutine[object, object, Answer]],
        *,
        format: ReviewFormat,
        quiet: bool,
        stored: StoredRun | None = None,
    ) -> int:
        """Do `work`, print the report, and return the exit status.

        The folder is deleted if the answer is complete: any other review can be resumed.
        """
        supervisor = self.supervisor()
        if not quiet:
            self.reviewers.announce(error_console())
        with limited_data():
            answer = session.follow(supervisor, lambda listener: work(supervisor, listener))
        if self.change.cut is not None and answer.status == "partial":
            answer = answer.model_copy(update={"ended_by": answer.ended_by or "deadline"})
        settings = self.change.settings.used
        threshold = self._setup.threshold_of(settings)
        subject = Subject.of(self.change)
        report = ReviewReport.of(answer, subject, threshold, stats=self._setup.stats)
        status = _reported(report, self._setup, settings, format)
        if answer.status == "complete":
            shutil.rmtree(self._folder, ignore_errors=True)
        follow_up(answer, self._storage, stored)
        return status


def report_unreadable(
    setup: ReviewSetup, run_id: str, asked: str | None, error: ToolError, *, format: ReviewFormat
) -> int:
    """Print the report of a review whose change could not be read, and return the exit status."""
    title = asked or "the change"
    late = isinstance(error, OutOfTime) or (isinstance(error, GitTimeout) and error.time_up)
    gaps = (Gap(task_id="change", why=str(error), what="Read the change that is to be reviewed"),)
    answer = Answer(
        run_id=run_id,
        status="failed",
        ended_by="deadline" if late else None,
        engine="deterministic",
        team="review",
        request=f"Review {title}",
        answer=with_gaps("", gaps),
        output=Review().model_dump(mode="json"),
        gaps=gaps,
    )
    settings = ReviewSettings()
    report = ReviewReport.of(answer, Subject(title), setup.threshold_of(settings))
    return _reported(report, setup, settings, format)


def _reported(
    report: ReviewReport, setup: ReviewSetup, settings: ReviewSettings, format: ReviewFormat
) -> int:
    """Print and write the report, and return the exit status."""
    with writing_output():
        show(report, format)
    write_files(report, setup)
    answer = report.answer
    if answer.status == "cancelled":
        return INTERRUPTED
    if answer.status != "complete":
        return 4 if answer.ended_by in ("budget", "deadline") else 3
    fail_on = setup.fail_on_of(settings)
    return exit_status(report.review, fail_on, fail_on_look=setup.fail_on_look)


def show(report: ReviewReport, format: ReviewFormat) -> None:
    """Print `report` on stdout; `github` also appends to GitHub's summary file."""
    match format:
        case "text":
            show_review(report, DataConsole())
        case "github":
            summary = os.environ.get("GITHUB_STEP_SUMMARY")
            _write(annotate(report, Path(summary) if summary else None))
        case _:
            _write(rendered(report, format))


def write_files(report: ReviewReport, setup: ReviewSetup) -> None:
    """Write the files that the user asked for beside the output."""
    for kind, file in setup.also.items():
        write_whole(Path(file), rendered(report, kind))
    if setup.write_baseline is None:
        return
    if report.answer.status == "complete":
        write_whole(Path(setup.write_baseline), rendered(report, "json"))
    else:
        name = Path(setup.write_baseline).name
        print_note(f"{name} was not written: the review is {report.answer.status}")


def _write(text: str) -> None:
    """Write UTF-8 in any locale."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()


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
