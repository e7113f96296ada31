"""Declares `leadhand review` and its options. Imports typer alone, so that `--help` is quick."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leadhand.extension import Command
from leadhand.extension.options import (
    BudgetTokens,
    BudgetUsd,
    Concurrency,
    Deadline,
    Debug,
    Events,
    Home,
    Json,
    NoModel,
    OutputOptions,
    Quiet,
)
from leadhand_teams.review import DEFAULT_THRESHOLD, FailOn, ReviewFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leadhand import Supervisor
    from leadhand.contracts.task import Batch
    from leadhand.extension import ResumeOptions, RunSetup, RunStorage, StoredRun


# Long because every option is declared here, with its help, and nowhere else.
def review(
    range: Annotated[
        str | None,
        typer.Argument(
            help="A..B, A...B or a commit. Default: the last commit.",
            metavar="RANGE",
            show_default=False,
        ),
    ] = None,
    repo: Annotated[Path, typer.Option(help="The repository.", metavar="DIR")] = Path(),
    diff: Annotated[
        str | None, typer.Option(help="Review a patch instead; - is stdin.", metavar="FILE")
    ] = None,
    staged: Annotated[bool, typer.Option("--staged", help="Review what is staged.")] = False,
    worktree: Annotated[
        bool, typer.Option("--worktree", help="Review what is not committed yet.")
    ] = False,
    format: Annotated[ReviewFormat, typer.Option(help="How to print the review.")] = "text",
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Write the report to a file too, as json, markdown, sarif, oneline or rdjson.",
            metavar="FORMAT=FILE",
        ),
    ] = None,
    threshold: Annotated[
        int | None,
        typer.Option(
            help="Findings below this confidence are suppressed. Default: the setting of the base, "
            f"else {DEFAULT_THRESHOLD}.",
            min=0,
            max=100,
        ),
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            help="Exit with 1 for findings of this severity or above. Default: the setting of the "
            "base, else critical."
        ),
    ] = None,
    no_look: Annotated[
        bool, typer.Option("--no-look", help="Leave out what needs a look.")
    ] = False,
    fail_on_look: Annotated[
        bool, typer.Option("--fail-on-look", help="Exit with 1 if something needs a look, too.")
    ] = False,
    stats: Annotated[
        bool, typer.Option("--stats", help="Say how long the tasks took, and their critical path.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(help="Hide the findings of this earlier JSON report.", metavar="FILE"),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(help="Write the report as the baseline of later reviews.", metavar="FILE"),
    ] = None,
    trust_ignores: Annotated[
        bool,
        typer.Option(
            "--trust-ignores", help="Obey `leadhand: ignore` comments that the change adds."
        ),
    ] = False,
    past_reviews: Annotated[
        Path | None,
        typer.Option(help="Comments on pull requests, as GitHub's JSON.", metavar="FILE"),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Have this model look for findings too; the change is sent to it.",
            metavar="PROVIDER:NAME",
        ),
    ] = None,
    no_model: NoModel = False,
    plan_only: Annotated[
        bool, typer.Option("--plan-only", help="Show the plan; review nothing.")
    ] = False,
    deadline: Deadline = None,
    budget_usd: BudgetUsd = None,
    budget_tokens: BudgetTokens = None,
    concurrency: Concurrency = 64,
    json: Json = False,
    events: Events = None,
    quiet: Quiet = False,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Review a change in any git repository; with --model, a model looks at it too.

    Every finding quotes the changed code and has a measured confidence. No code of the repository
    is run. Nothing leaves this machine without --model or LEADHAND_MODEL.
    """
    from leadhand_teams.review.command.first_line import announce_change

    what = "what is staged" if staged else "what is not committed" if worktree else range
    if (range is not None) + (diff is not None) + staged + worktree < 2:
        announce_change(what or "the last commit", repo, diff, baseline, past_reviews, quiet=quiet)
    from leadhand_teams.review.command.command import review_command
    from leadhand_teams.review.command.options import ReviewOptions, ReviewSetup

    given = ReviewOptions(
        setup=ReviewSetup(
            model=model,
            no_model=no_model,
            deadline=deadline,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            concurrency=concurrency,
            threshold=threshold,
            fail_on=fail_on,
            no_look=no_look,
            fail_on_look=fail_on_look,
            write_baseline=os.path.abspath(write_baseline) if write_baseline else None,
            trust_ignores=trust_ignores,
            stats=stats,
        ),
        output=OutputOptions(events=events, quiet=quiet, no_input=True),
        format="json" if json else format,
        range=range,
        repo=repo,
        diff=diff,
        staged=staged,
        worktree=worktree,
        baseline=baseline,
        past_reviews=past_reviews,
        plan_only=plan_only,
        also=tuple(also or ()),
        home=home,
    )
    raise typer.Exit(review_command(given))


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
