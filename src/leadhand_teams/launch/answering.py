"""The synthesis: cross-checks market, price, schedule and copy, and puts the plan together."""

from collections.abc import Iterator, Sequence
from typing import cast

from pydantic import JsonValue

from leadhand import Plan
from leadhand.contracts.answer import Conflict, Gap, Source
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand.tools.text import joined_names
from leadhand_teams.launch.material import LaunchFiles, material_of
from leadhand_teams.launch.output import Economics, Launch
from leadhand_teams.launch.planning import possible_parts
from leadhand_teams.launch.report import is_decisive, report
from leadhand_teams.shared.statements import Added, check
from leadhand_teams.shared.values import amount_text, unused


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    found = Launch()
    outputs = [one.result.output for one in results if one.result is not None]
    sources: dict[tuple[str, str], None] = {}
    for one in results:
        output = one.result.output if one.result is not None else None
        part = Launch.model_validate(output if isinstance(output, dict) else {})
        for name in part.model_fields_set:
            value: object = getattr(part, name)
            both = getattr(found, name) + value if isinstance(value, list) else value
            setattr(found, name, both)
        sources |= dict.fromkeys((one.task.id, file) for file in _files(part))
    paths = next((task.artifacts for task in plan.tasks if task.artifacts), ())
    material = material_of(paths) if paths else LaunchFiles()
    found.unread = list(material.unread)
    found.warnings += _cross_checked(found, material)
    found.warnings.sort(key=lambda one: not is_decisive(one))
    _add(found, outputs, material)
    gaps = [Gap(task_id="files", why=f"not read: {why}") for why in found.unread]
    planned, possible = {task.id for task in plan.tasks}, set(possible_parts(material))
    if "schedule" in possible and planned == possible - {"schedule"}:
        gaps.append(Gap(task_id="schedule", why="no schedule: the request names no date"))
    text = report(plan.goal, found).markdown(title=False)
    first = plan.tasks[0].id
    left = (f"{one} in the request was not used" for one in unused(plan.goal, text))
    gaps += [Gap(task_id=first, why=why) for why in left]
    return Synthesis(
        answer=text,
        output=cast("JsonValue", found.model_dump(mode="json", by_alias=True)),
        conflicts=tuple(
            Conflict(task_ids=(first,), kind="contradiction", about=about, why=why)
            for about, why in _contradictions(found, material)
        ),
        sources=tuple(Source(task_id=task, ref=file) for task, file in sources),
        gaps=tuple(gaps),
    )


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


def _add(found: Launch, outputs: Sequence[JsonValue], material: LaunchFiles) -> None:
    """What models added, if citation and limit of characters hold; the rest is counted."""
    limits = {one.channel.lower(): one for one in found.copies}
    economics = found.economics.model_dump(exclude_none=True)
    figures = [float(value) for value in economics.values() if isinstance(value, int | float)]
    for output in outputs:
        if not (isinstance(output, dict) and output.get("added")):
            continue
        added = Added.model_validate(output["added"]).statements
        checked = check(added, material.texts, computed=figures)
        found.removed_statements += len(checked.removed)
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
