"""Loads teams from folders, and ready-made teams by name. Reports all problems of a team at once.

my-team/
  team.yaml              name, description, models, planner, synthesizer, limits, ladder, ...
  workers/billing.md     front matter, then the worker's instructions
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from pydantic import JsonValue

from leadhand.contracts.budget import Rate
from leadhand.contracts.ladder import Retry
from leadhand.contracts.task import Limits
from leadhand.contracts.team import (
    MAX_DEPTH,
    Ladder,
    RetryRules,
    Role,
    Route,
    TaskTemplate,
    Team,
    Worker,
    WorkerFactory,
)
from leadhand.contracts.tools import tool_name
from leadhand.contracts.worker import granted_name
from leadhand.errors import InputError, TeamError
from leadhand.plans.team_checks import team_problems
from leadhand.routing.trained import TrainedRouter
from leadhand.teams import consistency
from leadhand.teams.draft import TEAM_FILE, Draft, WorkerDraft, read
from leadhand.teams.fields import Fields, RoleFields, TeamFields
from leadhand.teams.installed import team_folders, unusable_teams
from leadhand.teams.notes import Notes, closest
from leadhand.teams.parts import ImportedParts, declared_form, imported, team_code
from leadhand.teams.tools import catalogue, name_for_model
from leadhand.teams.trained_router import trained_router
from leadhand.teams.trust import check_owners
from leadhand.teams.values import tier_of_alias


class TeamInspection(NamedTuple):
    """A team with its problems and warnings, each as `file:line: what is wrong: how to fix it`."""

    team: Team | None
    """`None` if there are problems."""
    problems: tuple[str, ...]
    warnings: tuple[str, ...]


class TeamSummary(NamedTuple):
    name: str
    description: str
    workers: int
    takes_to_gives: tuple[str, str]
    """What it needs and what it gives, a line each; empty if its file does not say so."""
    needs_model: bool


def ready_made() -> dict[str, Path]:
    """The teams of leadhand and of other packages, sorted by name."""
    return team_folders()


def load(source: str | Path, *, trust: bool = False) -> Team[JsonValue]:
    """Load the ready-made team of that name, or the team in that folder.

    A plain word is the name of a ready-made team if there is one, else a folder; `./word` and a
    `Path` are always folders. Importing the modules of a folder's functions puts the folder at the
    front of `sys.path`. Raises `TeamError` with every problem, and `InputError` if there is no such
    team or, without `trust`, if another user could have written it.
    """
    inspection = inspect(source, trust=trust)
    if inspection.team is None:
        raise TeamError(find(source).resolve().name, inspection.problems)
    return cast("Team[JsonValue]", inspection.team)


def inspect(source: str | Path, *, trust: bool = False, code: bool = True) -> TeamInspection:
    """Load a team and report its problems and warnings instead of raising `TeamError`.

    A missing model is not a problem: it may be named when the team is run. Without `code` nothing
    is imported: there is no team, and no problems of imports.
    """
    return _inspect(find(source), _Nesting(trust=trust, code=code))


class _Nesting(NamedTuple):
    """The teams around the one that is loaded, and how all of them are loaded."""

    folders: tuple[Path, ...] = ()
    """The outermost first."""
    levels_left: int | None = None
    """How many more levels the teams around it allow; `None` for the outermost team."""
    trust: bool = False
    code: bool = True

    def into(self, folder: Path, max_depth: int) -> "_Nesting":
        left = max_depth if self.levels_left is None else min(max_depth, self.levels_left - 1)
        return self._replace(folders=(*self.folders, folder.resolve()), levels_left=left)


def _inspect(folder: Path, nesting: _Nesting) -> TeamInspection:
    notes = Notes()
    own = folder not in ready_made().values()
    if own and nesting.code and not nesting.trust:
        check_owners(folder)
    draft = read(folder, notes)
    consistency.check(draft, notes)
    nesting = nesting.into(folder, _max_depth(draft.team))
    parts = imported(
        draft,
        notes,
        own=own,
        code=nesting.code,
        load_team=lambda worker: _nested(worker, folder, nesting, notes),
    )
    trained = trained_router(draft, notes)
    granted = catalogue(draft, notes) if nesting.code else ()
    code = team_code(draft, notes) if nesting.code else {}
    team = None
    if draft.team is not None and not notes.problems and nesting.code:
        output = declared_form(draft.team.output, draft.document, "output", folder, notes)
        team = _team(draft, draft.team, parts, output, trained, granted, code)
        # Finds nothing more, unless it has a rule that the checks of the files lack.
        for text in team_problems(team, model_at_hand=True):
            notes.problem(draft.document.place(), text)
    return TeamInspection(None if notes.problems else team, notes.problems, notes.warnings)


def _max_depth(fields: TeamFields | None) -> int:
    return MAX_DEPTH if fields is None or fields.max_depth is None else fields.max_depth


def _nested(worker: WorkerDraft, folder: Path, nesting: _Nesting, notes: Notes) -> Team | None:
    """The team that does a worker's work; its problems become problems of the worker."""
    source, place = worker.fields.team or "", worker.document.place("team")
    known = ready_made()
    try:
        inner = known[source] if source in known else find(folder / source)
    except InputError as error:
        notes.problem(place, f"{error}; ready-made teams are {', '.join(known)}")
        return None
    names = " -> ".join(path.name for path in (*nesting.folders, inner.resolve()))
    if inner.resolve() in nesting.folders:
        notes.problem(place, f"the team would contain itself ({names}): name another one")
        return None
    if nesting.levels_left == 0:
        notes.problem(
            place,
            f"teams are nested deeper than `max_depth` allows ({names}): nest fewer, or raise it",
        )
        return None
    found = _inspect(inner, nesting)
    for problem in found.problems:
        notes.problem(place, f"in team {source!r}: {problem}")
    return found.team


