"""Plans by the request: market, price, schedule and copy side by side, as far as files allow."""

import datetime as dt
import re
from typing import Final

from pydantic import JsonValue

from leadhand import InputError, Plan, Task, Team
from leadhand.extension.roles import PlanRequest
from leadhand_teams.launch.material import VOCABULARY, LaunchFiles, material_of
from leadhand_teams.shared.answers import inputs
from leadhand_teams.shared.values import amounts, dates

_WORKERS: Final = {
    "market": ("market", "Size up the market: segments, and the competitors' prices."),
    "elasticity": ("pricing", "Work out how sales react to price, with and without each control."),
    "survey": ("pricing", "Work out what prices the survey suggests."),
    "economics": ("pricing", "Work out margin and break-even."),
    "schedule": ("scheduler", "Place all tasks backwards from {date}, and find the critical path."),
    "copy": ("copywriter", "Write for each channel within its limit, from the given facts alone."),
}


def plan(request: PlanRequest, team: Team) -> Plan:
    """A task for each part that the request asks for and that the files allow; else for all parts.

    Raises `InputError` if nothing in the files is for a launch.
    """
    paths = inputs(request)
    material = material_of(paths) if paths else LaunchFiles()
    possible, today = possible_parts(material), dt.date.today()
    days = [*dates(request.text), *(day for day, _ in material.dates)]
    launch = days[0].value if days else None
    if not possible:
        raise InputError(
            "the launch team found nothing to work on: hand in sales (price, units), a survey, "
            "costs, competitors' prices, segments, tasks (task, days, depends on) or product facts"
        )
    asked = [part for part, words in VOCABULARY.parts.items() if _has(request.text, words)]
    if _has(request.text, VOCABULARY.price) and not {"elasticity", "survey"} & set(asked):
        asked += ["elasticity", "survey", "economics"]
    parts = [part for part in possible if part in asked] or possible
    day = (launch or today).isoformat()
    known: dict[str, JsonValue] = {"launch": day, "today": today.isoformat()}
    known["price"] = asked_price(request.text)
    tasks = [
        Task(
            id=part, worker=_WORKERS[part][0], intent=_WORKERS[part][1].format(date=day),
            payload=known | {"part": part}, artifacts=paths,
        )
        for part in parts if part != "schedule" or launch is not None
    ]  # fmt: skip
    if not tasks:
        raise InputError("say on which date the launch is: `launch on 5 October 2026`")
    return Plan(goal=request.text, tasks=tasks)


def asked_price(request: str) -> float | None:
    """The price that a request names: `break even at 52`, `at a price of 52 EUR`."""
    for amount in amounts(request):
        if re.search(
            r"(?:\bat|\bfor|price of|\bbei|\bzu|\bà)\s+[$€£]?$",
            request[: amount.start],
            re.IGNORECASE,
        ):
            return amount.value
    return None


def _has(text: str, words: str) -> bool:
    return re.search(rf"\b(?:{words})\b", text, re.IGNORECASE) is not None


def possible_parts(material: LaunchFiles) -> list[str]:
    """What the files allow, in the order of the report."""
    given = {
        "market": material.market or material.ladder is not None,
        "elasticity": material.sales is not None,
        "survey": material.survey is not None,
        "economics": {"cost", "price"} & set(material.figures),
        "schedule": material.tasks is not None,
        "copy": material.facts,
    }
    return [part for part, there in given.items() if there]
