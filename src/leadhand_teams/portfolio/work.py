"""What each worker does by code before a model is asked: market, allocation, risk and writer."""

from leadhand import Handoff, Result
from leadhand.tools.text import counted
from leadhand_teams.portfolio.inputs import material
from leadhand_teams.portfolio.output import Constraint, Rebalanced
from leadhand_teams.portfolio.policy import Policy
from leadhand_teams.portfolio.rebalancing import rebalanced
from leadhand_teams.portfolio.report import lead, part_of
from leadhand_teams.portfolio.risk import asset_facts, risk_facts
from leadhand_teams.portfolio.targets import Infeasible

ANY = Policy(target="hrp")
"""Its defaults count for risk where there is no policy."""


def market(handoff: Handoff) -> Result:
    """Facts of each asset, and what is wrong with the prices."""
    given = material(handoff.artifacts)
    assets = asset_facts(given, days=(given.policy or ANY).days)
    found = Rebalanced(assets=assets, issues=given.issues, conflicts=given.conflicts)
    what = f"{counted(len(assets), 'asset')}, {counted(len(given.dates), 'date')}"
    return _result(found, f"{what}, {counted(len(given.issues), 'doubt')}", given.unread)


def allocation(handoff: Handoff) -> Result:
    """Orders for the policy."""
    given = material(handoff.artifacts)
    policy = given.policy or ANY
    try:
        found = rebalanced(given, policy)
    except Infeasible as error:
        found = Rebalanced(constraints=[Constraint(name=error.name, met=False, why=error.why)])
    found.policy = given.policy_file
    return _result(found, lead(found)[0])


def risk(handoff: Handoff) -> Result:
    """Measures before and after the orders, and scenarios."""
    given = material(handoff.artifacts)
    weights = part_of(handoff.inputs.values()).weights
    found = risk_facts(given, given.policy or ANY, weights)
    return _result(found, f"{counted(len(found.scenarios), 'scenario')} of what is and would be")


def write(handoff: Handoff) -> Result:
    """A note for the people who approve the orders, each sentence from a result."""
    found = part_of(handoff.inputs.values())
    lines = [*lead(found), *(f"Not kept: {one.name}: {one.why}." for one in found.broken)]
    return _result(Rebalanced(note=lines), lines[0])


def _result(found: Rebalanced, summary: str, missing: list[str] | None = None) -> Result:
    output = found.model_dump(mode="json", exclude_defaults=True)
    return Result(output=output, summary=summary, missing=tuple(missing or ()))