def summary(source: str | Path) -> TeamSummary:
    """A summary without checks and imports."""
    draft = read(find(source), Notes())
    fields = draft.team or TeamFields()
    needs_model = not all(worker.has_function for worker in draft.workers)
    lines = fields.needs, fields.gives
    return TeamSummary(draft.name, fields.description, len(draft.names), lines, needs_model)


def find(source: str | Path) -> Path:
    """Raises an `InputError` that lists the teams."""
    known = ready_made()
    if isinstance(source, str) and source in known:
        return known[source]
    if source in (unusable := unusable_teams()):
        raise InputError(unusable[str(source)])
    if source == "":
        raise InputError(f"no team is named: ready-made are {', '.join(known)}")
    folder = Path(source)
    try:
        if folder.is_dir():
            if os.access(folder, os.R_OK | os.X_OK):
                return folder
            raise InputError(f"team folder {str(source)!r} can't be read: permission denied")
        exists = folder.exists()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"team {str(source)!r} can't be read: {why}") from error
    if exists:
        raise InputError(f"{str(source)!r} is not a folder: a team is a folder with {TEAM_FILE}")
    if isinstance(source, Path) or source != Path(source).name:
        raise InputError(f"there is no folder {str(source)!r}")
    guess = closest(source, known)
    hint = f"did you mean {guess!r}? " if guess else ""
    raise InputError(
        f"there is no team {source!r}: {hint}ready-made are {', '.join(known)}; for one of your "
        f"own give its folder, which contains {TEAM_FILE}"
    )


