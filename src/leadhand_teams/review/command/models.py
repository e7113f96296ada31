"""The reviewers, the analysers and maybe a model, and the options that are stored with a review.

Code leaves the machine only if the user names a model: a key in the environment, or a model server
on this machine, is not enough.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from leadhand import Plan, Team
from leadhand.contracts.task import Batch
from leadhand.extension import RunSetup, choose_models, model_name
from leadhand.extension.output import encodable, safe
from leadhand.tools.text import counted
from leadhand_teams.review import DEFAULT_THRESHOLD, DocumentFormat, FailOn
from leadhand_teams.review.change import Change
from leadhand_teams.review.diff_rows import Chunks, chunks
from leadhand_teams.review.settings import ReviewSettings
from leadhand_teams.review.team import LIMITS, model_batches, template_batches, with_model

VARIABLE = "LEADHAND_MODEL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewSetup(RunSetup):
    """The options that are stored with a review; its `--help` describes them."""

    folder: str = ""
    """Where the snapshot of its change is."""
    threshold: int | None = None
    """`None` if no option gave one, as for `fail_on`."""
    fail_on: FailOn | None = None
    no_look: bool = False
    """Whether to leave out what needs a look."""
    fail_on_look: bool = False
    also: dict[DocumentFormat, str] = field(default_factory=dict["DocumentFormat", str])
    """Format -> file of further copies of the report."""
    write_baseline: str | None = None
    """Where to write the report as the baseline of later reviews."""
    trust_ignores: bool = False
    """Whether `leadhand: ignore` comments that the change adds are obeyed."""
    stats: bool = False
    """Whether the report says how long the review took."""

    def threshold_of(self, settings: ReviewSettings) -> int:
        """The threshold: an option wins over `settings`."""
        given = (self.threshold, settings.threshold, DEFAULT_THRESHOLD)
        return next(one for one in given if one is not None)

    def fail_on_of(self, settings: ReviewSettings) -> FailOn:
        """The least severity that fails: an option wins over `settings`."""
        return self.fail_on or settings.fail_on or "critical"


@dataclass(frozen=True, slots=True)
class Reviewers:
    """The team for one change, and the parts of the change for its tasks."""

    team: Team
    change: Change
    chunks: Chunks
    """The parts for models; empty without a model."""

    @property
    def batches(self) -> Mapping[str, Sequence[Batch]]:
        """The batches of the change for the template, for analysers and models."""
        return {**template_batches(self.change), **model_batches(self.chunks)}

    @property
    def models(self) -> dict[str, str]:
        """The model of each worker that has one."""
        if not self.team.tiers:
            return {}
        model = model_name(self.team.tiers["standard"][0])
        return {worker.name: model for worker in self.team.workers if worker.run is None}

    def announce(self, console: Console) -> None:
        """Print which model the change is sent to."""
        for model in dict.fromkeys(self.models.values()):
            _print(f"{model} looks for findings too; the change is sent to it", console)

    def announce_calls(self, plan: Plan, console: Console) -> None:
        """Print how many model calls the tasks of `plan` make."""
        tasks = [task for task in plan.tasks if task.worker in self.models]
        if not tasks:
            return
        model = self.models[tasks[0].worker]
        size = sum(len(piece.text) for task in tasks for piece in self.chunks.of(task.artifacts))
        most = LIMITS.max_steps or 1
        _print(
            f"\n{counted(len(tasks), 'task')} of it ask {model}, with 1 to {most} calls each: "
            f"{size:,} characters of the change in all. Each finding that a model "
            "reports or refutes then takes 1 or 2 calls more.",
            console,
        )


def reviewers(
    team: Team, change: Change, setup: ReviewSetup, past_reviews: Path | None
) -> Reviewers:
    """`team` with the model that `--model` or LEADHAND_MODEL names. Raises `InputError`."""
    if setup.model is None and (setup.no_model or not os.environ.get(VARIABLE)):
        return Reviewers(team, change, Chunks())
    choice = choose_models(team, model=setup.model, no_model=setup.no_model)
    if not choice.team.tiers:
        return Reviewers(team, change, Chunks())
    parts = chunks(change)
    with_models = with_model(
        choice.team,
        change,
        parts,
        threshold=setup.threshold_of(change.settings.used),
        past_reviews=past_reviews,
    )
    return Reviewers(with_models, change, parts)


def _print(text: str, console: Console) -> None:
    line = "\n".join(safe(part) for part in text.split("\n"))
    console.print(encodable(line, console.encoding), soft_wrap=True, highlight=False, markup=False)
