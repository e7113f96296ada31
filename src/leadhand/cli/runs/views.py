"""`leadhand runs`, `runs prune`, `show` and `trace`: what they print about stored runs."""

import datetime as dt
import difflib
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from leadhand.cli.home import shown_home
from leadhand.cli.runs.check import report_damage
from leadhand.cli.standard_streams import writing_output
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.errors import InputError, JournalError
from leadhand.tools.text import counted

if TYPE_CHECKING:
    from leadhand.contracts.summary import Inspection, RunSummary
    from leadhand.journal.store import Store

MAX_SHOWN_CHARS = 60
"""How much of a request or of a wrong id is shown."""
MAX_ID_CHARS = 200
"""No run has a longer id."""
MAX_NEAREST = 3
"""Similar ids that are named if there is no run of the given id."""


def find_run(store: "Store", given: str, home: Path | str) -> str:
    """The id of the run that `given` means: an id, the start of only one, or `last`.

    Raises `InputError` naming similar ids.
    """
    if _may_be_an_id(given) and store.last_seq(given):
        return given
    ids = [run.run_id for run in store.runs(limit=1 if given == "last" else None)]
    if not ids:
        raise InputError(f"no runs are stored in {shown_home(home)}")
    if given == "last":
        return ids[0]
    asked = repr(_cut(given))
    begun = [id for id in ids if given and id.startswith(given)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        more = f" and {len(begun) - MAX_NEAREST:,} more" if len(begun) > MAX_NEAREST else ""
        names = ", ".join(begun[:MAX_NEAREST])
        raise InputError(f"{asked} may be any of {counted(len(begun), 'run')}: {names}{more}")
    like = given[:MAX_ID_CHARS]
    near = difflib.get_close_matches(like, ids, n=MAX_NEAREST, cutoff=0.5) or ids[:1]
    hint = "the nearest: " if near != ids[:1] else "the last one is "
    raise InputError(f"there is no run {asked}; {hint}{', '.join(near)}")


def list_runs(store: "Store", home: Path | str, *, limit: int | None, as_json: bool) -> None:
    """Print a line for each run, the latest first."""
    more = min(limit, sys.maxsize - 1) + 1 if limit is not None else None  # a database's most
    runs = store.runs(limit=more)
    listed = runs[:limit]
    if as_json:
        rows = [run.model_dump(mode="json") for run in listed]
        print_json(rows)
    elif listed:
        _print_fitting(_rows(listed))
    else:
        sys.stdout.write(f"no runs are stored in {safe(shown_home(home))}\n")
    if len(runs) > len(listed):
        which = f"these are the last {len(listed):,}" if len(listed) > 1 else "this is the last one"
        sys.stderr.write(f"{which}; --limit shows more\n")
    if any(run.status == "damaged" for run in listed):
        sys.stderr.write("some runs are damaged: `leadhand runs check` shows where\n")


def prune_runs(
    store: "Store", home: Path | str, *, before: dt.datetime, dry_run: bool, as_json: bool
) -> Sequence[str]:
    """Delete runs whose last event is older than `before`, or only list them; returns their ids.

    Runs that a process works on are kept.
    """
    old = (run.run_id for run in store.runs() if run.updated_at < before)
    ids: Sequence[str] = [id for id in old if store.holder(id) is None]
    ids = ids if dry_run else store.delete(ids, before=before)
    if as_json:
        print_json({"dry_run": dry_run, "run_ids": list(ids)})
        return ids
    done = "would be deleted" if dry_run else "deleted"
    sys.stdout.write("".join(f"{safe(id)}\n" for id in ids))
    since = f"older than {before:%Y-%m-%d %H:%M} UTC"
    nothing = f"nothing is {since} in {safe(shown_home(home))}: nothing {done}"
    sys.stdout.write(f"{counted(len(ids), 'run')} {since} {done}\n" if ids else f"{nothing}\n")
    return ids


def show_run(
    store: "Store",
    given: str,
    home: Path | str,
    *,
    as_json: bool,
    answer: bool = False,
    format: str | None = None,
    options: str = "",
) -> int:
    """Print a run, or with `answer` only its answer; returns the exit status.

    `format` is the name of a format that the run's team has.

    Of a damaged run, prints what comes before the damage; the exit status is 3.
    """
    inspection, held = _run(store, given, home)
    run_id, events = inspection.run_id, inspection.events
    if format is not None:
        if as_json or answer:
            raise InputError("--format, --json and --answer exclude each other: give one of them")
        from leadhand.cli.runs.formats import formatted

        sys.stdout.write(formatted(store, run_id, format))
        return report_damage(inspection)
    from leadhand.trace.run_history import RunHistory

    history = RunHistory.of(events)
    if answer and history.state.answer is None:
        raise InputError(f"run {run_id!r} has no answer yet: `leadhand show {run_id}` shows why")
    if answer and history.state.answer is not None:
        from leadhand.cli.views.answer import show_answer
        from leadhand.cli.views.consoles import DataConsole

        show_answer(history.state.answer, DataConsole())
    elif as_json:
        from leadhand.trace.overview import overview

        print_json(overview(history, held=held))
    else:
        from leadhand.cli.runs.history_text import history_lines
        from leadhand.cli.views.consoles import DataConsole, print_lines

        print_lines(history_lines(history, held=held, options=options), DataConsole())
    return report_damage(inspection)


def trace_run(
    store: "Store",
    given: str,
    home: Path | str,
    *,
    format: Literal["json", "html"],
    out: Path | None,
) -> int:
    """Write a whole run, as data or as a page, to stdout or to the file `out`.

    Returns the exit status, as `show_run` does.
    """
    inspection, held = _run(store, given, home)
    events = inspection.events
    if format == "json":
        from leadhand.trace.document import document

        pieces = document(events)
    else:
        from leadhand.trace.page import page

        pieces = page(events, held=held)
    if out is None:
        with writing_output():
            sys.stdout.flush()
            # No runner reads a command in it, and it means the same.
            inert = "##\\u005b" if format == "json" else "##&#91;"
            for piece in pieces:
                sys.stdout.buffer.write(piece.replace("##[", inert).encode())
            sys.stdout.buffer.flush()
        return report_damage(inspection)
    try:
        with out.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
    except OSError as error:
        raise InputError(f"can't write the trace to {out}: {error.strerror}") from error
    return report_damage(inspection)


def home_options(home: str | None) -> str:
    """The options with which other commands find the same runs."""
    return f" --home {shlex.quote(safe(shown_home(home)))}" if home is not None else ""


def _may_be_an_id(text: str) -> bool:
    """Whether it can be the id of a run; no database takes every text."""
    try:
        return len(text.encode()) <= MAX_ID_CHARS and "\0" not in text
    except UnicodeEncodeError:  # an argument that is not UTF-8
        return False


def _run(store: "Store", given: str, home: Path | str) -> "tuple[Inspection, bool]":
    """A run as far as it is intact, and whether a process works on it."""
    run_id = find_run(store, given, home)
    inspection = store.inspect(run_id)
    if not inspection.events:
        raise JournalError(inspection.unread or f"run {run_id!r} is damaged: {inspection.damage}")
    return inspection, store.holder(run_id) is not None


def _rows(runs: "Sequence[RunSummary]") -> Iterator[str]:
    """A line for each run. Rich would take longer to import than the list to read."""
    from leadhand.trace.formatting import format_duration, format_price

    shown = str if sys.stdout.isatty() else _cut
    table = [
        (
            safe(run.run_id),
            f"{run.started_at:%Y-%m-%d %H:%M}",
            run.status,
            f"{run.completed:,}/{run.tasks:,}",
            format_duration(run.makespan_s) if run.makespan_s is not None else "",
            format_price(run.cost_usd) if run.cost_usd is not None else "",
            safe(run.team),
            f"{'(follow-up) ' if run.after else ''}{shown(sentence(run.request))}",
        )
        for run in runs
    ]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = zip("<<<>>><<", row, widths, strict=True)
        yield "  ".join(f"{cell:{side}{width}}" for side, cell, width in cells).rstrip()


def _print_fitting(lines: Iterable[str]) -> None:
    """Print lines; a terminal cuts them."""
    if not sys.stdout.isatty():
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    from leadhand.cli.views.consoles import DataConsole

    console = DataConsole()
    for line in lines:
        console.print(line, no_wrap=True, overflow="ellipsis")


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[: MAX_SHOWN_CHARS - 1]}…"
