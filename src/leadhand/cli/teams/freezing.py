"""`leadhand teams freeze`: the plan of a stored run becomes the template of a team's folder."""

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from leadhand.advice.facts import RunFacts, facts
from leadhand.advice.freezing import Frozen, freeze
from leadhand.cli.runs.views import find_run
from leadhand.cli.teams.advising import print_lines, runs_of
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.contracts.events import Event, RunStarted
from leadhand.contracts.team import Team
from leadhand.errors import InputError
from leadhand.journal.store import Store
from leadhand.models.prompts import prompts_of
from leadhand.plans.team_checks import team_problems
from leadhand.teams.draft import TEAM_FILE
from leadhand.teams.loader import load, ready_made
from leadhand.teams.new_folder import fill_new
from leadhand.teams.template_file import write_template
from leadhand.tools.text import counted


def freeze_run(
    given: str,
    into: Path,
    store: Store | None,
    home: Path | str,
    console: Console,
    *,
    replace: bool,
    as_json: bool,
    trust: bool,
) -> None:
    """Make the plan of a run the template of the team in `into`, and print it.

    If there is no such folder and the run's team is a ready-made one, its folder is copied there.
    Raises `InputError` and `TeamError`; then `into` is as it was.
    """
    run_id = find_run(store, given, home)
    assert store is not None, "a run was found"
    stored = store.inspect(run_id)
    if stored.damage or stored.unread:
        raise InputError(f"run {run_id!r} can't be frozen: {stored.damage or stored.unread}")
    exists = (into / TEAM_FILE).is_file()
    changed: list[_Changed] = []

    def change(folder: Path) -> None:
        team = load(folder, trust=trust)
        if team.template and exists and not replace:
            had = counted(len(team.template), "entry")
            raise InputError(
                f"{into / TEAM_FILE} has a template of {had}: give --replace to replace it"
            )
        run = _observed(stored.events, run_id, team, into)
        synthesis = run.plan.synthesis if run.plan is not None else "merge"
        frozen = freeze(run, team, runs_of(store, team).runs)
        _check(frozen, synthesis, team, run_id)
        write_template(folder, frozen.template, synthesis)
        changed.append(_Changed(frozen, synthesis, len(team.template)))

    if exists:
        change(into)
    else:
        _copy(_team_name(stored.events), into, change)
    if as_json:
        print_json(_document(changed[0], run_id, into))
    else:
        print_lines(console, [*_lines(changed[0], run_id, into)])


class _Changed(NamedTuple):
    """What was done."""

    frozen: Frozen
    synthesis: str
    replaced: int
    """Entries of the template that the team had."""


def _team_name(events: tuple[Event, ...]) -> str:
    return next((event.team for event in events if isinstance(event, RunStarted)), "")


def _copy(team: str, into: Path, change: Callable[[Path], None]) -> None:
    """Make `into` a changed copy of a ready-made team."""
    source = ready_made().get(team)
    if into.exists() or source is None:
        what = "is not the folder of a team" if into.exists() else "does not exist"
        how = (
            "name a folder that does not exist, for a copy of that ready-made team"
            if source is not None
            else f"name the folder of team {team!r}; a team in Python takes the plan of `leadhand "
            'trace` as its `template`, with planner="template"'
        )
        raise InputError(f"{str(into)!r} {what}: {how}")

    def write(new: Path) -> None:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, new, ignore=ignored, copy_function=shutil.copyfile)
        change(new)

    fill_new(into, write)


def _observed(events: tuple[Event, ...], run_id: str, team: Team, into: Path) -> RunFacts:
    name = _team_name(events)
    if name != team.name:
        raise InputError(f"run {run_id!r} is of team {name!r}, and {str(into)!r} is {team.name!r}")
    run = facts(events, prompts=prompts_of(team))
    if isinstance(run, str):
        raise InputError(f"run {run_id!r} can't be frozen: it is {run}")
    return run


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


def _lines(changed: _Changed, run_id: str, into: Path) -> Iterator[str]:
    template = changed.frozen.template
    yield (
        f"the plan of run {safe(run_id)!r}, as it was accepted first, is now the template of "
        f"{safe(str(into / TEAM_FILE))} ({counted(len(template), 'entry')}, `kind: template`)"
    )
    if changed.replaced:
        yield f"  it replaces a template of {counted(changed.replaced, 'entry')}"
    for entry in template:
        after = f" (after {', '.join(entry.depends_on)})" if entry.depends_on else ""
        yield f"  {sentence(f'{entry.id}, by {entry.worker}{after}: {entry.intent}')}"
    yield from (f"note: {sentence(note)}" for note in changed.frozen.notes)
    yield f"check it: leadhand teams check {safe(str(into))}"


def _document(changed: _Changed, run_id: str, into: Path) -> dict[str, object]:
    names = ("id", "worker", "intent", "depends_on")
    return {
        "run_id": run_id,
        "team_file": str(into / TEAM_FILE),
        "synthesis": changed.synthesis,
        "template": [
            {name: getattr(entry, name) for name in names} for entry in changed.frozen.template
        ],
        "notes": changed.frozen.notes,
    }
