"""The commands that measure teams, for `leadhand.cli.app`, which adds them. Imports typer alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from leadhand.cli import options as opt
from leadhand.cli.run.first_line import announce_team

ReportFormat = Literal["text", "json", "junit", "html"]
_JUDGE = (
    "The model for what code can't decide: rubrics. Default: a model of the team that no worker "
    "uses."
)
_FAULT = (
    "A worker that fails, by name or number: 2=timeout, billing=error, =invalid_output, "
    "=out_of_scope, =ambiguous_input. May be repeated."
)
_CASES = "A file of cases, or a folder. Default: cases.jsonl or cases.yaml beside the team."
_BASELINE = "An earlier report as JSON. Exit status 1: something is worse beyond noise."
_SINGLE = "Compare with one worker that has all tools and all instructions."
_NO_LIMITS = opt.LimitOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    repeat: Annotated[
        int, typer.Option(help="Run each case so often.", metavar="COUNT", min=1, max=1_000)
    ] = 1
    at_once: Annotated[
        int, typer.Option(help="Runs at the same time.", metavar="COUNT", min=1, max=256)
    ] = 4
    scorers: Annotated[
        list[str] | None,
        typer.Option("--scorer", help="A function that scores each trial.", metavar="FILE.py:NAME"),
    ] = None
    faults: Annotated[
        list[str] | None, typer.Option("--fault", help=_FAULT, metavar="WORKER=KIND")
    ] = None
    allow_writes: Annotated[
        bool, typer.Option("--allow-writes", help="Call tools that may change something, too.")
    ] = False
    judge: Annotated[str | None, typer.Option(help=_JUDGE, metavar="PROVIDER:NAME")] = None
    record: Annotated[
        Path | None,
        typer.Option(help="Keep the exchanges with models, without secrets.", metavar="FILE"),
    ] = None
    replay: Annotated[
        Path | None,
        typer.Option(help="Answer from these exchanges; no model is asked.", metavar="FILE"),
    ] = None
    resume: Annotated[
        str | None, typer.Option(help="Go on with this evaluation.", metavar="EVAL")
    ] = None
    limits: opt.LimitOptions = _NO_LIMITS
    format: Annotated[ReportFormat, typer.Option(help="How to print the report.")] = "text"
    json: Annotated[bool, typer.Option("--json", help="The report as JSON on stdout.")] = False
    quiet: opt.Quiet = False
    home: opt.Home = None
    trust: opt.Trust = False


def add_to(app: typer.Typer) -> None:
    opt.command(app, "eval")(evaluate)
    opt.command(app)(compare)


def evaluate(
    teams: Annotated[list[str], typer.Argument(help=opt.TEAM_HELP, metavar="TEAM")],
    measure: MeasureOptions,
    cases: Annotated[Path | None, typer.Option(help=_CASES, metavar="FILE|DIR")] = None,
    baseline: Annotated[Path | None, typer.Option(help=_BASELINE, metavar="FILE")] = None,
) -> None:
    """Measure teams on cases: routing, plans, single workers, answers, time and cost.

    Each case is a run in the journal. Tools that may change something are not called.
    """
    announce_team(teams[0], quiet=measure.quiet)
    from leadhand.cli.eval.command import eval_command

    raise typer.Exit(eval_command(teams, measure, cases, baseline))


def compare(
    cases: Annotated[Path, typer.Argument(help="A file or folder of cases.", metavar="CASES")],
    teams: Annotated[list[str], typer.Option("--team", help=opt.TEAM_HELP, metavar="TEAM")],
    measure: MeasureOptions,
    single: Annotated[bool, typer.Option("--single", help=_SINGLE)] = False,
) -> None:
    """Compare a team with one worker that does everything, or two teams, on the same cases.

    Scores, seconds, tokens and dollars side by side.
    """
    announce_team(teams[0], quiet=measure.quiet)
    from leadhand.cli.eval.command import compare_command

    raise typer.Exit(compare_command(cases, teams, measure, single=single))
