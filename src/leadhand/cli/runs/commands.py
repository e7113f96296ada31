"""The commands that show stored runs, for `leadhand.cli.app`. Imports typer alone."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from leadhand.cli.options import Debug, Home, RunId, command

Json = Annotated[bool, typer.Option("--json", help="As JSON on stdout.")]

runs_app = typer.Typer(help="Stored runs: list them, check them, delete old ones.")


class TraceFormat(enum.StrEnum):
    """How a trace is written."""

    json = "json"
    html = "html"


def add_to(app: typer.Typer) -> None:
    """Add `runs`, `show` and `trace` to `app`."""
    app.add_typer(runs_app, name="runs")
    command(app)(show)
    command(app)(trace)


@runs_app.callback(invoke_without_command=True)
def runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="Show at most this many.", min=1)] = 20,
    home: Home = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the stored runs, the latest first. Exit status 0, also if there are none."""
    context.obj = home
    if context.invoked_subcommand is not None:
        return
    from leadhand.cli.runs.views import list_runs

    with StoredRuns(home) as kept:
        list_runs(kept.store, kept.home, limit=limit, as_json=json)


@command(runs_app)
def prune(
    context: typer.Context,
    older_than: Annotated[
        str, typer.Option(help="The time since their last event: 30d, 8w, 12h.", metavar="DURATION")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be deleted; delete nothing.")
    ] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Delete runs whose last event is older, and say which. No other command deletes runs."""
    import datetime as dt

    from leadhand.cli.duration import parse_duration
    from leadhand.cli.runs.views import prune_runs
    from leadhand.errors import InputError

    now = dt.datetime.now(dt.UTC)
    try:
        before = now - dt.timedelta(seconds=parse_duration(older_than))
    except OverflowError as error:
        raise InputError(f"{older_than!r} is too long ago to be a date") from error
    with StoredRuns(home or context.obj) as kept:  # also for `runs --home DIR prune`
        ids = prune_runs(kept.store, kept.home, before=before, dry_run=dry_run, as_json=json)
        for id in () if dry_run else ids:
            kept.forget(id)


@command(runs_app)
def check(
    context: typer.Context,
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss",
            help="If the journal's log is damaged, drop what was committed after the damage; "
            "a copy of the journal stays.",
        ),
    ] = False,
    home: Home = None,
    json: Json = False,
) -> None:
    """Check that each stored run is intact, and the journal. Exit status 3 if one is damaged.

    `leadhand show` and `leadhand trace` show a damaged run up to the damage. Runs of leadhand 0.1
    have no checksums: they can be read, but not verified.
    """
    from leadhand.cli.runs.check import check_runs

    with StoredRuns(home or context.obj, accept_loss=accept_loss) as kept:
        status = check_runs(kept.store, kept.home, as_json=json)
    raise typer.Exit(status or (0 if accept_loss else kept.damaged))


def show(
    run: RunId,
    answer: Annotated[bool, typer.Option("--answer", help="Show only its answer.")] = False,
    format: Annotated[
        str | None, typer.Option(help="Print it in a format of its team's own.", metavar="NAME")
    ] = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Show a run: its tasks with every attempt, its plan, its costs, and what it waits for."""
    from leadhand.cli.runs.views import home_options, show_run

    with StoredRuns(home) as kept:
        options = home_options(home)
        status = show_run(
            kept.store, run, kept.home, as_json=json, answer=answer, format=format, options=options
        )
    raise typer.Exit(status or kept.damaged)


def trace(
    run: RunId,
    format: Annotated[
        TraceFormat, typer.Option(help="Data, or a page that needs no network.")
    ] = TraceFormat.json,
    out: Annotated[
        Path | None, typer.Option(help="Write to this file instead of stdout.", metavar="FILE")
    ] = None,
    home: Home = None,
) -> None:
    """Write a whole run: plan, every event, every call, figures; or a page of it."""
    from leadhand.cli.runs.views import trace_run

    with StoredRuns(home) as kept:
        status = trace_run(kept.store, run, kept.home, format=format.value, out=out)
    raise typer.Exit(status or kept.damaged)


class StoredRuns:
    """The stored runs of a home, open while the block lasts. Says on stderr if it is damaged."""

    def __init__(self, home: str | None, *, accept_loss: bool = False) -> None:
        import os

        from leadhand.cli.home import home_of, stored_runs
        from leadhand.cli.runs.check import DAMAGED
        from leadhand.journal import journal_damage

        self.home = home_of(home, os.environ)
        self.store = stored_runs(self.home)
        damage = journal_damage(self.home, accept_loss=accept_loss)
        if damage is not None:
            from leadhand.cli.views.consoles import print_note  # slow to import

            print_note(damage)
        self.damaged = 0 if damage is None else DAMAGED
        """The exit status of a command that shows what the journal has."""

    def __enter__(self) -> "StoredRuns":
        return self

    def forget(self, run_id: str) -> None:
        """Delete the files of a run besides its events."""
        import os
        import shutil

        from leadhand.cli.home import run_folder

        shutil.rmtree(run_folder(self.home, run_id, os.environ), ignore_errors=True)

    def __exit__(self, *ended: object) -> None:
        self.store.close()
