"""The commands about stored runs: `runs`, `runs prune`, `runs check`, `show` and `trace`.

Imports typer alone, so that `leadhand --help` is quick; each command imports what it needs.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from leadhand.cli.options import Debug, Home, Json, Out, RunId, command
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.errors import InputError, JournalError
from leadhand.tools.text import counted

if TYPE_CHECKING:
    from leadhand.contracts.summary import Inspection, RunSummary

DAMAGED = 3
"""The exit status if a run or the journal is damaged."""

runs_app = typer.Typer(help="Stored runs: list them, check them, delete old ones.")


def add_to(app: typer.Typer) -> None:
    app.add_typer(runs_app, name="runs")
    command(app)(show)
    command(app)(trace)


class StoredRuns:
    """The stored runs of a home, open while the block lasts. Says on stderr if it is damaged."""

    def __init__(self, home: str | None, *, accept_loss: bool = False) -> None:
        import os

        from leadhand.cli.home import home_of, stored_runs
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

    def __exit__(self, *ended: object) -> None:
        self.store.close()

    def run(self, given: str) -> "tuple[Inspection, bool]":
        """A run as far as it is intact, and whether a process works on it."""
        from leadhand.cli.home import find_run

        run_id = find_run(self.store, given, self.home)
        found = self.store.inspect(run_id)
        if not found.events:
            raise JournalError(found.unread or f"run {run_id!r} is damaged: {found.damage}")
        return found, self.store.holder(run_id) is not None

    @property
    def empty(self) -> str:
        from leadhand.cli.home import shown_home

        return f"no runs are stored in {safe(shown_home(self.home))}\n"


@runs_app.callback(invoke_without_command=True)
def runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="Show at most this many.", min=1)] = 20,
    evaluations: Annotated[
        bool, typer.Option("--evaluations", help="Show the runs of `leadhand eval`, too.")
    ] = False,
    home: Home = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the stored runs, the latest first, without those of evaluations.

    Exit status 0, also if there are none.
    """
    context.obj = home
    if context.invoked_subcommand is not None:
        return
    with StoredRuns(home) as kept:
        most = min(limit, sys.maxsize - 1) + 1  # a database's
        where = None if evaluations else _is_no_trial
        found = kept.store.runs(limit=most, where=where)
        listed = found[:limit]
        if json:
            print_json([run.model_dump(mode="json") for run in listed])
        elif listed:
            _print_rows(listed)
        elif where is not None and kept.store.runs(limit=1):
            sys.stdout.write("all runs are those of evaluations: --evaluations shows them\n")
        else:
            sys.stdout.write(kept.empty)
    if len(found) > len(listed):
        which = f"these are the last {len(listed):,}" if len(listed) > 1 else "this is the last one"
        sys.stderr.write(f"{which}; --limit shows more\n")
    if any(run.status == "damaged" for run in listed):
        sys.stderr.write("some runs are damaged: `leadhand runs check` shows where\n")


