"""A review under way: what is kept of it in a folder, and from there to the report.

The folder holds the snapshot of the change and whatever else was handed in, so that a review can be
gone on with after its process is gone, and nothing of the repository has to be there for that.
"""

import shutil
from collections.abc import Callable, Coroutine
from pathlib import Path

from leadhand.cli.options import FailOn, ReviewFormat
from leadhand.cli.review.baseline import load_baseline
from leadhand.cli.review.models import reviewers
from leadhand.cli.review.options import ReviewSetup
from leadhand.cli.review.output import show
from leadhand.cli.review.report import ReviewReport, Subject, exit_status
from leadhand.cli.run.command import follow_up
from leadhand.cli.run.execution import INTERRUPTED, LiveRun
from leadhand.cli.run.storage import RunStorage
from leadhand.cli.standard_streams import written
from leadhand.cli.views.consoles import error_console
from leadhand.contracts.answer import Answer, Gap
from leadhand.engine.recorder import Listener
from leadhand.errors import ToolError
from leadhand.planners import TemplatePlanner
from leadhand.run.outcome import with_gaps
from leadhand.state.fold import RunState
from leadhand.supervisor import Supervisor
from leadhand.synthesis import Review
from leadhand.teams.review.change import Change
from leadhand.teams.review.synthesizer import FindingsSynthesizer
from leadhand.teams.review.team import review_team, rules
from leadhand.teams.review.with_model import lens_of
from leadhand.tools.git import GitTimeout, OutOfTime

CHANGE = "change"
BASELINE = "baseline.json"
PAST_REVIEWS = "past_reviews.json"


class Reviewing:
    """One review of the change in a folder."""

    def __init__(self, setup: ReviewSetup, storage: RunStorage) -> None:
        """Raises `InputError` and `ToolError` where the folder is not as it was left."""
        self._setup = setup
        self._storage = storage
        self._folder = Path(setup.folder)
        self.change = Change.load(str(self._folder / CHANGE))
        past_reviews = self._folder / PAST_REVIEWS
        team = review_team(
            self.change, past_reviews=past_reviews if past_reviews.exists() else None
        )
        self.crew = reviewers(team, self.change, setup)

    def supervisor(self) -> Supervisor:
        """Whoever has it done. Raises `InputError`."""
        setup, crew = self._setup, self.crew
        file = self._folder / BASELINE
        baseline = load_baseline(file) if file.exists() else frozenset[str]()
        return Supervisor(
            crew.team,
            deadline_s=setup.left_s(crew.team),
            budget=setup.budget,
            concurrency=setup.concurrency,
            journal=self._storage.journal,
            planner=TemplatePlanner(),
            synthesizer=lambda caller, fence: FindingsSynthesizer(
                self.change,
                threshold=setup.threshold,
                baseline=baseline,
                chunks=crew.chunks,
                caller=caller,
                tiers=crew.team.tiers,
                fence=fence,
            ),
        )

    def to_status(
        self,
        session: LiveRun,
        work: Callable[[Supervisor, Listener], Coroutine[object, object, Answer]],
        *,
        format: ReviewFormat,
        quiet: bool,
        state: RunState | None = None,
    ) -> int:
        """Have `work` done, print the report, and give the exit status.

        What is in the folder is deleted with a complete answer: any other can be gone on with, or
        its tasks be done again.
        """
        supervisor = self.supervisor()
        if not quiet:
            self.crew.tell(error_console())
            self._setup.tell_left(error_console())
        answer = session.follow(supervisor, lambda listener: work(supervisor, listener))
        if self.change.cut is not None and answer.status == "partial":
            answer = answer.model_copy(update={"ended_by": answer.ended_by or "deadline"})
        review = Review.model_validate(answer.output)
        report = ReviewReport(
            review=review,
            answer=answer,
            subject=Subject.of(self.change),
            threshold=self._setup.threshold,
            lenses=tuple(sorted({lens_of(task.worker) for task in answer.tasks})),
            rules=rules(),
        )
        with written():
            show(report, format)
        if answer.status == "complete":
            shutil.rmtree(self._folder, ignore_errors=True)
        follow_up(answer, self._storage, state)
        return _status(answer, review, self._setup.fail_on)


def report_unread(
    setup: ReviewSetup, run_id: str, asked: str | None, error: ToolError, *, format: ReviewFormat
) -> int:
    """Print the report of a review whose change could not be read, and give the exit status."""
    title = asked or "the change"
    late = isinstance(error, OutOfTime) or (isinstance(error, GitTimeout) and error.time_up)
    gaps = (Gap(task_id="change", why=str(error), what="Read the change that is to be reviewed"),)
    review = Review()
    answer = Answer(
        run_id=run_id,
        status="failed",
        ended_by="deadline" if late else None,
        engine="deterministic",
        team="review",
        request=f"Review {title}",
        answer=with_gaps("", gaps),
        output=review.model_dump(mode="json"),
        gaps=gaps,
    )
    subject = Subject(title=title, base=None, head=None, files=0, added=0, removed=0)
    report = ReviewReport(
        review=review, answer=answer, subject=subject, threshold=setup.threshold, rules=rules()
    )
    with written():
        show(report, format)
    return _status(answer, review, setup.fail_on)


def _status(answer: Answer, review: Review, fail_on: FailOn) -> int:
    if answer.status == "cancelled":
        return INTERRUPTED
    if answer.status != "complete":
        return 4 if answer.ended_by in ("budget", "deadline") else 3
    return exit_status(review, fail_on)
