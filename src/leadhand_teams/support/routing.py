"""Plans who works on a request: by its label, then the trained router, then the rules.

The trained router is the team's own (`leadhand router train DIR --examples FILE`); its labels are
workers or kinds.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, runtime_checkable

from leadhand import Handoff, InputError, Plan, Task, Team
from leadhand.contracts.role import Classifier
from leadhand.extension.roles import PlanRequest
from leadhand_teams.shared.answers import inputs
from leadhand_teams.support.library import library_of
from leadhand_teams.support.output import Brief, DeskRoute, Kind, Sign, Triage, brief_of
from leadhand_teams.support.signals import concerns, points, reasons, wish_in
from leadhand_teams.support.troubleshooter import concerned, evidence_of, symptoms_of
from leadhand_teams.support.words import DATA, foreign, pattern

DESK_OF: Final[Mapping[Kind, str]] = DATA["desks"]
_KIND_OF: Final[Mapping[str | None, Kind]] = DATA["labels"]
SURE = 0.75
"""From this confidence on no model is asked about the kind."""
_RULES_SHARE: Final = 0.3
"""What the logarithm of the rules' points counts beside a router's score; cross-validated."""


@runtime_checkable
class KindScores(Protocol):
    """A trained router that scores every worker or kind."""

    def candidates(self, text: str, most: int = 3) -> list[tuple[str | None, float]]:
        """The labels with the highest scores."""
        ...


def plan(request: PlanRequest, team: Team) -> Plan:
    """A task for the primary worker, one for the secondary, and for `triage` where a model can
    settle what the rules doubt. Raises `InputError` if nothing that was handed in can be read."""
    text, paths = request.text, tuple(dict.fromkeys(inputs(request)))
    library = library_of(paths)
    if paths and library.own and not library.logs:
        why = f" ({'; '.join(library.unread[:3])})" if library.unread else ""
        raise InputError(f"no input can be read{why}: hand in documents, runbooks or logs as text")
    signs = concerned(text, evidence_of(text, library))
    named = library.runbook_for(concerns(text)[0], symptoms_of(text, signs))
    fits = named or library.index.about(text)
    brief = routed(text, signs, team.trained_router, fits=bool(fits))
    workers = [brief.route.primary, *filter(None, [brief.route.secondary])]
    workers += ["documenter"] if "documenter" not in workers else []
    if team.tiers and brief.route.confidence < SURE:
        workers += [*({"troubleshooter", "documenter"} - {*workers}), "triage"]
    tasks = [
        Task(
            id=worker,
            worker=worker,
            intent=DATA["tasks"][worker] + text,
            payload=brief.model_dump(mode="json"),
            artifacts=paths,
        )
        for worker in workers
    ]
    return Plan(goal=text, tasks=tasks)


def routed(
    text: str, signs: Sequence[Sign], router: Classifier | None = None, *, fits: bool = False
) -> Brief:
    """Who gets a request, and who else works on it at the same time; `router` is a trained one.

    The router's scores and the points of the rules are added. `fits`: a runbook
    or a section on an error code is for it.
    """
    shows = fits or bool(signs)
    if (label := pattern("label").search(text.partition("\n")[0])) is not None:
        return _to(_KIND_OF[label[1].casefold()], text, shows, 1.0, f"labelled “{label[1]}”")
    found = {kind: points(kind, text) for kind in DESK_OF}
    found["bug"] += 4 if any(one.kind == "traceback" for one in signs) else 2 * shows
    guess = router.guess(text) if router is not None else None
    if guess is not None and guess.worker in _KIND_OF:
        given = router.candidates(text, len(_KIND_OF)) if isinstance(router, KindScores) else ()
        trained: dict[Kind, float] = {
            _KIND_OF[worker]: score + _RULES_SHARE * math.log1p(found[_KIND_OF[worker]])
            for worker, score in given or [(guess.worker, 0.0)]
            if worker in _KIND_OF
        }
        chosen: Kind = max(trained, key=lambda one: trained[one])
        sure = guess.confidence if chosen == _KIND_OF[guess.worker] else 0.5
        return _to(chosen, text, shows, sure, f"trained router and rules, {sure:.0%}")
    first, second = sorted(found.values(), reverse=True)[:2]
    kind: Kind = max(DESK_OF, key=lambda one: found[one])
    refunds = kind == "feature" and {"money", "rights"}.intersection(reasons(text)[:1])
    if not first or refunds or (foreign(text) and not signs):
        kind = "question"  # to want a refund is no wish for a product
    elif kind == "feature" and fits:
        kind = "bug"  # a wish beside a problem
    confidence = 0.5 + min(first - second, 6) / 15 if first else 0.4
    why = ", ".join(f"{one} {score}" for one, score in found.items())
    return _to(kind, text, shows, confidence, f"rules ({why})")


def triaged(handoff: Handoff) -> Triage:
    """The draft of `triage`: what the rules found."""
    brief = brief_of(handoff)
    return Triage(kind=brief.kind, why=brief.route.why)


def rerouted(brief: Brief, triage: Triage) -> Brief | None:
    """The brief with the kind that a model chose.

    None if the request has signals of other kinds only: the model can't outvote all of them.
    """
    has_signals = {kind: points(kind, brief.request) > 0 for kind in DESK_OF}
    if triage.kind != brief.kind and any(has_signals.values()) and not has_signals[triage.kind]:
        return None
    why = f"{brief.route.why}; model: {triage.why}"
    return _to(triage.kind, brief.request, False, max(brief.route.confidence, 0.6), why)


def _to(kind: Kind, text: str, shows: bool, confidence: float, why: str) -> Brief:
    """The brief; `shows`: something is there that the troubleshooter can read."""
    first, second = DESK_OF[kind], None if kind == "question" else "documenter"
    if person := reasons(text):
        second = "troubleshooter" if shows else first if kind != "feature" else "documenter"
        first, why = "escalator", f"{why}; {person[0]}: a person must decide"
    elif kind == "bug" and wish_in(text):
        second = "escalator"
    elif kind == "question" and (shows or (pattern("problem").search(text) and not foreign(text))):
        second = "troubleshooter"
    route = DeskRoute(primary=first, secondary=second, confidence=round(confidence, 2), why=why)
    return Brief(request=text, kind=kind, route=route)