@command(runs_app)
def deleted(home: Home = None, json: Json = False) -> None:
    """List the runs that were deleted: when, which, and on whose behalf."""
    import json as codec

    with StoredRuns(home) as kept:
        lines = [codec.loads(note) for note in kept.store.notes("deleted/").values()]
    if json:
        print_json(lines)
        return
    for line in lines:
        words = (line["at"], line["run_id"], line["team"], line["status"], line["by"])
        sys.stdout.write(f"{safe('  '.join(words)).rstrip()}\n")


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
    """Delete runs whose last event is older, and say which. No other command deletes runs.

    `leadhand runs deleted` lists them.
    """
    import asyncio
    import datetime as dt
    import os
    import shutil

    from leadhand.cli.duration import parse_duration
    from leadhand.cli.home import run_folder, shown_home
    from leadhand.journal.store_journal import StoreJournal
    from leadhand.run.service import erase

    try:
        age = dt.timedelta(seconds=parse_duration(older_than))
        before = dt.datetime.now(dt.UTC) - age
    except OverflowError as error:
        raise InputError(f"{older_than!r} is too long ago to be a date") from error
    with StoredRuns(home or context.obj) as kept:  # also for `runs --home DIR prune`
        old = (run.run_id for run in kept.store.runs() if run.updated_at < before)
        ids: Sequence[str] = [id for id in old if kept.store.holder(id) is None]
        if not dry_run:
            now, journal = dt.datetime.now(dt.UTC), StoreJournal(kept.store)
            ids = asyncio.run(erase(journal, ids, by="runs prune", at=now, before=before))
            for id in ids:
                shutil.rmtree(run_folder(kept.home, id, os.environ), ignore_errors=True)
    if json:
        print_json({"dry_run": dry_run, "run_ids": list(ids)})
        return
    done = "would be deleted" if dry_run else "deleted"
    since = f"older than {before:%Y-%m-%d %H:%M} UTC"
    nothing = f"nothing is {since} in {safe(shown_home(kept.home))}: nothing {done}"
    end = f"{counted(len(ids), 'run')} {since} {done}" if ids else nothing
    sys.stdout.writelines(f"{line}\n" for line in (*map(safe, ids), end))


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
    with StoredRuns(home or context.obj, accept_loss=accept_loss) as kept:
        found = [kept.store.inspect(run.run_id) for run in kept.store.runs()]
    if json:
        print_json([_checked(one) for one in found])
    elif found:
        width = max(len(safe(one.run_id)) for one in found)
        sys.stdout.writelines(f"{safe(one.run_id):<{width}}  {_verdict(one)}\n" for one in found)
    else:
        sys.stdout.write(kept.empty)
    if any(one.damage for one in found):
        raise typer.Exit(DAMAGED)
    raise typer.Exit(0 if accept_loss else kept.damaged)


def show(
    run: RunId,
    answer: Annotated[bool, typer.Option("--answer", help="Show only its answer.")] = False,
    format: Annotated[
        str | None, typer.Option(help="Print it in a format of its team's own.", metavar="NAME")
    ] = None,
    out: Out = None,
    home: Home = None,
    json: Json = False,
) -> None:
    """Show a run: its tasks with every attempt, its plan, its costs, and what it waits for."""
    with StoredRuns(home) as kept:
        found, held = kept.run(run)
        if format is not None:
            if json or answer:
                raise InputError(
                    "--format, --json and --answer exclude each other: give one of them"
                )
            from leadhand.cli.runs.formats import formatted

            sys.stdout.write(formatted(kept.store, found.run_id, format))
            raise typer.Exit(_report_damage(found) or kept.damaged)
        from leadhand.trace.run_history import RunHistory

        history = RunHistory.of(found.events)
        if not (answer or json or out) and not found.damage:
            from leadhand.cli.runs.formats import answer_text

            sys.stdout.write(answer_text(kept.store, history.state))
    if answer or out is not None:
        if history.state.answer is None:
            asked = f"run {found.run_id!r} has no answer yet"
            raise InputError(f"{asked}: `leadhand show {found.run_id}` shows why")
        from leadhand.cli.views.answer import show_answer
        from leadhand.cli.views.consoles import DataConsole

        if out is not None:
            from leadhand.cli.views.report import write_report
            from leadhand.teams.sources import team_of

            origin = history.state.origin
            name, folder = (str(origin.get(key) or "") for key in ("team", "folder"))
            team = team_of(name, folder=folder) if origin.get("command") == "run" else None
            write_report(history.state.answer, team, out)
        else:
            show_answer(history.state.answer, DataConsole())
    elif json:
        from leadhand.trace.overview import overview

        print_json(overview(history, held=held))
    else:
        from leadhand.cli.home import home_options
        from leadhand.cli.runs.history_text import history_lines
        from leadhand.cli.views.consoles import DataConsole, print_lines

        lines = history_lines(history, held=held, options=home_options(home))
        print_lines(lines, DataConsole())
    raise typer.Exit(_report_damage(found) or kept.damaged)


