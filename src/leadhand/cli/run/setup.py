"""The setup of a run: what a command needs to make its supervisor, now and on resume."""

import contextlib
import importlib
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self, cast

from pydantic import JsonValue

from leadhand.cli.duration import parse_duration
from leadhand.cli.home import find_run, home_of, stored_runs
from leadhand.cli.options import LimitOptions, PlanOptions, RunCommandOptions
from leadhand.cli.run.arguments import load_team
from leadhand.cli.run.storage import RunStorage
from leadhand.cli.start_time import remaining_s
from leadhand.contracts.budget import Budget
from leadhand.contracts.people import Occasion
from leadhand.contracts.team import Team
from leadhand.contracts.tools import is_read_only
from leadhand.errors import InputError
from leadhand.models.choice import ModelChoice, models_of
from leadhand.run.people import Ask
from leadhand.run.stored import StoredRun
from leadhand.supervisor import Supervisor
from leadhand.teams.sources import absolute

DEADLINE_S = 600.0
_OF_MODELS = (
    "leadhand.models",
    "leadhand.planners.ahead",
    "leadhand.synthesis.model",
    "leadhand.workers.loop",
)
"""What a run that uses models imports, and one without them never does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup(LimitOptions):
    concurrency: int = 64
    approve: tuple[Occasion, ...] = ()

    @property
    def deadline_s(self) -> float:
        """Raises `InputError`."""
        return parse_duration(self.deadline) if self.deadline else DEADLINE_S

    def left_s(self, team: Team) -> float:
        """A named deadline counts from the start of the program; libraries behind the models of
        `team` weigh seconds, and are imported first. Raises `InputError`."""
        if models_of(team):
            for name in _OF_MODELS:
                importlib.import_module(name)
        return self.time_left_s

    @property
    def time_left_s(self) -> float:
        """Seconds to the answer from now on, if no library has to be imported first."""
        return remaining_s(self.deadline_s) if self.deadline else self.deadline_s

    @property
    def budget(self) -> Budget | None:
        """Raises `InputError`."""
        options = {"--budget-usd": self.budget_usd, "--budget-tokens": self.budget_tokens}
        amounts = {option: amount for option, amount in options.items() if amount is not None}
        for option, amount in amounts.items():
            if not 0 < amount < math.inf:
                raise InputError(
                    f"{option} is {amount:g}: give more than 0, or use --no-model to spend nothing"
                )
        return Budget(usd=self.budget_usd, tokens=self.budget_tokens) if amounts else None

    def origin(self, command: str) -> dict[str, JsonValue]:
        """Stored with the run, for `of`."""
        options = asdict(self).items()
        some = {name: value for name, value in options if value is not None and value is not False}
        return {"command": command, **some, "approve": [*self.approve]}

    @classmethod
    def of(cls, origin: Mapping[str, JsonValue], **changed: object) -> Self:
        """`changed` replaces what the run was started with."""
        default = {field.name: field.default for field in fields(cls)}
        given: dict[str, object] = {**origin}
        given |= {k: v for k, v in changed.items() if v is not None and v != default.get(k)}
        given["trust"] = bool(changed.get("trust"))  # never from a journal
        if changed.get("model"):
            given["no_model"] = bool(changed.get("no_model"))
        elif changed.get("no_model"):
            given["model"] = None
        given["approve"] = tuple(cast("list[str]", given.get("approve") or ()))
        return cls(**{name: value for name, value in given.items() if name in default})  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSetup(RunSetup):
    team: str
    trust: bool = False
    """Whether another user's files may be imported. Not stored: the user who resumes decides."""
    folder: str = ""
    """The folder in which a team that is a module is looked for; empty: the current folder."""

    def load(self) -> Team:
        """Raises `InputError`."""
        return load_team(self.team, trust=self.trust, folder=self.folder)

    def origin(self, command: str) -> dict[str, JsonValue]:
        """Names the team as it is found from any folder."""
        origin = RunSetup.origin(self, command)
        origin.pop("trust", None)
        team = absolute(self.team, self.folder)
        return {**origin, "team": team, "folder": str(Path(self.folder).absolute())}

    def supervisor(
        self, choice: ModelChoice, storage: RunStorage, person: Ask | None
    ) -> Supervisor:
        """With the models of `choice`. Where a person may be asked here there is no default
        deadline: they can stop the run. Raises `InputError`."""
        at_leisure = self.deadline is None and person is not None and "escalation" in self.approve
        only_reads = all(map(is_read_only, choice.team.workers))
        return Supervisor(
            choice.team,
            deadline_s=None if at_leisure else self.left_s(choice.team),
            budget=self.budget,
            concurrency=self.concurrency,
            approve=self.approve,
            person=person,
            journal=storage.read_only_journal if only_reads else storage.journal,
        )


def setup_of(options: RunCommandOptions | PlanOptions) -> tuple[TeamSetup, str | None]:
    """The setup of a new run, and the id of the run that it follows, whose setup it takes
    without a team. Raises `InputError`."""
    if options.team is None and options.after is None:
        raise InputError("missing option '--team': name a team, or a run to follow with --after")
    typed = {**asdict(options.limits), **asdict(options)}  # `of` takes what it has a field for
    typed["approve"] = occasions(typed.get("approve"))
    if options.after is None:
        return TeamSetup.of({}, **typed), None
    where = home_of(options.home, os.environ)
    with contextlib.closing(stored_runs(where)) as store:
        run_id = find_run(store, options.after, where)
        origin = {} if options.team else StoredRun.of(run_id, store.events(run_id)).state.origin
    if not (options.team or origin.get("command") == "run"):
        raise InputError(
            f"run {run_id!r} was not started by `leadhand run`: name the team that follows it with "
            "--team TEAM"
        )
    return TeamSetup.of(origin, **typed), run_id


def occasions(given: str | None) -> tuple[Occasion, ...]:
    """Reads `plan,escalation` of `--approve`. Raises `InputError`."""
    known: tuple[Occasion, ...] = ("plan", "escalation")
    names = [name.strip() for name in (given or "").split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise InputError(f"--approve {name}: give {' or '.join(known)}, or both with a comma")
    return tuple(one for one in known if one in names)
