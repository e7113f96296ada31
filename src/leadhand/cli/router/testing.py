"""`leadhand router test` and `explain`: which step of a team's routing decides about a request."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from leadhand.cli.views.terminal import print_json, sentence
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.role import Guess
from leadhand.contracts.team import Role, Team
from leadhand.errors import InputError
from leadhand.models.choice import choose
from leadhand.planners.routing import Opinion, Router, Unplaced
from leadhand.plans.routes import is_routed
from leadhand.routing.examples import (
    Example,
    Figures,
    calibration_error,
    figures,
    mean,
    read_examples,
)
from leadhand.routing.trained import TrainedRouter
from leadhand.supervisor import Supervisor

_SHOWN = 10
_AT_ONCE = 8
_LAST = ("default worker", "none")
"""Steps of requests from which every other step abstained."""


class Steps:
    """The steps of one team, in the order of a run; a model only with `ask_model`."""

    def __init__(self, team: Team, *, ask_model: bool) -> None:
        """With `ask_model` the team has the model that a run would ask. Raises `InputError`."""
        if ask_model:
            choice = asyncio.run(choose(team, model=None, no_model=False, environ=os.environ))
            # The provider's client reads the address of a server on this machine from here.
            os.environ.update(choice.environ)
            team = choice.team
        self.team, self._ask, self._router = team, ask_model, Router(team)
        self._may_ask = team.router is not None or KINDS[team.planner.kind].must_route
        self._waits = self._may_ask and bool(team.models_of(team.router or Role()))
        # The same team without what decides before and after its model. A payload is no matter.
        workers = [replace(worker, input=None) for worker in team.workers]
        planner = replace(team.planner, kind="routed")
        alone = replace(team, workers=workers, routes=(), trained_router=None, planner=planner)
        self._by_model = Supervisor(alone) if ask_model and self._waits else None

    async def opinions(self, text: str, *, every: bool) -> list[Opinion]:
        """What each step says; the model is asked for `every` text, or only if a run asks it."""
        found = [*self._router.by_code(text)]
        if every or not any(one.workers for one in found):
            found.append(await self._of_model(text))
        return [*found, self._router.default]

    def decision(self, opinions: list[Opinion]) -> Opinion | None:
        """The step that decides; `None`: none does. Without workers it is a model to be asked."""
        for one in opinions:
            if one.workers or (one.step == "model" and self._waits and not self._ask):
                return one
        return None

    async def _of_model(self, text: str) -> Opinion:
        if not self._waits:
            why = "the team names none; a run asks the one that it finds, and so does --ask-model"
            if self._ask or not self._may_ask:
                why = "the team has none for its router"
            return Opinion("model", (), why)
        if self._by_model is None:
            return Opinion("model", (), "not asked; --ask-model asks it, as a run does if it must")
        try:
            plan = await self._by_model.plan(text)
        except Unplaced as error:
            return Opinion("model", (), error.why.rpartition("model: ")[2])
        return Opinion("model", tuple(task.worker for task in plan.tasks), "the model chose it")


def test_router(team: Team, file: Path, *, ask_model: bool, as_json: bool) -> None:
    """Print the figures of a team's routing as it runs. Raises `InputError`."""
    if not is_routed(team):
        raise InputError(
            f"team {team.name!r} has no router: add routes, a trained router or planner: routed"
        )
    examples = examples_in(file, [worker.name for worker in team.workers])
    decided = asyncio.run(_decided(Steps(team, ask_model=ask_model), examples))
    pairs = list(zip(examples, decided, strict=True))
    guesses = [Guess(next(iter(by.workers), None), 0, accepted=bool(by.workers)) for by in decided]
    found = figures(examples, guesses)
    shares = {
        "abstained": mean([by.step in _LAST for one, by in pairs if one.worker is not None]),
        "also_right": mean(
            [{*by.workers[1:]} == {*one.also} for one, by in pairs if one.also is not None]
        ),
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
        print_json({**found._asdict(), **shares, "steps": steps})
        return
    print(report(found, {name.replace("_", " "): value for name, value in shares.items()}))
    print("decided by (requests, of these for no worker, right):")
    for step, counts in steps.items():
        print(f"  {step:<14}" + "".join(f"  {count:>7,}" for count in counts.values()))
    if waiting := sum(by.step == "model" and not by.workers for by in decided):
        print(f"the model would be asked about {waiting:,}, and is with --ask-model")


def examples_in(
    file: Path, workers: list[str], kinds: Mapping[str, str] = MappingProxyType({})
) -> list[Example]:
    try:
        with file.open(encoding="utf-8-sig") as lines:
            return read_examples(lines, workers, source=str(file), kinds=kinds)
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text: save it as UTF-8") from error
    except OSError as error:
        raise InputError(f"{file} can't be read: {error.strerror or error}") from error


async def _decided(steps: Steps, examples: Sequence[Example]) -> list[Opinion]:
    some = asyncio.Semaphore(_AT_ONCE)

    async def decided(text: str) -> Opinion:
        async with some:
            found = steps.decision(await steps.opinions(text, every=False))
            return found or Opinion("none", (), "")

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(decided(example.text)) for example in examples]
    return [task.result() for task in tasks]


