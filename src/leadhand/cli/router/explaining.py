"""`leadhand router explain`: which step of a team's router decides about a request, and why."""

import asyncio
import json
import os
from dataclasses import replace
from typing import NamedTuple

from leadhand.cli.router.files import text_of
from leadhand.cli.views.terminal import sentence
from leadhand.contracts.team import Role, Team
from leadhand.models.choice import choose
from leadhand.planners.routing import Opinion, Router, Unplaced
from leadhand.routing.card import NO_WORKER
from leadhand.routing.ngrams import PIECE
from leadhand.routing.trained import Candidate, Reason, TrainedRouter
from leadhand.supervisor import Supervisor
from leadhand.teams.sources import team_of


class _Learnt(NamedTuple):
    """What the trained router makes of a text."""

    candidates: list[Candidate]
    reasons: list[Reason]
    """For the first candidate."""


def explain_route(team: str, given: str, *, ask_model: bool, as_json: bool, trust: bool) -> None:
    """Print what each step says about a request. Raises `InputError`, and `ModelError`.

    A model costs money, so it says something only with `ask_model`.
    """
    found, text = team_of(team, trust=trust), text_of(given)
    found = _with_model(found) if ask_model else found
    router = Router(found)
    opinions = [*router.by_code(text), _of_model(found, text, ask=ask_model), router.default]
    decides = next((one for one in opinions if one.workers), None)
    late = decides is None or decides.step == "default worker"
    waits = late and _has_model(found) and not ask_model
    learnt = _learnt(found, text)
    if as_json:
        print(json.dumps(_document(opinions, decides, waits, learnt), indent=2))
        return
    print(_headline(decides, waits))
    for opinion in opinions:
        who = " and ".join(map(sentence, opinion.workers)) or "abstains"
        print(f"  {opinion.step:<14}  {who}: {sentence(opinion.why)}")
        if opinion.step == "trained router" and learnt is not None:
            print(_shown(learnt))


def _with_model(team: Team) -> Team:
    """The team with the model that a run of it would ask. Raises `InputError`."""
    choice = asyncio.run(choose(team, model=None, no_model=False, environ=os.environ))
    # The provider's client reads the address of a server on this machine from here.
    os.environ.update(choice.environ)
    return choice.team


def _has_model(team: Team) -> bool:
    """Whether a model is the router's last step."""
    asks = team.router is not None or team.planner.kind == "routed"
    return asks and bool(team.models_of(team.router or Role()))


def _of_model(team: Team, text: str, *, ask: bool) -> Opinion:
    if not _has_model(team):
        asks = team.router is not None or team.planner.kind == "routed"
        if ask or not asks:
            return Opinion("model", (), "the team has none for its router")
        found = "the team names none; a run asks the one that it finds, and so does --ask-model"
        return Opinion("model", (), found)
    if not ask:
        return Opinion("model", (), "not asked; --ask-model asks it, as a run does if it must")
    # The same team without what decides before and after its model. A payload is no matter here.
    workers = [replace(worker, input=None) for worker in team.workers]
    planner = replace(team.planner, kind="routed")
    alone = replace(team, workers=workers, routes=(), trained_router=None, planner=planner)
    try:
        plan = asyncio.run(Supervisor(alone).plan(text))
    except Unplaced as error:
        return Opinion("model", (), error.why.rpartition("model: ")[2])
    return Opinion("model", tuple(task.worker for task in plan.tasks), "the model chose it")


def _learnt(team: Team, text: str) -> _Learnt | None:
    router = team.trained_router
    if not isinstance(router, TrainedRouter):
        return None
    candidates = router.candidates(text)
    return _Learnt(candidates, router.reasons(text, candidates[0].worker))


def _headline(decides: Opinion | None, waits: bool) -> str:
    if waits:
        return "the model decides"
    if decides is None:
        return "no step decides"
    return f"{' and '.join(map(sentence, decides.workers))}, by the {decides.step}"


def _shown(learnt: _Learnt) -> str:
    """The candidates with their scores, and the n-grams that speak for the first."""
    scores = [f"{sentence(one.worker or NO_WORKER)} {one.score:+.2f}" for one in learnt.candidates]
    grams = [f"{_ngram(one.ngram)} {one.weight:+.2f}" for one in learnt.reasons]
    lines = [f"scores: {', '.join(scores)}"]
    if grams:
        first = sentence(learnt.candidates[0].worker or NO_WORKER)
        lines.append(f"for {first}: {', '.join(grams)}")
    return "\n".join(f"{'':18}{line}" for line in lines)


def _ngram(ngram: str) -> str:
    """A word in quotes; a piece of one with its ends open."""
    if not ngram.startswith(PIECE):
        return f"'{sentence(ngram)}'"
    piece = sentence(ngram.removeprefix(PIECE))
    start = piece.removeprefix("_") if piece.startswith("_") else f"…{piece}"
    return f"'{start.removesuffix('_')}'" if start.endswith("_") else f"'{start}…'"


def _document(
    opinions: list[Opinion], decides: Opinion | None, waits: bool, learnt: _Learnt | None
) -> dict[str, object]:
    steps = [{"step": one.step, "workers": one.workers, "why": one.why} for one in opinions]
    return {
        "workers": [] if waits or decides is None else decides.workers,
        "decided_by": "model" if waits else decides.step if decides is not None else None,
        "steps": steps,
        "candidates": [{"worker": one.worker, "score": one.score} for one in learnt.candidates]
        if learnt
        else [],
        "reasons": [{"ngram": one.ngram, "weight": one.weight} for one in learnt.reasons]
        if learnt
        else [],
    }
