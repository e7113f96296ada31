"""`leadhand teams advise`, `freeze` and `save`: what stored runs say about a team, or change."""

import dataclasses
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from leadhand.advice.facts import RunFacts, facts
from leadhand.advice.freezing import freeze
from leadhand.advice.judgement import NOT_JUDGED, judge
from leadhand.cli.home import find_run, shown_home
from leadhand.cli.runs.commands import StoredRuns
from leadhand.cli.views.consoles import DataConsole, print_line
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.contracts.events import Event
from leadhand.contracts.team import TaskTemplate, Team
from leadhand.errors import InputError
from leadhand.journal.store import Store
from leadhand.models.prompts import prompts_of
from leadhand.state.fold import fold
from leadhand.state.run_state import RunState
from leadhand.teams.draft import TEAM_FILE
from leadhand.teams.files import Value
from leadhand.teams.loader import find, load, ready_made, summary
from leadhand.teams.saving import save_team, write_changed
from leadhand.teams.sources import python_team, team_of
from leadhand.tools.text import counted

MAX_RUNS = 200


def runs_of(
    store: Store, team: Team, *, limit: int = MAX_RUNS
) -> tuple[Sequence[RunFacts], Counter[str]]:
    """The latest `limit` runs that count, the oldest first; and the number of others, by the
    reason."""
    runs: list[RunFacts] = []
    left_out = Counter[str]()
    prompts = prompts_of(team)
    listed = store.runs(where=lambda run: run.team == team.name or run.status == "damaged")
    for run in listed[:limit]:
        stored = store.inspect(run.run_id)
        damaged = run.status == "damaged" or stored.damage or stored.unread
        unread = "damaged, or not readable here"
        found = unread if damaged else facts(stored.events, prompts=prompts)
        if isinstance(found, str):
            left_out[found] += 1
        else:
            runs.insert(0, found)
    if len(listed) > limit:
        left_out[f"older than the latest {limit}; --runs reads more"] = len(listed) - limit
    return runs, left_out


def advise(kept: StoredRuns, name: str, *, limit: int, as_json: bool, trust: bool) -> None:
    """Raises `InputError` if there is no such team."""
    team = team_of(name, trust=trust)
    runs, left_out = runs_of(kept.store, team, limit=limit)
    advice = judge(team, runs)
    at = sorted(run.started_at for run in runs if run.started_at is not None)
    document = {
        "team": team.name,
        "runs": len(runs),
        "first": at[0].isoformat() if at else None,
        "last": at[-1].isoformat() if at else None,
        "left_out": dict(left_out),
        "advice": [one._asdict() for one in advice],
        "not_judged": NOT_JUDGED,
    }
    days = dict.fromkeys(f"{moment:%Y-%m-%d}" for moment in (*at[:1], *at[-1:]))
    dates = f" ({' to '.join(days)})" if at else ""
    header = f"team {safe(team.name)!r}: {counted(len(runs), 'run')}{dates} in "
    lines = [header + safe(shown_home(kept.home))]
    lines += [f"  left out: {count:,} {why}" for why, count in left_out.items()]
    if not advice:
        lines += ["nothing to advise from these runs" if runs else "no runs to judge by"]
    for number, one in enumerate(advice, start=1):
        lines += [f"{number}. {sentence(one.found)}", f"   -> {sentence(one.do)}"]
    print_result(document, [*lines, f"not judged: {'; '.join(NOT_JUDGED)}"], as_json=as_json)


def print_result(document: object, lines: Sequence[str], *, as_json: bool) -> None:
    """Lines are not wrapped, for programs that read them."""
    if as_json:
        print_json(document)
        return
    console = DataConsole()
    for line in lines:
        print_line(console, line)


