"""`leadhand review`: from the options to the report and the exit status."""

import asyncio
import contextlib
import shutil
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from leadhand.cli import session
from leadhand.cli.budget import budget_of
from leadhand.cli.console import Output
from leadhand.cli.duration import parse_duration
from leadhand.cli.output import written
from leadhand.cli.plan import show_plan
from leadhand.cli.review_baseline import load_baseline
from leadhand.cli.review_models import Reviewers, reviewers
from leadhand.cli.review_report import FailOn, ReviewReport, Subject, exit_status
from leadhand.cli.review_show import Format, show
from leadhand.contracts.answer import Answer
from leadhand.errors import InputError
from leadhand.planning import TemplatePlanner
from leadhand.supervisor import Supervisor
from leadhand.synthesis import Review
from leadhand.teams.review.change import Change
from leadhand.teams.review.lenses.past_reviews.export import load_export
from leadhand.teams.review.snapshot import write_snapshot
from leadhand.teams.review.synthesizer import FindingsSynthesizer
from leadhand.teams.review.team import review_team, rules
from leadhand.teams.review.with_model import lens_of


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """What was asked for on the command line; see `leadhand review --help`."""

    range: str | None
    repo: Path
    diff: str | None
    staged: bool
    worktree: bool
    format: Format
    threshold: int
    fail_on: FailOn
    baseline: Path | None
    past_reviews: Path | None
    model: str | None
    no_model: bool
    plan_only: bool
    deadline: str | None
    budget_usd: float | None
    budget_tokens: int | None
    concurrency: int
    events: str | None
    quiet: bool


def review_command(options: ReviewOptions) -> int:
    """Review what `options` say, print the report, and give the exit status."""
    deadline_s = parse_duration(options.deadline) if options.deadline else 600.0
    budget = budget_of(options.budget_usd, options.budget_tokens)
    _one_subject(options)
    baseline = load_baseline(options.baseline) if options.baseline else frozenset[str]()
    with tempfile.TemporaryDirectory(prefix="leadhand-", ignore_cleanup_errors=True) as scratch:
        change = _snapshot(options, Path(scratch) / "change")
        past_reviews = _past_reviews(options.past_reviews, Path(scratch))
        team = review_team(change, past_reviews=past_reviews)
        crew = reviewers(
            team,
            change,
            model=options.model,
            no_model=options.no_model,
            threshold=options.threshold,
        )
        supervisor = Supervisor(
            crew.team,
            deadline_s=deadline_s,
            budget=budget,
            concurrency=options.concurrency,
            planner=TemplatePlanner(),
            synthesizer=lambda caller, fence: FindingsSynthesizer(
                change,
                threshold=options.threshold,
                baseline=baseline,
                chunks=crew.chunks,
                caller=caller,
                tiers=crew.team.tiers,
                fence=fence,
            ),
        )
        request = f"Review {change.title}"
        if options.plan_only:
            return _show_plan(supervisor, request, crew, options)
        if not options.quiet:
            crew.tell(session.error_console())
        answer = _reviewed(supervisor, request, crew, options)
        review = Review.model_validate(answer.output)
        report = ReviewReport(
            review=review,
            answer=answer,
            subject=Subject.of(change),
            threshold=options.threshold,
            lenses=tuple(sorted({lens_of(task.worker) for task in answer.tasks})),
            rules=rules(),
        )
        with written():
            show(report, options.format)
        return _status(answer, review, options.fail_on)


def _reviewed(
    supervisor: Supervisor, request: str, crew: Reviewers, options: ReviewOptions
) -> Answer:
    return session.run(
        supervisor,
        request,
        title=f"review of {crew.change.title}",
        batches=crew.cuts,
        events=options.events,
        quiet=options.quiet,
    )


def _one_subject(options: ReviewOptions) -> None:
    given = {
        "RANGE": options.range is not None,
        "--diff": options.diff is not None,
        "--staged": options.staged,
        "--worktree": options.worktree,
    }
    if options.range == "":
        raise InputError("the range is empty: give A..B or a commit, or leave it out")
    named = [name for name, there in given.items() if there]
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
        file = Path(name).open("rb")  # noqa: SIM115 - the error of opening alone is told
    except OSError as error:
        raise InputError(f"can't read the patch {name}: {error.strerror}") from error
    with file:
        yield file


def _past_reviews(export: Path | None, scratch: Path) -> Path | None:
    """A copy of the export that the lens's process can read, once it is known to be sound."""
    if export is None:
        return None
    load_export(export)
    return Path(shutil.copyfile(export, scratch / "past_reviews.json"))


def _show_plan(
    supervisor: Supervisor, request: str, crew: Reviewers, options: ReviewOptions
) -> int:
    plan = asyncio.run(supervisor.plan(request, batches=crew.cuts))
    with written():
        if options.format == "json":
            sys.stdout.write(plan.model_dump_json(indent=2) + "\n")
        else:
            console = Output()
            show_plan(plan, console, models=crew.asked)
            crew.tell_calls(plan, console)
    return 0


def _status(answer: Answer, review: Review, fail_on: FailOn) -> int:
    if answer.status == "cancelled":
        return session.INTERRUPTED
    if answer.status != "complete":
        return 4 if answer.ended_by in ("budget", "deadline") else 3
    return exit_status(review, fail_on)
