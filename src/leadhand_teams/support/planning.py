"""The plan: who works on a request, side by side."""

from itertools import chain

from leadhand import Plan, Task, Team
from leadhand.extension.roles import PlanRequest
from leadhand_teams.support.evidence import signs
from leadhand_teams.support.findings import Brief
from leadhand_teams.support.library import library_of
from leadhand_teams.support.routing import AnyRouter, routed
from leadhand_teams.support.troubleshooter import evidence_of

SURE = 0.75
"""From this confidence on no model is asked about the kind."""
_INTENTS = {
    "troubleshooter": "Find the cause of this, the steps that remove it, and the pitfalls: ",
    "documenter": "Find the section of the documents that answers this, and explain it: ",
    "escalator": "Write the ticket with which a person can act on this: ",
    "triage": "Say what kind of request this is, and who should answer it: ",
}


def plan(request: PlanRequest, team: Team) -> Plan:
    """A task for the primary worker, one for the secondary, and for `triage` where a model can
    settle what the rules doubt."""
    batches = request.batches.get("inputs", ())
    paths = tuple(dict.fromkeys(chain.from_iterable(one.artifacts for one in batches)))
    text = request.text
    evidence = evidence_of(text, library_of(paths)) if paths else signs(text, "request")
    trained = team.trained_router
    guess = trained.guess(text) if isinstance(trained, AnyRouter) else None
    found = routed(text, evidence, guess)
    payload = Brief(request=text, kind=found.kind, route=found.route).model_dump(mode="json")
    workers = [found.route.primary, *filter(None, [found.route.secondary])]
    if team.tiers and found.route.confidence < SURE:
        workers += [*({"troubleshooter", "documenter"} - {*workers}), "triage"]
    tasks = [
        Task(
            id=worker,
            worker=worker,
            intent=_INTENTS[worker] + text,
            payload=payload,
            artifacts=paths,
        )
        for worker in workers
    ]
    return Plan(goal=text, tasks=tasks)
