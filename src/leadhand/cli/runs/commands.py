"""The commands that look at stored runs, as `leadhand.cli.app` adds them. Imports typer alone."""

import enum
from pathlib import Path
from typing import Annotated

import typer

from leadhand.cli.options import Debug, Home, RunId

Json = Annotated[bool, typer.Option("--json", help="As JSON on stdout.")]

runs_app = typer.Typer(help="Runs that are kept: list them, delete old ones.")


class TraceFormat(enum.StrEnum):
    """How a trace is written."""

    json = "json"
    html = "html"


def add_to(app: typer.Typer) -> None:
    """Add `runs`, `show` and `trace` to `app`."""
    app.add_typer(runs_app, name="runs")
    app.command()(show)
    app.command()(trace)


@runs_app.callback(invoke_without_command=True)
def runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="At most so many.", min=1)] = 20,
    home: Home = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the runs that are kept, the one begun last first. Exit status 0, also without any."""
    context.obj = home
    if context.invoked_subcommand is not None:
        return
    from leadhand.cli.runs.views import list_runs

    with _Runs(home) as kept:
        list_runs(kept.journal, kept.home, limit=limit, as_json=json)


@runs_app.command()
def prune(
    context: typer.Context,
    older_than: Annotated[
        str,
        typer.Option(help="Since their last event: 30d, 8w, 12h.", metavar="DURATION"),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be deleted; delete nothing.")
    ] = False,
    home: Home = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Delete runs on which nothing happened for so long, and say which. Nothing else ever does."""
    import datetime as dt

    from leadhand.cli.duration import parse_duration
    from leadhand.cli.runs.views import prune_runs
    from leadhand.errors import InputError

    now = dt.datetime.now(dt.UTC)
    try:
        before = now - dt.timedelta(seconds=parse_duration(older_than))
    except OverflowError as error:
        raise InputError(f"{older_than!r} is longer ago than there are dates") from error
    with _Runs(home or context.obj) as kept:  # `runs --home DIR prune` means that one too
        ids = prune_runs(kept.journal, kept.home, before=before, dry_run=dry_run, as_json=json)
        for id in () if dry_run else ids:
            kept.forget(id)


@runs_app.command()
def check(
    context: typer.Context, home: Home = None, json: Json = False, debug: Debug = False
) -> None:
    """Check that each run is what was written. Exit status 3 where one is damaged.

    A damaged run is shown up to where the damage is by `leadhand show` and `leadhand trace`. What
    leadhand 0.1 wrote has no checksums: it is read, and not verifiable.
    """
    from leadhand.cli.runs.check import check_runs

    with _Runs(home or context.obj) as kept:
        status = check_runs(kept.journal, kept.home, as_json=json)
    raise typer.Exit(status)


def show(
    run: RunId,
    answer: Annotated[
        bool, typer.Option("--answer", help="The answer that it gave, and nothing else.")
    ] = False,
    home: Home = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show a run: its tasks and every attempt, its plan, its costs, and what it waits for."""
    from leadhand.cli.runs.views import home_options, show_run

    with _Runs(home) as kept:
        options = home_options(home)
        status = show_run(
            kept.journal, run, kept.home, as_json=json, answer=answer, options=options
        )
    raise typer.Exit(status)


def trace(
    run: RunId,
    format: Annotated[
        TraceFormat, typer.Option(help="All of it as data, or one page that needs no network.")
    ] = TraceFormat.json,
    out: Annotated[
        Path | None, typer.Option(help="Write it to this file, not to stdout.", metavar="FILE")
    ] = None,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Write the whole of a run: plan, every event, every call, figures. Or a page to look at."""
    from leadhand.cli.runs.views import trace_run

    with _Runs(home) as kept:
        status = trace_run(kept.journal, run, kept.home, format=format.value, out=out)
    raise typer.Exit(status)


class _Runs:
    """The runs in a home, opened for as long as the block lasts."""

    def __init__(self, home: str | None) -> None:
        import os

        from leadhand.cli.home import home_of, stored_runs

        self.home = home_of(home, os.environ)
        self.journal = stored_runs(self.home)

    def __enter__(self) -> "_Runs":
        return self

    def forget(self, run_id: str) -> None:
        """Delete what is kept of a run beside its events."""
        import os
        import shutil

        from leadhand.cli.home import run_folder

        shutil.rmtree(run_folder(self.home, run_id, os.environ), ignore_errors=True)

    def __exit__(self, *ended: object) -> None:
        if self.journal is not None:
            self.journal.close()