def report(found: Figures, shares: dict[str, float | None]) -> str:
    """Figures and other shares in lines, with the pairs of workers that are confused most."""
    rows = {**found.named, **shares}
    width = max(map(len, rows))
    lines = [f"{found.examples:,} examples of workers, {found.out_of_scope:,} of no worker"]
    for what, one in rows.items():
        lines.append(f"  {what:<{width}}  {'not measured' if one is None else f'{one:.1%}'}")
    if found.confused:
        lines.append("given to another worker than the one that they are for:")
    lines += [
        f"  {count:>4}  {sentence(wanted or 'no worker')} -> {sentence(given_to)}"
        for wanted, given_to, count in found.confused[:_SHOWN]
    ]
    more = len(found.confused) - _SHOWN
    return "\n".join([*lines, f"  and {more:,} more pairs"] if more > 0 else lines)


def explain_route(team: Team, given: str, *, ask_model: bool, as_json: bool) -> None:
    """`-` is stdin. Raises `InputError`, and `ModelError`."""
    text = sys.stdin.read() if given == "-" else given
    steps = Steps(team, ask_model=ask_model)
    opinions = asyncio.run(steps.opinions(text, every=True))
    decides = steps.decision(opinions)
    router = team.trained_router
    known = router.candidates(text) if isinstance(router, TrainedRouter) else []
    reasons = router.reasons(text, known[0][0]) if isinstance(router, TrainedRouter) else []
    if as_json:
        document = {
            "workers": decides.workers if decides else [],
            "decided_by": decides.step if decides else None,
            "steps": [one._asdict() for one in opinions],
            "candidates": [{"worker": worker, "score": score} for worker, score in known],
            "reasons": [{"ngram": ngram, "weight": weight} for ngram, weight in reasons],
        }
        print_json(document)
        return
    who = _joined(decides.workers) if decides else ""
    asks = "the model decides" if decides else "no step decides"
    print(f"{who}, by the {decides.step}" if decides and who else asks)
    for step, workers, why in opinions:
        print(f"  {step:<14}  {_joined(workers) or 'abstains'}: {sentence(why)}")
        if step == "trained router" and known:
            scores = [f"{sentence(name or 'no worker')} {score:+.2f}" for name, score in known]
            print(f"{'':18}scores: {', '.join(scores)}")
            grams = [f"'{sentence(ngram)}' {weight:+.2f}" for ngram, weight in reasons]
            print(f"{'':18}for the first: {', '.join(grams) or 'no whole word'}")


def _joined(workers: tuple[str, ...]) -> str:
    return " and ".join(map(sentence, workers))
