"""Writes what a run made into its team's folder, or into a copy of it."""

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from leadhand.contracts.task import Plan
from leadhand.contracts.worker import granted_name
from leadhand.errors import InputError
from leadhand.plans.planned_workers import missing_tools, with_planned_workers
from leadhand.teams.draft import WORKERS_FOLDER, read
from leadhand.teams.edits import Keys, edit, fill_new
from leadhand.teams.files import Value
from leadhand.teams.importing.definition import WorkerDefinition, file_stem, one_line, worker_text
from leadhand.teams.installed import team_folders
from leadhand.teams.loader import inspect, load
from leadhand.teams.notes import Notes
from leadhand.teams.tools import name_for_model

_NOT_COPIED = ("__pycache__", ".git", ".venv")


class SavedWorker(NamedTuple):
    name: str
    file: str
    tools: list[str]
    """As its file names them."""


def write_changed(
    source: Path, into: Path, keys: Keys, files: Mapping[str, str], *, code: bool = False
) -> None:
    """Change `keys` of the team.yaml in `into`, which is `source` or becomes a copy with `files`.

    Writes nothing, and raises `InputError`, if the copy would be no sound team or `into` has files.
    """

    def write(new: Path) -> None:
        # The files of an installed team name its modules as they are installed.
        modules = ("*.py",) if source in team_folders().values() else ()
        ignored = shutil.ignore_patterns(*_NOT_COPIED, *modules)
        shutil.copytree(source, new, ignore=ignored, copy_function=shutil.copyfile)
        for name, text in files.items():
            (new / name).parent.mkdir(exist_ok=True)
            (new / name).write_text(text, encoding="utf-8")
        edit(new, keys)
        if problems := inspect(new, code=code).problems:
            raise InputError(f"{str(into)!r} would be no sound team: {'; '.join(problems)}")

    if into == source:
        edit(into, keys)
    elif into.resolve().is_relative_to(source.resolve()):
        raise InputError(f"{str(into)!r} is in the folder of the team itself: name another")
    else:
        fill_new(into, write)


def save_team(source: Path, plan: Plan, into: Path, *, trust: bool = False) -> list[SavedWorker]:
    """Make `into` a copy of the team in `source` in which the workers of `plan` are declared.

    The copy has no worker factory; tools of several workers become shared. Raises as
    `write_changed`, and `TeamError` for a team that can't be loaded.
    """
    team, draft = load(source, trust=trust), read(source, Notes())
    if missing := sorted(missing_tools(plan, team)):
        raise InputError(f"the worker factory of team {team.name!r} has no {', '.join(missing)}")
    fields = draft.team.worker_factory if draft.team else None
    offered = team.worker_factory.tools if team.worker_factory is not None else ()
    names = [granted_name(tool) or "" for tool in offered]
    written = dict(zip(names, fields.tools if fields is not None else (), strict=True))
    tiers = {worker.name: worker.tier for worker in with_planned_workers(team, plan).workers}
    saved: list[SavedWorker] = []
    files: dict[str, str] = {}
    taken = {path.stem.casefold() for path in (source / WORKERS_FOLDER).glob("*")}
    for worker in plan.workers:
        stem, tools = file_stem(worker.name, taken), [written[t] for t in worker.tools or ()]
        front: dict[str, Value] = {
            "description": one_line(worker.description),
            "tools": [*tools],
            "tier": tiers.get(worker.name),
            "output": worker.output if isinstance(worker.output, dict) else None,  # pyright: ignore[reportAssignmentType]
        }
        kept = {key: value for key, value in front.items() if value}
        saved.append(SavedWorker(worker.name, f"{WORKERS_FOLDER}/{stem}.md", tools))
        definition = WorkerDefinition(worker.name, kept, worker.instructions)
        files[saved[-1].file] = worker_text(definition, stem)
    uses = Counter(tool for worker in saved for tool in worker.tools)
    uses.update(tool for worker in draft.workers for tool in {*worker.fields.tools})
    known = [*draft.team.shared_tools] if draft.team is not None else []
    shared = {name_for_model(tool) for tool in known}
    more = [tool for tool, n in uses.items() if n > 1 and name_for_model(tool) not in shared]
    keys: dict[str, Value] = {"worker_factory": None}
    keys |= {"shared_tools": [*known, *more]} if more else {}
    write_changed(source, into, keys, files)
    return saved