def _team(
    draft: Draft,
    fields: TeamFields,
    parts: dict[str, ImportedParts],
    output: object,
    trained: TrainedRouter | None,
    granted: tuple[object, ...],
    code: Mapping[str, object],
) -> Team:
    defaults = RetryRules()
    ladder, planner, synthesizer = fields.ladder, fields.planner, fields.synthesizer
    return Team(
        draft.name,
        fields.description,
        workers=tuple(_worker(worker, parts[worker.name]) for worker in draft.workers),
        model=fields.model,
        models={tier: tuple(names) for tier, names in fields.models.by_tier.items()},
        planner=_role(planner, "template", "synthesis", run=code["planner"]),
        early_start=fields.early_start,
        synthesizer=_role(synthesizer, "strategy", run=code["synthesizer"]),
        judge=_role(fields.judge),
        same_subject=fields.same_subject,
        critic=_role(fields.critic) if fields.critic is not None else None,
        routes=tuple(Route(**_values(route)) for route in fields.routes),
        router=_role(fields.router) if fields.router is not None else None,
        trained_router=trained,
        report=code["report"],  # pyright: ignore[reportArgumentType]
        confidential=fields.confidential,
        requester_approves=fields.requester_approves,
        expires_s=fields.expires_s,
        needs=fields.needs,
        gives=fields.gives,
        rates={name: Rate(**_values(rate)) for name, rate in fields.rates.items()},
        answers=fields.answers,
        contact=fields.contact,
        max_depth=_max_depth(fields),
        worker_factory=_worker_factory(fields, granted),
        shared_tools=_shared(draft, fields, parts),
        template=tuple(
            TaskTemplate(**_values(entry, "timeout_s"), limits=Limits(timeout_s=entry.timeout_s))
            for entry in planner.template
        ),
        synthesis=synthesizer.strategy,
        template_synthesis=planner.synthesis,
        output=output,  # pyright: ignore[reportArgumentType]
        limits=Limits(**_values(fields.limits)),
        retry=RetryRules(
            max_attempts=ladder.max_attempts or defaults.max_attempts,
            backoff_s=defaults.backoff_s if ladder.backoff_s is None else tuple(ladder.backoff_s),
        ),
        ladder=Ladder(
            **ladder.model_dump(exclude={"max_attempts", "backoff_s"}, exclude_none=True)
        ),
    )


def _values(fields: Fields, *others: str) -> dict[str, Any]:
    return {name: value for name, value in fields if name not in others}


def _role(fields: RoleFields, *others: str, run: object = None) -> Role:
    values = _values(fields, "settings", "run", *others)
    return Role(**values, settings=fields.settings.given, run=run)


def _worker(draft: WorkerDraft, parts: ImportedParts) -> Worker:
    fields = draft.fields
    tier = tier_of_alias(fields.model)
    values = _values(fields, "timeout_s", "max_steps") | parts._asdict()
    values |= {
        "name": draft.name,
        "instructions": draft.document.body,
        "tier": fields.tier or tier,
        "model": None if tier else fields.model,
        "settings": fields.settings.given,
        "retry": True if parts.retry == Retry() else parts.retry,
        "limits": Limits(timeout_s=fields.timeout_s, max_steps=fields.max_steps),
    }
    return Worker(**values)


def _worker_factory(fields: TeamFields, granted: tuple[object, ...]) -> WorkerFactory | None:
    factory = fields.worker_factory
    if factory is None:
        return None
    shared = {name_for_model(name) for name in factory.shared_tools}
    return WorkerFactory(
        granted,
        shared_tools=tuple(
            name
            for written, tool in zip(factory.tools, granted, strict=True)
            if name_for_model(written) in shared and (name := granted_name(tool)) is not None
        ),
        tiers=tuple(factory.tiers),
        max_workers=factory.max_workers,
    )


def _shared(draft: Draft, fields: TeamFields, parts: dict[str, ImportedParts]) -> tuple[str, ...]:
    """The shared tools by the tools' own names."""
    shared = {name_for_model(name): None for name in fields.shared_tools}
    for worker in draft.workers:
        used = worker.fields.tools if worker.fields.team is None else []
        for written, tool in zip(used, parts[worker.name].tools, strict=True):
            name = tool_name(tool)
            if name_for_model(written) in shared and name is not None:
                shared[name] = None
    return tuple(shared)
