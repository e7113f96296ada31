"""The commands that resume, answer and cancel runs, for `leadhand.cli.app`. Imports typer alone."""

import typer

from leadhand.cli import options as opt
from leadhand.cli.run.first_line import announce_run


def add_to(app: typer.Typer) -> None:
    """Add `resume`, `answer` and `cancel` to `app`."""
    for function in (resume, answer, cancel):
        opt.command(app)(function)


def resume(options: opt.ResumeOptions) -> None:
    """Resume a run that was interrupted, ran out of time or budget, or waits for a person.

    Completed work is not done again, and no model is asked twice. The deadline counts from now; a
    budget is that of the whole run.
    """
    announce_run(options.run, options.home, quiet=options.output.quiet)
    from leadhand.cli.resume.actions import resume_run
    from leadhand.cli.run.storage import RunStorage

    with RunStorage(options.home, options=options.kept) as storage:
        raise typer.Exit(resume_run(options, storage))


def answer(
    run: opt.RunId,
    reply: opt.ReplyOptions,
    output: opt.OutputOptions,
    home: opt.Home = None,
    team: opt.OtherTeam = None,
    trust: opt.Trust = False,
) -> None:
    """Answer the questions of a run and resume it. Without an answer, show the questions."""
    from leadhand.errors import InputError

    each = bool(reply.approved_calls or reply.refused_calls)
    if sum((reply.approve, reply.refuse, reply.plan is not None, each)) > 1:
        raise InputError("give one of --approve, --refuse and --plan, or a reply about each call")
    if (reply.approve or reply.plan is not None) and reply.text is not None:
        raise InputError("TEXT is for a worker, or says why the plan is refused: leave it out")
    announce_run(run, home, quiet=output.quiet)
    from leadhand.cli.resume.actions import answer_run
    from leadhand.cli.run.storage import RunStorage

    options = opt.ResumeOptions(run=run, home=home, output=output, team=team, trust=trust)
    with RunStorage(home, options=options.kept) as storage:
        raise typer.Exit(answer_run(options, reply, storage))


def cancel(run: opt.RunId, home: opt.Home = None) -> None:
    """Stop a run, also one that waits or was interrupted. It can be resumed."""
    announce_run(run, home, quiet=False)
    from leadhand.cli.resume.actions import cancel_command

    raise typer.Exit(cancel_command(run, home))
