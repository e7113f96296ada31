"""Writes the workers that a plan describes into a copy of their team's folder.

The copy has no worker factory: what was made for one plan is then declared.
"""

import shutil
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from leadhand.contracts.task import Plan, PlannedWorker
from leadhand.contracts.team import Team
from leadhand.contracts.worker_factory import granted_name
from leadhand.errors import InputError
from leadhand.plans.planned_workers import missing_tools, with_planned_workers
from leadhand.teams.draft import TEAM_FILE, WORKERS_FOLDER, Draft, read
from leadhand.teams.files import Value
from leadhand.teams.importing.definition import WorkerDefinition, file_stem, one_line, worker_text
from leadhand.teams.loader import inspect, load
from leadhand.teams.new_folder import fill_new
from leadhand.teams.notes import Notes
from leadhand.teams.template_file import edit, with_keys
from leadhand.teams.tools import name_for_model


class SavedWorker(NamedTuple):
    """A worker that is now declared."""

    name: str
    file: str
    """Its path within the folder."""
    tools: list[str]
    """As its file names them."""


def save_team(source: Path, plan: Plan, into: Path, *, trust: bool = False) -> list[SavedWorker]:
    """Make `into` a copy of the team in `source` in which the workers of `plan` are declared.

    Raises `TeamError` for a team that can't be loaded, and `InputError` if the copy would be no
    sound team or `into` is not a new or empty folder; then nothing is written.
    """
    team, draft = load(source, trust=trust), read(source, Notes())
    if missing := sorted(missing_tools(plan, team)):
        raise InputError(f"the worker factory of team {team.name!r} has no {', '.join(missing)}")
    saved: list[SavedWorker] = []

    def write(new: Path) -> None:
        ignored = shutil.ignore_patterns("__pycache__", ".git", ".venv")
        shutil.copytree(source, new, ignore=ignored, copy_function=shutil.copyfile)
        (new / WORKERS_FOLDER).mkdir(exist_ok=True)
        saved.extend(_write_workers(plan, team, draft, new))
        _declare(new, draft, saved)
        if problems := inspect(new, code=False).problems:
            raise InputError(f"{str(into)!r} would be no sound team: {'; '.join(problems)}")

    if into.resolve().is_relative_to(source.resolve()):
        raise InputError(f"{str(into)!r} is in the folder of the team itself: name another")
    fill_new(into, write)
    return saved


def _write_workers(plan: Plan, team: Team, draft: Draft, new: Path) -> list[SavedWorker]:
    written = _written_tools(team, draft)
    taken = {path.stem.casefold() for path in (new / WORKERS_FOLDER).iterdir()}
    whole = with_planned_workers(team, plan)
    saved: list[SavedWorker] = []
    for one in plan.workers:
        worker = whole.worker(one.name)
        tier = worker.tier if worker is not None else None
        stem, tools = file_stem(one.name, taken), [written[name] for name in one.tools or ()]
        file = f"{WORKERS_FOLDER}/{stem}.md"
        definition = WorkerDefinition(one.name, _front(one, tier, tools), one.instructions)
        (new / file).write_text(worker_text(definition, stem), encoding="utf-8")
        saved.append(SavedWorker(one.name, file, tools))
    return saved


def _written_tools(team: Team, draft: Draft) -> dict[str, str]:
    """The tools of the catalogue as team.yaml names them, by their granted names."""
    factory, fields = team.worker_factory, draft.team.worker_factory if draft.team else None
    if factory is None or fields is None:
        return {}
    names = [granted_name(tool) or "" for tool in factory.tools]
    return dict(zip(names, fields.tools, strict=True))


def _front(worker: PlannedWorker, tier: str | None, tools: list[str]) -> dict[str, Value]:
    front: dict[str, Value] = {"description": one_line(worker.description)}
    if tools:
        front["tools"] = [*tools]
    if tier is not None:
        front["tier"] = tier
    if isinstance(worker.output, dict):
        front["output"] = worker.output  # pyright: ignore[reportArgumentType]
    return front


def _declare(new: Path, draft: Draft, saved: list[SavedWorker]) -> None:
    """Take the factory out of team.yaml, and mark as shared the tools that several workers have."""
    uses = Counter(tool for one in saved for tool in one.tools)
    uses.update(tool for one in draft.workers for tool in {*one.fields.tools})
    known = [*draft.team.shared_tools] if draft.team is not None else []
    names = {name_for_model(tool) for tool in known}
    more = [tool for tool, n in uses.items() if n > 1 and name_for_model(tool) not in names]
    shared: list[Value] = [*known, *more]
    changes: dict[str, Value] = {"worker_factory": None}
    if more:
        changes["shared_tools"] = shared
    edit(new / TEAM_FILE, lambda text, _: with_keys(text, changes), lambda _: changes)
