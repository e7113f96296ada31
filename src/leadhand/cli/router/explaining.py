"""`leadhand router explain`: which step of a team's router decides about a request, and why."""

import asyncio
import json
import os
import sys
from dataclasses import replace

from leadhand.cli.views.terminal import sentence
from leadhand.contracts.team import Role, Team
from leadhand.models.choice import choose
from leadhand.planners.routing import Opinion, Router, Unplaced
from leadhand.routing.trained import TrainedRouter
from leadhand.supervisor import Supervisor


class Steps:
    """The steps of one team, in the order in which a run asks them.

    A model costs money, so it says something only with `ask_model`.
    """

    def __init__(self, team: Team, *, ask_model: bool) -> None:
        """With `ask_model` the team has the model that a run would ask. Raises `InputError`."""
        if ask_model:
            choice = asyncio.run(choose(team, model=None, no_model=False, environ=os.environ))
            # The provider's client reads the address of a server on this machine from here.
            os.environ.update(choice.environ)
            team = choice.team
        self.team, self._ask, self._router = team, ask_model, Router(team)
        self._may_ask = team.router is not None or team.planner.kind == "routed"
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


def explain_route(team: Team, given: str, *, ask_model: bool, as_json: bool) -> None:
    """Print what each step says about a request; `-` is stdin.

    Raises `InputError`, and `ModelError`.
    """
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
        print(json.dumps(document, indent=2))
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
