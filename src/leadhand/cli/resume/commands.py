"""The commands that resume, answer and cancel runs, for `leadhand.cli.app`. Imports typer alone."""

from pathlib import Path
from typing import Annotated

import typer

from leadhand.cli import options as opt
from leadhand.cli.run.first_line import announce_run


def add_to(app: typer.Typer) -> None:
    """Add `resume`, `answer` and `cancel` to `app`."""
    app.command()(opt.ungrouped(resume))
    app.command()(opt.ungrouped(answer))
    app.command()(cancel)


def resume(
    run: opt.RunId,
    from_task: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Do this task and all that depend on it again; keep the rest.",
            metavar="TASK",
        ),
    ] = None,
    limits: opt.LimitOptions = opt.DEFAULT_LIMITS,
    output: opt.OutputOptions = opt.DEFAULT_OUTPUT,
    home: opt.Home = None,
    team: opt.OtherTeam = None,
    trust: opt.Trust = False,
    debug: opt.Debug = False,
) -> None:
    """Resume a run that was interrupted, ran out of time or budget, or waits for a person.

    Completed work is not done again, and no model is asked twice. The deadline counts from now; a
    budget is that of the whole run.
    """
    announce_run(run, home, quiet=output.quiet)
    from leadhand.cli.resume.actions import resume_command
    from leadhand.cli.run.options import ResumeOptions

    options = ResumeOptions(
        run=run,
        home=home,
        output=output,
        from_task=from_task,
        limits=limits,
        team=team,
        trust=trust,
    )
    raise typer.Exit(resume_command(options))


def answer(
    run: opt.RunId,
    text: Annotated[
        str | None,
        typer.Argument(
            help="What the worker should know, or why the plan or a tool call is refused.",
            metavar="TEXT",
            show_default=False,
        ),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="The task whose worker asks.", metavar="TASK")
    ] = None,
    approve: Annotated[
        bool, typer.Option("--approve", help="Carry out the plan, or make all tool calls.")
    ] = False,
    refuse: Annotated[
        bool, typer.Option("--refuse", help="Don't carry out the plan, or make no tool call.")
    ] = False,
    approve_call: Annotated[
        list[str] | None,
        typer.Option(
            help="Make this tool call, by its number or id; give a reply about each of them.",
            metavar="CALL",
        ),
    ] = None,
    refuse_call: Annotated[
        list[str] | None, typer.Option(help="Don't make this tool call.", metavar="CALL")
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(help="Carry out this plan instead.", metavar="FILE")
    ] = None,
    output: opt.OutputOptions = opt.DEFAULT_OUTPUT,
    home: opt.Home = None,
    team: opt.OtherTeam = None,
    trust: opt.Trust = False,
    debug: opt.Debug = False,
) -> None:
    """Answer the questions of a run and resume it. Without an answer, show the questions."""
    from leadhand.errors import InputError

    each = bool(approve_call or refuse_call)
    if sum((approve, refuse, plan is not None, each)) > 1:
        raise InputError("give one of --approve, --refuse and --plan, or a reply about each call")
    if (approve or plan is not None) and text is not None:
        raise InputError("TEXT is for a worker, or says why the plan is refused: leave it out")
    announce_run(run, home, quiet=output.quiet)
    from leadhand.cli.resume.actions import ReplyOptions, answer_command
    from leadhand.cli.run.options import ResumeOptions

    reply_options = ReplyOptions(
        text=text,
        task_id=task,
        approve=approve,
        refuse=refuse,
        plan=plan,
        approved_calls=tuple(approve_call or ()),
        refused_calls=tuple(refuse_call or ()),
    )
    options = ResumeOptions(run=run, home=home, output=output, team=team, trust=trust)
    raise typer.Exit(answer_command(options, reply_options))


def cancel(run: opt.RunId, home: opt.Home = None, debug: opt.Debug = False) -> None:
    """Stop a run, also one that waits or was interrupted. It can be resumed."""
    announce_run(run, home, quiet=False)
    from leadhand.cli.resume.actions import cancel_command

    raise typer.Exit(cancel_command(run, home))
