"""Declares `leadhand review` and its options. Imports typer alone, so that `--help` is quick."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leadhand.extension import Command
from leadhand.extension.options import Concurrency, Events, Home, Json, LimitOptions, Quiet
from leadhand_teams.review import DEFAULT_THRESHOLD, FailOn, ReviewFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leadhand import Supervisor
    from leadhand.contracts.task import Batch
    from leadhand.extension import ResumeOptions, RunSetup, RunStorage, StoredRun


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLimits(LimitOptions):
    """Which model looks at the change too, how long a review may take, and what it may spend."""

    model: Annotated[
        str | None,
        typer.Option(
            help="Have this model look for findings too; the change is sent to it.",
            metavar="PROVIDER:NAME",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOptions:
    """The options of `leadhand review`."""

    range: Annotated[
        str | None,
        typer.Argument(
            help="A..B, A...B or a commit. Default: the last commit.",
            metavar="RANGE",
            show_default=False,
        ),
    ] = None
    repo: Annotated[Path, typer.Option(help="The repository.", metavar="DIR")] = Path()
    diff: Annotated[
        str | None, typer.Option(help="Review a patch instead; - is stdin.", metavar="FILE")
    ] = None
    staged: Annotated[bool, typer.Option("--staged", help="Review what is staged.")] = False
    worktree: Annotated[
        bool, typer.Option("--worktree", help="Review what is not committed yet.")
    ] = False
    format: Annotated[ReviewFormat, typer.Option(help="How to print the review.")] = "text"
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Write the report to a file too, as json, markdown, sarif, oneline or rdjson.",
            metavar="FORMAT=FILE",
        ),
    ] = None
    threshold: Annotated[
        int | None,
        typer.Option(
            help="Findings below this confidence are suppressed. Default: the setting of the base, "
            f"else {DEFAULT_THRESHOLD}.",
            min=0,
            max=100,
        ),
    ] = None
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            help="Exit with 1 for findings of this severity or above. Default: the setting of the "
            "base, else critical."
        ),
    ] = None
    no_look: Annotated[bool, typer.Option("--no-look", help="Leave out what needs a look.")] = False
    fail_on_look: Annotated[
        bool, typer.Option("--fail-on-look", help="Exit with 1 if something needs a look, too.")
    ] = False
    stats: Annotated[
        bool, typer.Option("--stats", help="Say how long the tasks took, and their critical path.")
    ] = False
    baseline: Annotated[
        Path | None,
        typer.Option(help="Hide the findings of this earlier JSON report.", metavar="FILE"),
    ] = None
    write_baseline: Annotated[
        Path | None,
        typer.Option(help="Write the report as the baseline of later reviews.", metavar="FILE"),
    ] = None
    trust_ignores: Annotated[
        bool,
        typer.Option(
            "--trust-ignores", help="Obey `leadhand: ignore` comments that the change adds."
        ),
    ] = False
    past_reviews: Annotated[
        Path | None,
        typer.Option(help="Comments on pull requests, as GitHub's JSON.", metavar="FILE"),
    ] = None
    plan_only: Annotated[
        bool, typer.Option("--plan-only", help="Show the plan; review nothing.")
    ] = False
    limits: ReviewLimits = ReviewLimits()
    concurrency: Concurrency = 64
    json: Json = False
    events: Events = None
    quiet: Quiet = False
    home: Home = None

    @property
    def printed(self) -> ReviewFormat:
        """How the review is printed."""
        return "json" if self.json else self.format

    def reads(self) -> str:
        """What a review reads, in words; empty if it can't be found."""
        files = (self.baseline, self.past_reviews, None if self.diff == "-" else self.diff)
        # Unlike Path.exists, this is false, not an error, where a folder can't be read.
        if not all(file is None or os.path.exists(file) for file in files):
            return ""
        if self.diff is not None:
            return "the patch on stdin" if self.diff == "-" else self.diff
        try:
            here = self.repo.absolute()
        except OSError:  # the current folder may have been deleted
            return ""
        found = any(os.path.exists(place / ".git") for place in (here, *here.parents))
        what = self.range or "the last commit"
        what = "what is not committed" if self.worktree else what
        return ("what is staged" if self.staged else what) if found else ""


def review(options: ReviewOptions) -> None:
    """Review a change in any git repository; with --model, a model looks at it too.

    Every finding quotes the changed code and has a measured confidence. No code of the repository
    is run. Nothing leaves this machine without --model or LEADHAND_MODEL.
    """
    from leadhand.extension.output import announce

    subjects = (options.range, options.diff, options.staged or None, options.worktree or None)
    # Shown before the libraries that read it are imported; an error stands alone.
    if sum(one is not None for one in subjects) < 2 and (what := options.reads()):
        announce(f"reading {what}", quiet=options.quiet)
    from leadhand_teams.review.command.command import review_command

    raise typer.Exit(review_command(options))


def _resume(options: "ResumeOptions", storage: "RunStorage", stored: "StoredRun") -> int:
    from leadhand_teams.review.command.execution import resume_review

    return resume_review(options, storage, stored)


def _trial(
    setup: "RunSetup", storage: "RunStorage", folder: "Path", inputs: "Sequence[Path]"
) -> "tuple[Supervisor, Mapping[str, Sequence[Batch]]]":
    from leadhand_teams.review.command.command import review_trial

    return review_trial(setup, storage, folder, inputs)


def _tool(home: str | None) -> "Callable[..., object]":
    from leadhand_teams.review.command.tool import review_tool

    return review_tool(home)


command = Command(run=review, resume=_resume, trial=_trial, tool=_tool, needs="a change to look at")
"""The entry point."""
