"""`leadhand router explain`: which step of a team's router decides about a request, and why."""

import asyncio
import json
import sys

from leadhand.cli.router.steps import Steps
from leadhand.cli.views.terminal import sentence
from leadhand.contracts.team import Team
from leadhand.routing.trained import TrainedRouter


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
