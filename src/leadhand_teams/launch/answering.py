"""The synthesis: cross-checks market, price, schedule and copy, and puts the plan together."""

from collections.abc import Iterator, Sequence

from leadhand import Plan
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand.tools.text import joined_names
from leadhand_teams.launch.material import LaunchFiles, material_of
from leadhand_teams.launch.output import Economics, Launch
from leadhand_teams.launch.planning import possible_parts
from leadhand_teams.launch.report import is_decisive, report
from leadhand_teams.shared import answers
from leadhand_teams.shared.statements import check
from leadhand_teams.shared.values import amount_text, unused


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    paths = next((task.artifacts for task in plan.tasks if task.artifacts), ())
    material = material_of(paths) if paths else LaunchFiles()
    parts = answers.parts_of(Launch, results)
    found = answers.merged(Launch, (part for _, part in parts))
    found.unread = list(material.unread)
    found.warnings += _cross_checked(found, material)
    found.warnings.sort(key=lambda one: not is_decisive(one))
    _add(found, results, material)
    gaps = [("files", f"not read: {why}") for why in found.unread]
    planned, possible = {task.id for task in plan.tasks}, set(possible_parts(material))
    if "schedule" in possible and planned == possible - {"schedule"}:
        gaps.append(("schedule", "no schedule: the request names no date"))
    text, first = report(plan.goal, found).markdown(title=False), plan.tasks[0].id
    gaps += [(first, f"{one} in the request was not used") for one in unused(plan.goal, text)]
    return answers.synthesis(
        text, found,
        by=[first],
        conflicts=_contradictions(found, material),
        sources=[(task.id, file) for task, part in parts for file in _files(part)],
        gaps=gaps,
    )  # fmt: skip


def _contradictions(found: Launch, material: LaunchFiles) -> Iterator[tuple[str, str]]:
    """What the files state differently about a figure or the date, and what was taken."""
    if found.economics != Economics():
        for name, stated in material.figures.items():
            if len({(one.value, one.currency) for one in stated}) > 1:
                said = [f"{amount_text(one.value, one.currency)} [{one.ref}]" for one in stated]
                about = f"{name.replace('_', ' ')}: {joined_names(said)}"
                yield about, f"computed with the first, {said[0]}"
    day = found.launch_date
    other = [f"{one.value} [{ref}]" for one, ref in material.dates if day and one.value != day]
    if other:
        yield f"launch date: {joined_names([str(day), *other])}", f"scheduled for {day}"


def _files(part: Launch) -> Sequence[str]:
    places = [one.ref for one in (*part.elasticities, *part.ladder, *part.market, *part.schedule)]
    places += part.economics.refs + [claim.ref for one in part.copies for claim in one.claims]
    places += [part.survey.ref] if part.survey else []
    return [place.rpartition(":")[0] or place for place in places]


def _cross_checked(found: Launch, material: LaunchFiles) -> list[str]:
    """Where the price does not fit what the survey, the cost and the competitors say."""
    price, warnings = found.economics.price, list[str]()
    if price is None:
        return warnings
    if found.survey and not found.survey.pmc <= price <= found.survey.pme:
        warnings.append(
            f"The price of {price:,.6g} is outside the range that the survey accepts, "
            f"{found.survey.pmc:,.6g} to {found.survey.pme:,.6g}."
        )
    if found.economics.cost is None and "cost" in material.figures:
        warnings.append("Price and costs are in different currencies: no margin was computed.")
    if found.economics.margin is not None and found.economics.margin <= 0:
        warnings.append("A unit costs as much as it earns, or more: there is no break-even.")
    alike = (None, found.economics.currency)
    dearest = max((rung.price for rung in found.ladder if rung.unit in alike), default=None)
    if dearest is not None and price > dearest:
        warnings.append(f"The price of {price:,.6g} is above every competitor's.")
    return warnings


def _add(found: Launch, results: Sequence[TaskResult], material: LaunchFiles) -> None:
    """What models added, if citation and limit of characters hold; the rest is counted."""
    limits = {one.channel.lower(): one for one in found.copies}
    economics = found.economics.model_dump(exclude_none=True)
    figures = [float(value) for value in economics.values() if isinstance(value, int | float)]
    checked = check(answers.added(results), material.texts, computed=figures)
    found.removed_statements = len(checked.removed)
    for statement in checked.kept:
        channel, _, text = statement.text.partition(": ")
        given = limits.get(channel.lower())
        if given is None:
            found.statements.append(statement)
        elif len(text) <= given.max_chars:
            words = {"text": text, "claims": [statement], "by_model": True}
            found.copies.append(given.model_copy(update=words))
        else:
            found.removed_statements += 1
