"""`leadhand teams save`: the workers made for a run become those of a team's folder."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from leadhand.cli.runs.views import find_run
from leadhand.cli.teams.advising import print_lines
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.contracts.task import Plan
from leadhand.errors import InputError
from leadhand.journal.store import Store
from leadhand.state.fold import fold
from leadhand.state.run_state import RunState
from leadhand.teams.loader import find, summary
from leadhand.teams.saving import SavedWorker, save_team
from leadhand.teams.sources import python_team
from leadhand.tools.text import counted


def save_run(
    given: str,
    into: Path,
    store: Store | None,
    home: Path | str,
    console: Console,
    *,
    team: str,
    as_json: bool,
    trust: bool,
) -> None:
    """Copy the team of a run into `into`, with the workers that its plan describes, and print them.

    Raises `InputError` and `TeamError`; then nothing is written.
    """
    run_id = find_run(store, given, home)
    assert store is not None, "a run was found"
    stored = store.inspect(run_id)
    if stored.damage or stored.unread:
        raise InputError(f"run {run_id!r} can't be saved: {stored.damage or stored.unread}")
    state = fold(stored.events)
    plan = _plan(state, run_id)
    source = _folder(state, run_id, team)
    name = summary(source).name
    if name != state.team:
        raise InputError(
            f"run {run_id!r} is of team {state.team!r}, and {str(source)!r} is {name!r}"
        )
    saved = save_team(source, plan, into, trust=trust)
    if as_json:
        workers = [one._asdict() for one in saved]
        document = {"run_id": run_id, "folder": str(into), "workers": workers}
        print_json(document)
        return
    print_lines(console, [*_lines(saved, state, run_id, into)])


def _plan(state: RunState, run_id: str) -> Plan:
    """The plan of a run, which describes workers."""
    if state.plan is None:
        raise InputError(f"run {run_id!r} can't be saved: it has no accepted plan")
    if not state.plan.workers:
        raise InputError(f"run {run_id!r} can't be saved: its plan describes no workers")
    return state.plan


def _folder(state: RunState, run_id: str, team: str) -> Path:
    """The folder of a run's team."""
    folder, named = state.origin.get("folder"), state.origin.get("team")
    source = team or (named if isinstance(named, str) else "")
    if not source:
        raise InputError(f"run {run_id!r} does not say where its team is: name it with --team")
    if python_team(source, "" if team or not isinstance(folder, str) else folder) is not None:
        raise InputError(
            f"team {source!r} is Python: only a folder is copied; write the workers of `leadhand "
            f"trace {run_id}` into it"
        )
    return find(source)


def _lines(saved: Sequence[SavedWorker], state: RunState, run_id: str, into: Path) -> Iterator[str]:
    workers = counted(len(saved), "worker")
    yield f"saved team {safe(state.team)!r} with {workers} made for run {safe(run_id)!r}"
    for one in saved:
        tools = f" ({', '.join(one.tools)})" if one.tools else ""
        yield f"  {sentence(f'{one.name}: {one.file}{tools}')}"
    shown = shlex.quote(safe(str(into)))
    yield f"check it: leadhand teams check {shown}"
    yield f"run it: leadhand run {shlex.quote(sentence(state.request))} --team {shown}"
