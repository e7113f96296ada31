"""Writes the workers that a plan describes into a copy of their team's folder.

The copy has no worker factory: what was made for one plan is then declared.
"""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from leadhand.contracts.task import Plan
from leadhand.contracts.worker_factory import granted_name
from leadhand.errors import InputError
from leadhand.plans.planned_workers import missing_tools, with_planned_workers
from leadhand.teams.draft import WORKERS_FOLDER, Draft, read
from leadhand.teams.edits import Keys, changed_copy, edit
from leadhand.teams.files import Value
from leadhand.teams.importing.definition import WorkerDefinition, file_stem, one_line, worker_text
from leadhand.teams.loader import inspect, load
from leadhand.teams.notes import Notes
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
    fields = draft.team.worker_factory if draft.team else None
    offered = team.worker_factory.tools if team.worker_factory is not None else ()
    names = [granted_name(tool) or "" for tool in offered]
    written = dict(zip(names, fields.tools if fields is not None else (), strict=True))
    tiers = {worker.name: worker.tier for worker in with_planned_workers(team, plan).workers}
    saved: list[SavedWorker] = []

    def change(new: Path) -> None:
        folder = new / WORKERS_FOLDER
        folder.mkdir(exist_ok=True)
        taken = {path.stem.casefold() for path in folder.iterdir()}
        for worker in plan.workers:
            stem, tools = file_stem(worker.name, taken), [written[t] for t in worker.tools or ()]
            front: dict[str, Value] = {
                "description": one_line(worker.description),
                "tools": [*tools],
                "tier": tiers.get(worker.name),
                "output": worker.output if isinstance(worker.output, dict) else None,  # pyright: ignore[reportAssignmentType]
            }
            kept = {key: value for key, value in front.items() if value}
            definition = WorkerDefinition(worker.name, kept, worker.instructions)
            (folder / f"{stem}.md").write_text(worker_text(definition, stem), encoding="utf-8")
            saved.append(SavedWorker(worker.name, f"{WORKERS_FOLDER}/{stem}.md", tools))
        edit(new, _settings(draft, saved))
        if problems := inspect(new, code=False).problems:
            raise InputError(f"{str(into)!r} would be no sound team: {'; '.join(problems)}")

    changed_copy(source, into, change)
    return saved


def _settings(draft: Draft, saved: list[SavedWorker]) -> Keys:
    """team.yaml without the factory; tools that several workers have are marked as shared."""
    uses = Counter(tool for worker in saved for tool in worker.tools)
    uses.update(tool for worker in draft.workers for tool in {*worker.fields.tools})
    known = [*draft.team.shared_tools] if draft.team is not None else []
    names = {name_for_model(tool) for tool in known}
    more = [tool for tool, n in uses.items() if n > 1 and name_for_model(tool) not in names]
    shared: list[Value] = [*known, *more]
    return {"worker_factory": None, **({"shared_tools": shared} if more else {})}
