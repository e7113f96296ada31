"""The plan of a request, and what each worker does by code before a model is asked."""

import re

import numpy as np

from leadhand import Handoff, InputError, Plan, Result, Task, Team
from leadhand.extension.roles import PlanRequest
from leadhand.tools.text import counted
from leadhand_teams.portfolio.inputs import VOCABULARY, material
from leadhand_teams.portfolio.market import Floats, Infeasible, stressed
from leadhand_teams.portfolio.market import market as market_of
from leadhand_teams.portfolio.orders import rebalanced
from leadhand_teams.portfolio.output import BeforeAfter, Constraint, Rebalanced
from leadhand_teams.portfolio.report import lead, part_of, sums

POINTS = 60
"""Points of a figure's line, at most."""


def plan(request: PlanRequest, team: Team) -> Plan:
    """The tasks that the request needs: prices always, and all but the note if it is open.

    Raises `InputError` if there are no prices, or no policy for orders.
    """
    paths = [path for batch in request.batches.get("inputs", ()) for path in batch.artifacts]
    given = material(paths)
    words = VOCABULARY["asks"]
    asks = {name for name in words if re.search(words[name], request.text, re.IGNORECASE)}
    orders = "orders" in asks or not asks & {"risk", "prices"}
    if orders and not given.policy_file:
        raise InputError("orders need a policy: hand in policy.yaml")
    workers = ["market", *(["allocation"] if orders else [])]
    workers += ["risk"] if orders or "risk" in asks else []
    workers += ["writer"] if orders and "note" in asks else []
    tasks = [
        Task(
            id=worker,
            worker=worker,
            intent=f"{VOCABULARY['tasks'][worker]}: {request.text}",
            artifacts=paths,
            depends_on=workers[1:n],  # the market helps no other worker
            tolerates_missing=True,
        )
        for n, worker in enumerate(workers)
    ]
    return Plan(goal=request.text, tasks=tasks)


def market(handoff: Handoff) -> Result:
    """Facts of each asset, and what is wrong with the prices."""
    given = material(handoff.artifacts)
    of, found = market_of(given.levels, days=given.policy.days), Rebalanced()
    every = np.eye(len(given.assets))
    for asset, own, alike in zip(given.assets, every, of.correlation - 2 * every, strict=True):
        (facts, _), closest = of.measured(asset, own), int(np.argmax(np.nan_to_num(alike, nan=-1)))
        facts.ref = given.places[asset]
        if alike[closest] > -1:
            facts.closest, facts.correlation = given.assets[closest], float(alike[closest])
        found.assets.append(facts)
    found.issues, found.conflicts = given.issues, given.conflicts
    what = f"{counted(len(given.assets), 'asset')}, {counted(len(given.dates), 'date')}"
    return _result(found, f"{what}, {counted(len(given.issues), 'doubt')}", given.unread)


def allocation(handoff: Handoff) -> Result:
    """Orders for the policy."""
    given = material(handoff.artifacts)
    try:
        found = rebalanced(given)
    except Infeasible as error:
        rules = [str(line).partition(": ") for line in error.args]
        broken = [Constraint(name=name, met=False, why=why) for name, _, why in rules]
        found = Rebalanced(constraints=broken)
    found.policy = given.policy_file
    return _result(found, lead(found)[0])


def risk(handoff: Handoff) -> Result:
    """Measures, scenarios and falls of what is held and, with orders, of what would be."""
    given, weights = material(handoff.artifacts), part_of(handoff.inputs.values()).weights
    policy, assets, found = given.policy, given.assets, Rebalanced()
    of = market_of(given.levels, days=policy.days)
    portfolios: dict[str, dict[str, float]] = {}
    if given.value > 0:
        now = given.after(given.held).weights.tolist()
        portfolios["before"] = dict(zip(assets, now, strict=True))
    for name in ("target", "after") if weights else ():
        portfolios[name] = {one.asset: getattr(one, name) for one in weights}
    lines: dict[str, Floats] = {}
    for name, parts in portfolios.items():
        values = np.array([parts.get(asset, 0.0) for asset in assets])
        found.measures[name], lines[name] = of.measured(name, values, policy.risk_free)
    for name, shock in {"all assets fall 20 %": {"*": -0.2}, **policy.shocks}.items():
        unknown = ", ".join(shock.keys() - {"*", *assets})
        ends = {when: stressed(one, shock) for when, one in portfolios.items()}
        title = f"{name} (without {unknown})" if unknown else name
        found.scenarios.append(BeforeAfter(name=title, **ends))
    known = np.flatnonzero(np.isfinite(sum(lines.values()))).tolist() if lines else []
    step = len(known) // POINTS + 1
    for part in (known[n : n + step] for n in range(0, len(known), step)):
        deepest = {name: round(float(line[part].max()), 4) for name, line in lines.items()}
        found.falls.append(BeforeAfter(name=str(given.dates[part[-1] + 1]), **deepest))
    return _result(found, f"{counted(len(found.scenarios), 'scenario')} of what is and would be")


def write(handoff: Handoff) -> Result:
    """A note for those who approve the orders: decision, change, cost, limits, what to check."""
    given, found = material(handoff.artifacts), part_of(handoff.inputs.values())
    orders = sorted(found.orders, key=lambda one: -one.value)[:3]
    worst = sorted((one.after, one.name) for one in found.scenarios if one.after is not None)
    facts = {
        "orders": [f"{one.asset} from {one.before:.1%} to {one.after:.1%}" for one in orders],
        "worst": [f"{name}, {after:.1%}" for after, name in worst[:1]],
        "broken": [f"{one.name}: {one.why}" for one in found.broken],
        "doubts": [*given.conflicts, *given.issues, *given.unread],
    }
    terms = {name: "; ".join(lines) or "nothing" for name, lines in facts.items()}
    lines = [one.format(**terms, **sums(found), given=given) for one in VOCABULARY["note"]]
    return _result(Rebalanced(note=lines), lead(found)[0])


def _result(found: Rebalanced, summary: str, missing: list[str] | None = None) -> Result:
    output = found.model_dump(mode="json", exclude_defaults=True)
    return Result(output=output, summary=summary, missing=tuple(missing or ()))
