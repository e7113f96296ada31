"""The setup of a run: what a command needs to make its supervisor, now and on resume."""

import dataclasses
import importlib
import math
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, cast

from pydantic import JsonValue

from leadhand.cli.duration import parse_duration
from leadhand.cli.options import DEFAULT_LIMITS, LimitOptions, OutputOptions
from leadhand.cli.start_time import remaining_s
from leadhand.cli.views.consoles import print_note
from leadhand.contracts.budget import Budget
from leadhand.contracts.people import Occasion
from leadhand.contracts.team import Team
from leadhand.errors import InputError
from leadhand.models.choice import models_of
from leadhand.trace.formatting import format_price

DEADLINE_S = 600.0
_OF_MODELS = (
    "leadhand.models",
    "leadhand.planners.ahead",
    "leadhand.synthesis.model",
    "leadhand.workers.loop",
)
"""What a run that uses models imports, and one without them never does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """What every command that runs a team needs."""

    model: str | None = None
    no_model: bool = False
    deadline: str | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    concurrency: int = 64
    approve: tuple[Occasion, ...] = ()

    @property
    def deadline_s(self) -> float:
        """Seconds to the answer. Raises `InputError`."""
        return parse_duration(self.deadline) if self.deadline else DEADLINE_S

    def left_s(self, team: Team) -> float:
        """Seconds to the answer from now on. A deadline that was named counts from the start of the
        program; the libraries behind the models of `team` weigh seconds, and are imported first.

        Raises `InputError`.
        """
        if models_of(team):
            for name in _OF_MODELS:
                importlib.import_module(name)
        return self.time_left_s

    @property
    def time_left_s(self) -> float:
        """Seconds to the answer from now on, if no library has to be imported first."""
        return remaining_s(self.deadline_s) if self.deadline else self.deadline_s

    def print_time_left(self) -> None:
        """Say what is left of the deadline, if the start took more than a tenth of it."""
        left_s = remaining_s(self.deadline_s)
        if self.deadline and left_s < 0.9 * self.deadline_s:
            print_note(f"after the start, the run has {left_s:.1f} s of --deadline {self.deadline}")

    @property
    def budget(self) -> Budget | None:
        """What the run may spend. Raises `InputError`."""
        return budget_of(self.budget_usd, self.budget_tokens)

    def origin(self, command: str) -> dict[str, JsonValue]:
        """What is stored with the run, for `of`."""
        fields = {
            name: value
            for name, value in dataclasses.asdict(self).items()
            if value is not None and value is not False
        }
        return {"command": command, **fields, "approve": [*self.approve]}

    @classmethod
    def of(cls, origin: Mapping[str, JsonValue], **changed: object) -> Self:
        """The setup that a run was started with, with the values in `changed` that are set."""
        given: dict[str, object] = {**origin, **{k: v for k, v in changed.items() if v}}
        given["trust"] = bool(changed.get("trust"))  # never from a journal
        if changed.get("model"):
            given["no_model"] = False
        elif changed.get("no_model"):
            given["model"] = None
        given["approve"] = tuple(cast("list[str]", given.get("approve") or ()))
        fields = {field.name for field in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in given.items() if name in fields})  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True, slots=True)
class ResumeOptions:
    """The options of `leadhand resume`."""

    run: str
    home: str | None
    output: OutputOptions
    from_task: str | None = None
    limits: LimitOptions = DEFAULT_LIMITS
    team: str | None = None
    trust: bool = False

    @property
    def changed(self) -> dict[str, object]:
        """The options that replace those that the run was started with."""
        changed: dict[str, object] = {**self.limits._asdict(), "team": self.team}
        changed["trust"] = self.trust
        # A team that is named now is looked for in the current folder.
        return {**changed, "folder": os.getcwd()} if self.team else changed

    @property
    def kept(self) -> str:
        """The options that later commands need as well."""
        team = f" --team {shlex.quote(self.team)}" if self.team else ""
        return f"{team}{' --trust' if self.trust else ''}"


def occasions(given: str | None) -> tuple[Occasion, ...]:
    """What `--approve plan,escalation` names. Raises `InputError`."""
    known: tuple[Occasion, ...] = ("plan", "escalation")
    names = [name.strip() for name in (given or "").split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise InputError(f"--approve {name}: give {' or '.join(known)}, or both with a comma")
    return tuple(one for one in known if one in names)


def budget_of(usd: float | None, tokens: int | None) -> Budget | None:
    """The budget that `--budget-usd` and `--budget-tokens` give together. Raises `InputError`."""
    if usd is None and tokens is None:
        return None
    for option, amount in (("--budget-usd", usd), ("--budget-tokens", tokens)):
        if amount is not None and not 0 < amount < math.inf:
            raise InputError(
                f"{option} is {amount:g}: give more than 0, or use --no-model to spend nothing"
            )
    return Budget(usd=usd, tokens=tokens)


def budget_note(budget: Budget | None, cost_usd: tuple[float, float] | None) -> str:
    """The budget in words, after the cost of a plan: from and to, or unknown."""
    if budget is None:
        return ""
    tokens = None if budget.tokens is None else f"{budget.tokens:,} tokens"
    usd = None if budget.usd is None else format_price(budget.usd)
    said = f"; the budget is {' and '.join(part for part in (usd, tokens) if part)}"
    if budget.usd is None or cost_usd is None:
        return said
    low, high = cost_usd
    if budget.usd < low:
        return f"{said}, which is not enough"
    return f"{said}, which may not be enough" if budget.usd < high else said
