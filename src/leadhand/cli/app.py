"""Commands and options. Imports typer alone, so that `--help` is quick."""

import contextlib
import copy
import os
import sys
from typing import Annotated

import typer
from typer.models import CommandInfo

from leadhand.cli import options as opt
from leadhand.cli import start_time
from leadhand.cli.added_commands import added_command, command_info, command_infos
from leadhand.cli.eval import commands as eval_commands
from leadhand.cli.router.commands import router_app
from leadhand.cli.run.first_line import announce, announce_run, announce_team
from leadhand.cli.runs import commands as stored_commands
from leadhand.cli.serve import commands as serve_commands
from leadhand.cli.teams.commands import teams_app

app = typer.Typer(
    name="leadhand",
    help="A supervisor for teams of workers: plans, runs in parallel, answers, shows its work.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_TAKING_TEXT = (" run", " plan", " answer")
"""Commands with a text among their arguments."""


@opt.command(app)
def run(options: opt.RunCommandOptions) -> None:
    """Have a team answer a request: plan it, do the tasks in parallel, answer.

    At a terminal, without a request, reads requests one after the other; each follows the last.
    Looks for a model: --model, LEADHAND_MODEL, the team's own, a provider's key in the
    environment, a model server on this machine. Without a model, code does the work.
    """
    announce_team(options.team, quiet=options.output.quiet)
    from leadhand.cli.run.command import run_command

    raise typer.Exit(run_command(options))


@opt.command(app, "plan")
def show_plan(options: opt.PlanOptions) -> None:
    """Show the plan of a request: its graph, its models, its cost. No work is done.

    The team's Python is imported, unless it is a ready-made team.
    """
    announce_team(options.team, quiet=options.quiet)
    from leadhand.cli.plan import plan_command

    raise typer.Exit(plan_command(options))


@opt.command(app)
def resume(options: opt.ResumeOptions) -> None:
    """Resume a run that was interrupted, ran out of time or budget, or waits for a person.

    Completed work is not done again, and no model is asked twice. The deadline counts from now; a
    budget is that of the whole run.
    """
    announce_run(options.run, options.home, quiet=options.output.quiet)
    from leadhand.cli.resume import resume_run
    from leadhand.cli.run.storage import RunStorage

    with RunStorage(options.home, options=options.kept) as storage:
        raise typer.Exit(resume_run(options, storage))


@opt.command(app)
def answer(
    run: opt.RunId,
    reply: opt.ReplyOptions,
    output: opt.OutputOptions,
    home: opt.Home = None,
    team: opt.OtherTeam = None,
    trust: opt.Trust = False,
) -> None:
    """Answer the questions of a run and resume it. Without an answer, show the questions."""
    reply.check()
    announce_run(run, home, quiet=output.quiet)
    from leadhand.cli.resume import answer_run
    from leadhand.cli.run.storage import RunStorage

    options = opt.ResumeOptions(run=run, home=home, output=output, team=team, trust=trust)
    with RunStorage(home, options=options.kept) as storage:
        raise typer.Exit(answer_run(options, reply, storage))


@opt.command(app)
def cancel(run: opt.RunId, home: opt.Home = None) -> None:
    """Stop a run, also one that waits or was interrupted. It can be resumed."""
    announce_run(run, home, quiet=False)
    from leadhand.cli.resume import cancel_command

    raise typer.Exit(cancel_command(run, home))


@opt.command(app)
def doctor(
    team: Annotated[str | None, typer.Option(help=opt.TEAM_HELP, metavar="TEAM")] = None,
    model: opt.Model = None,
    no_model: opt.NoModel = False,
    json: Annotated[bool, typer.Option("--json", help="The findings as JSON on stdout.")] = False,
    trust: opt.Trust = False,
) -> None:
    """Check the installation, show which model each role would use, and whether it works.

    Makes a few short requests to the model, if there is one. Exit status 3: a check failed.
    """
    announce("checking the installation", quiet=json)
    from leadhand.cli.doctor.command import doctor_command

    raise typer.Exit(
        doctor_command(team=team, trust=trust, model=model, no_model=no_model, as_json=json)
    )


@opt.command(teams_app, "try")
def teams_try(
    team: opt.Team,
    limits: opt.LimitOptions,
    output: opt.OutputOptions,
    sample: Annotated[
        str | None, typer.Option(help="A sample of the team; by default its first.", metavar="NAME")
    ] = None,
    out: opt.Out = None,
    home: opt.Home = None,
    trust: opt.Trust = False,
) -> None:
    """Run a team on its own sample, with a model if there is one, and write its report.

    The report goes to `--out DIR`, by default `NAME-report` here. Says at the end what to type for
    files of your own.
    """
    announce_team(team, quiet=output.quiet)
    from leadhand.cli.run.samples import try_team

    raise typer.Exit(try_team(team, sample, limits, output, out=out, home=home, trust=trust))


stored_commands.add_to(app)
app.add_typer(teams_app, name="teams", no_args_is_help=True)
eval_commands.add_to(app)
app.add_typer(router_app, name="router", no_args_is_help=True)
serve_commands.add_to(app)


def _version(asked: bool) -> None:
    if asked:
        from leadhand import __version__

        typer.echo(f"leadhand {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: opt.Debug = False,
) -> None:
    """A supervisor for teams of workers: plans, runs in parallel, answers, shows its work."""


def _typed() -> typer.Typer:
    """The program with the typed command only: typer is slow to add each."""
    words = [word for word in sys.argv[1:] if word != "--debug"][:1]
    some = copy.copy(app)
    some.registered_commands = [one for one in app.registered_commands if _name(one) in words]
    some.registered_groups = [one for one in app.registered_groups if one.name in words]
    if some.registered_commands or some.registered_groups:
        return some
    added = added_command(words[0]) if words else None
    if added is not None:
        some.registered_commands = [command_info(words[0], added)]
        return some
    own = {_name(one) for one in app.registered_commands}
    own |= {one.name or "" for one in app.registered_groups}
    infos, problems = command_infos(own)
    if "_LEADHAND_COMPLETE" not in os.environ:
        for problem in problems:
            announce(f"leadhand: {problem}", quiet=False)
    some.registered_commands = [*infos, *app.registered_commands]
    some.registered_groups = app.registered_groups
    return some


def _name(command: CommandInfo) -> str:
    return command.name or getattr(command.callback, "__name__", "")


def _run_typed() -> int:
    """Raises `InputError` for options that can't be used."""
    from leadhand.errors import InputError

    try:
        return _typed()(prog_name="leadhand", standalone_mode=False) or 0
    except typer.Abort:
        return 1
    except Exception as error:
        # A usage error: its class is private, and click's in older releases of typer.
        format_message = getattr(error, "format_message", None)
        if format_message is None:
            raise
        message = str(format_message()).replace("Value error, ", "").removesuffix(".")
        if not message:
            return 2  # no command was named, and the help is shown already
        command = getattr(getattr(error, "ctx", None), "command_path", "leadhand")
        if message.startswith("Got unexpected extra arg") and command.endswith(_TAKING_TEXT):
            message += ", because a text of several words stands in quotes"
        said = f"{message[:1].lower()}{message[1:]}; see `{command} --help`"
        raise InputError(said) from error


def main() -> None:
    """Run the program. An `InputError` is one line on stderr and exit status 2."""
    from leadhand.cli.standard_streams import prepare, writing_output
    from leadhand.errors import InputError, LeadhandError

    start_time.begin()
    prepare()
    try:
        with writing_output():
            sys.exit(_run_typed())
    except LeadhandError as error:
        from leadhand.cli.views.terminal import inert, safe_block, sentence
        from leadhand.redaction import Redactor

        redact = Redactor.of(os.environ)
        line = inert(sentence(redact(str(error))))
        if " hand in " in line and sys.argv[1:2] in (["run"], ["plan"]):
            line = f"{line.rstrip('. ')} (--input PATH)"  # what teams say fits the page's form, too
        if opt.is_debugging():
            import traceback

            told = redact("".join(traceback.format_exception(error)))
            sys.stderr.write(inert(safe_block(told)))
        with contextlib.suppress(OSError):  # a full disk doesn't change the exit status
            sys.stderr.write(f"leadhand: {line}\n")
            sys.stderr.flush()
        sys.exit(2 if isinstance(error, InputError) else 3)
