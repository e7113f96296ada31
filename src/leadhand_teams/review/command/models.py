"""The reviewers: the analysers, and a model beside them if the user asked for one.

Code leaves the machine only if the user names a model: a key in the environment, or a model server
on this machine, is not enough.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from leadhand import Plan, Team
from leadhand.contracts.task import Batch
from leadhand.extension import choose_models, model_name
from leadhand.extension.output import encodable, safe
from leadhand.tools.text import counted
from leadhand_teams.review.change import Change
from leadhand_teams.review.chunks import Chunks, chunks
from leadhand_teams.review.command.options import ReviewSetup
from leadhand_teams.review.team import template_batches
from leadhand_teams.review.with_model import LIMITS, model_batches, with_model

VARIABLE = "LEADHAND_MODEL"


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
