"""What each worker does by code before a model is asked: market, allocation, risk and writer."""

from typing import cast

from pydantic import BaseModel, JsonValue

from leadhand import Escalated, Handoff, Result
from leadhand.tools.text import counted
from leadhand_teams.portfolio.inputs import HandedIn, material
from leadhand_teams.portfolio.output import AssetFacts, Compared, Falls, Rebalanced, Scenario


class MarketFacts(BaseModel):
    """The market worker's draft."""

    assets: list[AssetFacts] = []
    issues: list[str] = []
    conflicts: list[str] = []


class RiskFacts(BaseModel):
    """The risk worker's draft."""

    measures: Compared = Compared()
    scenarios: list[Scenario] = []
    falls: Falls = Falls()


def market(handoff: Handoff) -> Result | Escalated:
    """Facts of each asset, and what is wrong with the prices."""
    given = material(handoff.artifacts)
    if not given.assets:
        return Escalated(reason="ambiguous_input", message=_no_prices(given))
    from leadhand_teams.portfolio.facts import asset_facts

    found = MarketFacts(assets=asset_facts(given), issues=given.issues, conflicts=given.conflicts)
    what = f"{counted(len(found.assets), 'asset')}, {counted(len(given.dates), 'date')}"
    summary = f"{what}, {counted(len(found.issues), 'doubt')} about the prices and holdings."
    return _result(found, summary, given.unread)


def allocation(handoff: Handoff) -> Result | Escalated:
    """Orders for the policy that the task names."""
    given = material(handoff.artifacts)
    name = str(handoff.payload)
    name = next((one for one in given.policies if one == name or one.endswith(f"/{name}")), name)
    policy = given.policies.get(name)
    if policy is None:
        why = next((line for line in given.unread if line.startswith(f"{name}:")), "")
        return Escalated(reason="ambiguous_input", message=why or "no policy.yaml was handed in")
    from leadhand_teams.portfolio.rebalancing import rebalanced

    found = rebalanced(given, policy).model_copy(update={"policy": name})
    kept = sum(one.met for one in found.constraints)
    rules = f"{kept} of {counted(len(found.constraints), 'rule')} kept"
    return _result(found, f"{counted(len(found.orders), 'order')} by {name}, {rules}.", ())


def risk(handoff: Handoff) -> Result | Escalated:
    """Measures before and after, and scenarios, of the first allocation before this task."""
    given = material(handoff.artifacts)
    if not given.assets:
        return Escalated(reason="ambiguous_input", message=_no_prices(given))
    from leadhand_teams.portfolio.facts import risk_facts

    parts = [one for one in map(allocated, handoff.inputs.values()) if one is not None]
    policy = next((one for one in given.policies.values() if one is not None), None)
    if parts:
        policy = given.policies.get(parts[0].policy) or policy
    found = risk_facts(given, policy, parts[0].weights if parts else None)
    summary = f"{counted(len(found.scenarios), 'scenario')} for what is held and what would be."
    return _result(found, summary, ())


def write(handoff: Handoff) -> Result:
    """A note for the people who approve the orders, each sentence from a result."""
    from leadhand_teams.portfolio.facts import note

    parts = [one for one in map(allocated, handoff.inputs.values()) if one is not None]
    risks = [RiskFacts.model_validate(one) for one in handoff.inputs.values() if has(one, "falls")]
    text = note(parts[0], risks[0].measures if risks else Compared()) if parts else ""
    missing = () if parts else ("there are no orders to write about",)
    return Result(output={"note": text}, summary=text.split("\n")[0], missing=missing)


def allocated(output: JsonValue) -> Rebalanced | None:
    """An output as an allocation, if it is one."""
    return Rebalanced.model_validate(output) if has(output, "orders") else None


def has(output: JsonValue, key: str) -> bool:
    """Whether an output is an object with this key."""
    return isinstance(output, dict) and key in output


def _result(found: BaseModel, summary: str, missing: object) -> Result:
    lines = tuple(cast("tuple[str, ...]", missing))
    return Result(output=found.model_dump(mode="json"), summary=summary, missing=lines)


def _no_prices(given: HandedIn) -> str:
    why = f" ({'; '.join(given.unread[:5])})" if given.unread else ""
    return f"no prices were found: hand in a CSV with a date column and a column an asset{why}"
