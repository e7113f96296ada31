"""`leadhand teams freeze` and `save`: a stored run changes a team's folder, or a copy of it."""

import dataclasses
import shlex
from pathlib import Path
from typing import cast

from leadhand.advice.facts import facts
from leadhand.advice.freezing import Frozen, freeze
from leadhand.cli.runs.commands import StoredRuns
from leadhand.cli.runs.views import find_run
from leadhand.cli.teams.advising import print_lines, runs_of
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.contracts.events import Event
from leadhand.contracts.team import TaskTemplate, Team
from leadhand.errors import InputError
from leadhand.models.prompts import prompts_of
from leadhand.plans.team_checks import team_problems
from leadhand.state.fold import fold
from leadhand.state.run_state import RunState
from leadhand.teams.draft import TEAM_FILE
from leadhand.teams.edits import changed_copy, edit
from leadhand.teams.files import Value
from leadhand.teams.loader import find, load, ready_made, summary
from leadhand.teams.saving import save_team
from leadhand.teams.sources import python_team
from leadhand.tools.text import counted


def freeze_run(
    kept: StoredRuns, given: str, into: Path, *, replace: bool, as_json: bool, trust: bool
) -> None:
    """Make the plan of a run the template of the team in `into`, and print it.

    If there is no such folder and the run's team is a ready-made one, its folder is copied there.
    Raises `InputError` and `TeamError`; then `into` is as it was.
    """
    run_id, log = _stored_run(kept, given, "frozen")
    state = fold(log)
    exists = (into / TEAM_FILE).is_file()
    source = into if exists else _ready_made(state.team, into)
    team = load(source, trust=trust)
    _check_name(run_id, state, team.name, into)
    had = counted(len(team.template), "entry")
    if team.template and exists and not replace:
        raise InputError(
            f"{into / TEAM_FILE} has a template of {had}: give --replace to replace it"
        )
    run = facts(log, prompts=prompts_of(team))
    if isinstance(run, str) or run.plan is None:
        raise InputError(f"run {run_id!r} can't be frozen: it is {run}")
    synthesis = run.plan.synthesis
    frozen = freeze(run, team, runs_of(kept.store, team).runs)
    _check(frozen, synthesis, team, run_id)
    entries: list[Value] = [_entry(entry) for entry in frozen.template]
    planner: Value = {"kind": "template", "synthesis": synthesis, "template": entries}
    if exists:
        edit(into, {"planner": planner})
    else:
        changed_copy(source, into, lambda new: edit(new, {"planner": planner}))
    if as_json:
        names = ("id", "worker", "intent", "depends_on")
        template = [{name: getattr(entry, name) for name in names} for entry in frozen.template]
        file = str(into / TEAM_FILE)
        document = {"run_id": run_id, "team_file": file, "synthesis": synthesis}
        print_json({**document, "template": template, "notes": frozen.notes})
        return
    lines = [
        f"the plan of run {safe(run_id)!r}, as it was accepted first, is now the template of "
        f"{safe(str(into / TEAM_FILE))} ({counted(len(entries), 'entry')}, `kind: template`)"
    ]
    lines += [f"  it replaces a template of {had}"] if team.template else []
    for entry in frozen.template:
        after = f" (after {', '.join(entry.depends_on)})" if entry.depends_on else ""
        lines.append(f"  {sentence(f'{entry.id}, by {entry.worker}{after}: {entry.intent}')}")
    lines += [f"note: {sentence(note)}" for note in frozen.notes]
    print_lines([*lines, _how_to_check(into)])


def save_run(
    kept: StoredRuns, given: str, into: Path, *, team: str, as_json: bool, trust: bool
) -> None:
    """Copy the team of a run into `into`, with the workers that its plan describes, and print them.

    Raises `InputError` and `TeamError`; then nothing is written.
    """
    run_id, log = _stored_run(kept, given, "saved")
    state = fold(log)
    if state.plan is None or not state.plan.workers:
        raise InputError(f"run {run_id!r} can't be saved: its plan describes no workers")
    source = _folder(state, run_id, team)
    _check_name(run_id, state, summary(source).name, source)
    saved = save_team(source, state.plan, into, trust=trust)
    if as_json:
        workers = [worker._asdict() for worker in saved]
        print_json({"run_id": run_id, "folder": str(into), "workers": workers})
        return
    made = counted(len(saved), "worker")
    lines = [f"saved team {safe(state.team)!r} with {made} made for run {safe(run_id)!r}"]
    for worker in saved:
        tools = f" ({', '.join(worker.tools)})" if worker.tools else ""
        lines.append(f"  {sentence(f'{worker.name}: {worker.file}{tools}')}")
    request, folder = shlex.quote(sentence(state.request)), shlex.quote(safe(str(into)))
    run_it = f"run it: leadhand run {request} --team {folder}"
    print_lines([*lines, _how_to_check(into), run_it])


def _how_to_check(folder: Path) -> str:
    return f"check it: leadhand teams check {shlex.quote(safe(str(folder)))}"


def _stored_run(kept: StoredRuns, given: str, done: str) -> tuple[str, tuple[Event, ...]]:
    run_id = find_run(kept.store, given, kept.home)
    assert kept.store is not None, "a run was found"
    stored = kept.store.inspect(run_id)
    if stored.damage or stored.unread:
        raise InputError(f"run {run_id!r} can't be {done}: {stored.damage or stored.unread}")
    return run_id, stored.events


def _check_name(run_id: str, state: RunState, name: str, folder: Path) -> None:
    if name != state.team:
        raise InputError(
            f"run {run_id!r} is of team {state.team!r}, and {str(folder)!r} is {name!r}"
        )


def _ready_made(team: str, into: Path) -> Path:
    """The folder of a ready-made team, which is to be copied to `into`."""
    source = ready_made().get(team)
    if source is not None and not into.exists():
        return source
    what = "is not the folder of a team" if into.exists() else "does not exist"
    how = (
        "name a folder that does not exist, for a copy of that ready-made team"
        if source is not None
        else f"name the folder of team {team!r}; a team in Python takes the plan of `leadhand "
        'trace` as its `template`, with planner="template"'
    )
    raise InputError(f"{str(into)!r} {what}: {how}")


def _folder(state: RunState, run_id: str, team: str) -> Path:
    """The folder of a run's team, which is called `team` if that isn't empty."""
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


def _check(frozen: Frozen, synthesis: str, team: Team, run_id: str) -> None:
    """Raises `InputError` if the plan can't be the team's template."""
    trial = dataclasses.replace(
        team,
        planner=dataclasses.replace(team.planner, kind="template"),
        template=frozen.template,
        template_synthesis=synthesis,
    )
    problems = (*frozen.problems, *team_problems(trial, model_at_hand=True))
    if problems:
        raise InputError(f"run {run_id!r} can't be frozen: {'; '.join(problems)}")


def _entry(entry: TaskTemplate) -> Value:
    values: dict[str, object] = {
        "id": entry.id,
        "worker": entry.worker,
        "intent": entry.intent,
        "depends_on": [*entry.depends_on],
        "payload": entry.payload,
        "done_when": entry.done_when,
        "tolerates_missing": entry.tolerates_missing,
        "timeout_s": entry.limits.timeout_s,
    }
    return {key: cast("Value", value) for key, value in values.items() if value or key == "id"}
