"""Who reviews: the analysers, and beside them a model where the user asked for one.

Nobody's code leaves the machine unasked: a key in the environment, or a model server on this
machine, is not asking.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console

from leadhand.cli.review.options import ReviewSetup
from leadhand.cli.run.models import chosen
from leadhand.cli.views.terminal import encodable, safe
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team, model_name
from leadhand.models.choice import VARIABLE
from leadhand.ports import Batch
from leadhand.teams.review.change import Change
from leadhand.teams.review.chunks import Chunks, chunks
from leadhand.teams.review.team import cuts
from leadhand.teams.review.with_model import LIMITS, model_cut, with_model
from leadhand.tools.text import counted


@dataclass(frozen=True, slots=True)
class Reviewers:
    """The team for one change, and what its tasks are made for."""

    team: Team
    change: Change
    chunks: Chunks
    """What models look at; nothing where there is none."""

    @property
    def cuts(self) -> Mapping[str, Sequence[Batch]]:
        """The change cut for the template, for analysers and models."""
        return {**cuts(self.change), **model_cut(self.chunks)}

    @property
    def asked(self) -> dict[str, str]:
        """The model of each worker that has one."""
        if not self.team.tiers:
            return {}
        model = model_name(self.team.tiers["standard"][0])
        return {worker.name: model for worker in self.team.workers if worker.run is None}

    def tell(self, console: Console) -> None:
        """Say which model is about to see the change."""
        for model in dict.fromkeys(self.asked.values()):
            _say(f"findings are also looked for by {model}; the change is sent to it", console)

    def tell_calls(self, plan: Plan, console: Console) -> None:
        """Say which tasks of `plan` cost calls, and how many."""
        tasks = [task for task in plan.tasks if task.worker in self.asked]
        if not tasks:
            return
        model = self.asked[tasks[0].worker]
        size = sum(len(piece.text) for task in tasks for piece in self.chunks.of(task.artifacts))
        most = LIMITS.max_steps or 1
        _say(
            f"\n{counted(len(tasks), 'task')} of it ask {model}, with 1 to {most} calls each: "
            f"{size:,} characters of the change in all. Each finding then takes 1 or 2 calls more.",
            console,
        )


def reviewers(team: Team, change: Change, setup: ReviewSetup) -> Reviewers:
    """`team`, with the model that `--model` or LEADHAND_MODEL names; raises `InputError`."""
    if setup.model is None and (setup.no_model or not os.environ.get(VARIABLE)):
        return Reviewers(team, change, Chunks())
    choice = chosen(team, model=setup.model, no_model=setup.no_model)
    if not choice.team.tiers:
        return Reviewers(team, change, Chunks())
    parts = chunks(change)
    with_models = with_model(choice.team, change, parts, threshold=setup.threshold)
    return Reviewers(with_models, change, parts)


def _say(text: str, console: Console) -> None:
    line = "\n".join(safe(part) for part in text.split("\n"))
    console.print(encodable(line, console.encoding), soft_wrap=True, highlight=False, markup=False)
