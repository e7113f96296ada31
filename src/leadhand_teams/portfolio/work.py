"""What each worker does by code before a model is asked: market, allocation, risk and writer."""

from collections.abc import Sequence

from pydantic import JsonValue

from leadhand import Escalated, Handoff, Result
from leadhand.tools.text import counted
from leadhand_teams.portfolio.inputs import HandedIn, material
from leadhand_teams.portfolio.output import Compared, Rebalanced


def market(handoff: Handoff) -> Result | Escalated:
    """Facts of each asset, and what is wrong with the prices."""
    given = material(handoff.artifacts)
    if not given.assets:
        return Escalated(reason="ambiguous_input", message=_no_prices(given))
    from leadhand_teams.portfolio.facts import asset_facts

    found = Rebalanced(assets=asset_facts(given), issues=given.issues, conflicts=given.conflicts)
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
    return _result(found, f"{counted(len(found.orders), 'order')} by {name}, {rules}.")


def risk(handoff: Handoff) -> Result | Escalated:
    """Measures before and after, and scenarios, of the first allocation before this task."""
    given = material(handoff.artifacts)
    if not given.assets:
        return Escalated(reason="ambiguous_input", message=_no_prices(given))
    from leadhand_teams.portfolio.facts import risk_facts

    parts = [one for one in map(part_of, handoff.inputs.values()) if one.policy]
    policy = next((one for one in given.policies.values() if one is not None), None)
    if parts:
        policy = given.policies.get(parts[0].policy) or policy
    found = risk_facts(given, policy, parts[0].weights if parts else None)
    summary = f"{counted(len(found.scenarios), 'scenario')} for what is held and what would be."
    return _result(found, summary)


def write(handoff: Handoff) -> Result:
    """A note for the people who approve the orders, each sentence from a result."""
    from leadhand_teams.portfolio.facts import note

    found = [part_of(one) for one in handoff.inputs.values()]
    parts = [one for one in found if one.policy]
    measures = next((one.measures for one in found if one.scenarios), Compared())
    text = note(parts[0], measures) if parts else ""
    missing = () if parts else ("there are no orders to write about",)
    return Result(output={"note": text}, summary=text.split("\n")[0], missing=missing)


def part_of(output: JsonValue) -> Rebalanced:
    """What a worker found, without what its model added; only allocations name a policy."""
    fields = output if isinstance(output, dict) else {}
    return Rebalanced.model_validate({name: fields[name] for name in fields if name != "added"})


def _result(found: Rebalanced, summary: str, missing: Sequence[str] = ()) -> Result:
    output = found.model_dump(mode="json", exclude_defaults=True)
    return Result(output=output, summary=summary, missing=tuple(missing))


def _no_prices(given: HandedIn) -> str:
    why = f" ({'; '.join(given.unread[:5])})" if given.unread else ""
    return f"no prices were found: hand in a CSV with a date column and a column an asset{why}"
