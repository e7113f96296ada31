"""The plan: who works on a request, side by side."""

from itertools import chain

from leadhand import Plan, Task, Team
from leadhand.extension.roles import PlanRequest
from leadhand_teams.support.evidence import concerned, signs
from leadhand_teams.support.library import library_of
from leadhand_teams.support.routing import routed
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
    brief = routed(text, concerned(text, evidence), team.trained_router)
    workers = [brief.route.primary, *filter(None, [brief.route.secondary])]
    if team.tiers and brief.route.confidence < SURE:
        workers += [*({"troubleshooter", "documenter"} - {*workers}), "triage"]
    tasks = [
        Task(
            id=worker,
            worker=worker,
            intent=_INTENTS[worker] + text,
            payload=brief.model_dump(mode="json"),
            artifacts=paths,
        )
        for worker in workers
    ]
    return Plan(goal=text, tasks=tasks)