def freeze_run(
    kept: StoredRuns, given: str, into: Path, *, replace: bool, as_json: bool, trust: bool
) -> None:
    """Make the plan of a run the template of the team in `into`, or of a copy there. Raises
    `InputError` and `TeamError`; then `into` is as it was."""
    state, log = _stored_run(kept, given, "frozen")
    exists = (into / TEAM_FILE).is_file()
    source = _folder(state, str(into) if exists else "", "--into")
    team = load(source, trust=trust)
    had = counted(len(team.template), "entry")
    if team.template and exists and not replace:
        raise InputError(
            f"{into / TEAM_FILE} has a template of {had}: give --replace to replace it"
        )
    run = facts(log, prompts=prompts_of(team))
    if isinstance(run, str):
        raise InputError(f"run {state.run_id!r} can't be frozen: it is {run}")
    frozen, notes = freeze(run, team, runs_of(kept.store, team)[0])
    entries: list[Value] = [_written(entry) for entry in frozen.template]
    synthesis, file = frozen.template_synthesis, into / TEAM_FILE
    code: dict[str, Value] = {"run": None} if team.planner.run is not None else {}
    planner: Value = {"kind": "template", "synthesis": synthesis, "template": entries, **code}
    write_changed(source, into, {"planner": planner}, {})
    lines = [
        f"the plan of run {safe(state.run_id)!r}, as it was accepted first, is now the template of "
        f"{safe(str(file))} ({counted(len(entries), 'entry')}, `kind: template`)"
    ]
    lines += [f"  it replaces a template of {had}"] if team.template else []
    for entry in frozen.template:
        after = f" (after {', '.join(entry.depends_on)})" if entry.depends_on else ""
        lines.append(f"  {sentence(f'{entry.id}, by {entry.worker}{after}: {entry.intent}')}")
    lines += [f"note: {sentence(note)}" for note in notes]
    document = {"run_id": state.run_id, "team_file": str(file), "synthesis": synthesis}
    document |= {"template": entries, "notes": notes}
    print_result(document, [*lines, _how_to_check(into)], as_json=as_json)


def save_run(
    kept: StoredRuns, given: str, into: Path, *, team: str, as_json: bool, trust: bool
) -> None:
    """Copy the team of a run, with the workers that its plan describes. Raises `InputError` and
    `TeamError`; then nothing is written."""
    state, _ = _stored_run(kept, given, "saved")
    if state.plan is None or not state.plan.workers:
        raise InputError(f"run {state.run_id!r} can't be saved: its plan describes no workers")
    saved = save_team(_folder(state, team, "--team"), state.plan, into, trust=trust)
    made = counted(len(saved), "worker")
    lines = [f"saved team {safe(state.team)!r} with {made} made for run {safe(state.run_id)!r}"]
    for worker in saved:
        tools = f" ({', '.join(worker.tools)})" if worker.tools else ""
        lines.append(f"  {sentence(f'{worker.name}: {worker.file}{tools}')}")
    request, folder = shlex.quote(sentence(state.request)), shlex.quote(safe(str(into)))
    lines += [_how_to_check(into), f"run it: leadhand run {request} --team {folder}"]
    workers = [worker._asdict() for worker in saved]
    document = {"run_id": state.run_id, "folder": str(into), "workers": workers}
    print_result(document, lines, as_json=as_json)


def _how_to_check(folder: Path) -> str:
    return f"check it: leadhand teams check {shlex.quote(safe(str(folder)))}"


def _stored_run(kept: StoredRuns, given: str, done: str) -> tuple[RunState, tuple[Event, ...]]:
    run_id = find_run(kept.store, given, kept.home)
    stored = kept.store.inspect(run_id)
    if stored.damage or stored.unread:
        raise InputError(f"run {run_id!r} can't be {done}: {stored.damage or stored.unread}")
    return fold(stored.events), stored.events


def _folder(state: RunState, given: str, option: str) -> Path:
    """The folder of a run's team: `given`, or what the run or the team's name says."""
    named, beside = (str(state.origin.get(key) or "") for key in ("team", "folder"))
    source = given or named or state.team
    if not (given or named or source in ready_made()):
        raise InputError(
            f"run {state.run_id!r} does not say where the folder of its team {source!r} is: name "
            f"it with {option}"
        )
    if python_team(source, "" if given else beside) is not None:
        raise InputError(
            f"team {source!r} is Python, and only a folder is written: take what you need from "
            f"`leadhand trace {state.run_id}`"
        )
    folder = find(source)
    if (name := summary(folder).name) != state.team:
        raise InputError(
            f"run {state.run_id!r} is of team {state.team!r}, and {str(folder)!r} is {name!r}"
        )
    return folder


def _written(entry: TaskTemplate) -> Value:
    values = {field.name: getattr(entry, field.name) for field in dataclasses.fields(entry)}
    values |= {"depends_on": [*entry.depends_on], "limits": None}
    values["timeout_s"] = entry.limits.timeout_s
    return cast("Value", {key: value for key, value in values.items() if value})
