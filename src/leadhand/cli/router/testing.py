"""`leadhand router test`: how well a team's whole routing does on examples that it has not seen."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from leadhand.cli.router.examples import examples_in
from leadhand.cli.router.explaining import Steps
from leadhand.cli.views.terminal import sentence
from leadhand.contracts.routes import Guess
from leadhand.contracts.team import Team
from leadhand.errors import InputError
from leadhand.planners.routing import Opinion
from leadhand.routing.examples import Example
from leadhand.routing.figures import Figures, calibration_error, figures, mean
from leadhand.routing.trained import TrainedRouter

_SHOWN = 10
_AT_ONCE = 8
"""Requests that a model is asked about at once."""
_LAST = ("default worker", "none")
"""Steps of requests from which every other step abstained."""


def test_router(team: Team, file: Path, *, ask_model: bool, as_json: bool) -> None:
    """Print the figures of a team's routing as it runs. Raises `InputError`."""
    if not (team.routes or team.router or team.trained_router or team.planner.kind == "routed"):
        raise InputError(
            f"team {team.name!r} has no router: add routes, a trained router or planner: routed"
        )
    examples = examples_in(file, [worker.name for worker in team.workers])
    decided = asyncio.run(_decided(Steps(team, ask_model=ask_model), examples))
    pairs = list(zip(examples, decided, strict=True))
    guesses = [Guess(next(iter(by.workers), None), 0, accepted=bool(by.workers)) for by in decided]
    found = figures(examples, guesses)
    beside = [{*by.workers[1:]} == {*one.also} for one, by in pairs if one.also is not None]
    shares = {
        "abstained": mean([by.step in _LAST for one, by in pairs if one.worker is not None]),
        "also_right": mean(beside),
    }
    if isinstance(team.trained_router, TrainedRouter):
        alone = [team.trained_router.guess(example.text) for example in examples]
        shares["trained_router_accuracy"] = figures(examples, alone).accuracy
        shares["trained_router_calibration_error"] = calibration_error(examples, alone)
    steps = {
        step: {
            "requests": sum(by.step == step for by in decided),
            "out_of_scope": sum(one.worker is None for one, by in pairs if by.step == step),
            "right": sum(by.workers[:1] == (one.worker,) for one, by in pairs if by.step == step),
        }
        for step in ("rules", "trained router", "model", *_LAST)
    }
    if as_json:
        print(json.dumps({**asdict(found), **shares, "steps": steps}, indent=2))
        return
    print(report(found, {name.replace("_", " "): value for name, value in shares.items()}))
    print("decided by (requests, of these for no worker, right):")
    for step, counts in steps.items():
        print(f"  {step:<14}" + "".join(f"  {count:>7,}" for count in counts.values()))
    if waiting := sum(by.step == "model" and not by.workers for by in decided):
        print(f"the model would be asked about {waiting:,}, and is with --ask-model")


async def _decided(steps: Steps, examples: Sequence[Example]) -> list[Opinion]:
    """The step that decides about each example."""
    some = asyncio.Semaphore(_AT_ONCE)

    async def decided(text: str) -> Opinion:
        async with some:
            found = steps.decision(await steps.opinions(text, every=False))
            return found or Opinion("none", (), "")

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(decided(example.text)) for example in examples]
    return [task.result() for task in tasks]


def report(found: Figures, shares: dict[str, float | None], most: int | None = _SHOWN) -> str:
    """Figures and other shares in lines, with up to `most` pairs of workers that are confused."""
    rows = {**found.named, **shares}
    width = max(map(len, rows))
    lines = [f"{found.examples:,} examples of workers, {found.out_of_scope:,} of no worker"]
    lines += [f"  {what:<{width}}  {_percent(value)}" for what, value in rows.items()]
    if found.confused:
        lines.append("given to another worker than the one that they are for:")
    lines += [
        f"  {count:>4}  {sentence(wanted or 'no worker')} -> {sentence(given_to)}"
        for wanted, given_to, count in found.confused[:most]
    ]
    more = len(found.confused[len(found.confused[:most]) :])
    return "\n".join([*lines, f"  and {more:,} more pairs"] if more else lines)


def _percent(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.1%}"