def trace(
    run: RunId,
    format: Annotated[
        Literal["json", "html"], typer.Option(help="Data, or a page that needs no network.")
    ] = "json",
    out: Annotated[
        Path | None, typer.Option(help="Write to this file instead of stdout.", metavar="FILE")
    ] = None,
    home: Home = None,
) -> None:
    """Write a whole run: plan, every event, every call, figures; or a page of it."""
    from leadhand.cli.standard_streams import writing_output

    with StoredRuns(home) as kept:
        found, held = kept.run(run)
    if format == "json":
        from leadhand.trace.document import document

        pieces = document(found.events)
    else:
        from leadhand.serve.task_documents import stored_page

        pieces = stored_page(found.events, held=held)
    if out is None:
        with writing_output():
            sys.stdout.flush()
            for piece in pieces:
                inert = piece.replace("##[", "##\\u005b") if format == "json" else piece
                sys.stdout.buffer.write(inert.encode())
            sys.stdout.buffer.flush()
    else:
        try:
            with out.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(pieces)
        except OSError as error:
            raise InputError(f"can't write the trace to {out}: {error.strerror}") from error
        what = "the trace" if format == "json" else "a page"
        sys.stderr.write(f"leadhand: wrote {what} of {found.run_id} to {safe(str(out))}\n")
    raise typer.Exit(_report_damage(found) or kept.damaged)


def _is_no_trial(run: "RunSummary") -> bool:
    return run.origin.get("command") != "eval"


def _status(run: "RunSummary") -> str:
    # A trial of routing or of the plan alone ends with the plan.
    waits = run.status == "waiting" and not _is_no_trial(run)
    return "planned" if waits else run.status


def _print_rows(runs: "Sequence[RunSummary]") -> None:
    from leadhand.cli.home import cut
    from leadhand.trace.formatting import format_duration, format_price

    on_terminal = sys.stdout.isatty()
    table = [
        (
            safe(run.run_id),
            f"{run.started_at:%Y-%m-%d %H:%M}",
            _status(run),
            f"{run.completed:,}/{run.tasks:,}",
            format_duration(run.makespan_s) if run.makespan_s is not None else "",
            format_price(run.cost_usd) if run.cost_usd is not None else "",
            safe(run.team),
            ("(follow-up) " if run.after else "")
            + (sentence(run.request) if on_terminal else cut(sentence(run.request))),
        )
        for run in runs
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            f"{cell:{side}{width}}"
            for side, cell, width in zip("<<<>>><<", row, widths, strict=True)
        ).rstrip()
        for row in table
    ]
    if not on_terminal:  # rich takes longer to import than the list to read
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    from leadhand.cli.views.consoles import DataConsole

    console = DataConsole()
    for line in lines:
        console.print(line, no_wrap=True, overflow="ellipsis")


def _report_damage(found: "Inspection") -> int:
    """Say on stderr where a run is damaged or can't be read here; returns the exit status."""
    if not (found.damage or found.unread):
        return 0
    why = f"is damaged: {found.damage}" if found.damage else f"is shown in part: {found.unread}"
    line = sentence(f"run {found.run_id!r} {why}. What can be read: {_saved(found)}")
    sys.stderr.write(f"leadhand: {line}\n")
    return DAMAGED


def _checked(found: "Inspection") -> dict[str, str | None]:
    return {
        "run_id": found.run_id,
        "verdict": found.verdict,
        "damage": found.damage or None,
        "unread": found.unread or None,
        "saved": _saved(found),
    }


def _verdict(found: "Inspection") -> str:
    said: str = found.verdict
    if found.damage:
        said += f": {sentence(found.damage)}. What can be read: {_saved(found)}"
    elif found.unverified:
        said += f": leadhand 0.1 wrote {counted(found.unverified, 'event')} without checksums"
    return f"{said}; {sentence(found.unread)}" if found.unread else said


def _saved(found: "Inspection") -> str:
    from leadhand.state.fold import fold

    if not found.events:
        return "nothing"
    tasks = fold(found.events).tasks
    done = sum(task.status == "completed" for task in tasks.values())
    results = f", with the results of {done:,} of {counted(len(tasks), 'task')}" if tasks else ""
    return f"{counted(len(found.events), 'event')}{results}"
