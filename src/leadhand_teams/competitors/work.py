"""The plan of a request, and what each worker does by code before a model is asked."""

import asyncio
import os
import re
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, cast

from pydantic import JsonValue

from leadhand import Handoff, InputError, Plan, Result, Task, Team
from leadhand.extension.roles import PlanRequest
from leadhand.tools.text import counted, joined_names
from leadhand.tools.web import WebSettings, WebTools
from leadhand_teams.competitors.changes import all_changes
from leadhand_teams.competitors.features import matrix
from leadhand_teams.competitors.output import ComparedPrice, Competition, Facts
from leadhand_teams.competitors.prices import PATTERNS, VOCABULARY, price_of
from leadhand_teams.competitors.report import lead, put_together
from leadhand_teams.competitors.sources import sources_of, stated
from leadhand_teams.shared.reading import Text

MAX_TASKS: Final = 12
"""Of the researcher; more competitors share them."""
_AFTER: Final = {"researcher": (), "analyst": ("researcher",), "writer": ("researcher", "analyst")}


def plan(request: PlanRequest, team: Team) -> Plan:
    """Tasks for each competitor or web page, then the analyses and the draft that are asked for.

    Raises `InputError` if there is nothing to read.
    """
    paths = [path for batch in request.batches.get("inputs", ()) for path in batch.artifacts]
    pages = list(dict.fromkeys(PATTERNS["web"].findall(request.text)))[:MAX_TASKS]
    sources = sources_of(paths)
    if not sources.facts and not pages:
        why = "no competitors were found: hand in pages named after them, or a column `competitor`"
        raise InputError("; not read: ".join([why, *sources.unread]))

    def asks(words: str) -> bool:
        return re.search(rf"(?<!\w)(?:{words})(?!\w)", request.text, re.IGNORECASE) is not None

    known = {one.competitor: one.name for one in sources.facts}
    names = [one for one in known if asks(re.escape(one))] or list(known)
    size = -(-len(names) // MAX_TASKS) or 1
    jobs: dict[str, tuple[str, str, JsonValue]] = {}
    for number, start in enumerate(range(0, len(names), size), start=1):
        group = names[start : start + size]
        intent = f"Find all facts about {joined_names([known[one] for one in group], 3)}."
        jobs[f"facts-{number}"] = ("researcher", intent, {"competitors": [*group]})
    for number, page in enumerate(pages, start=1):
        jobs[f"page-{number}"] = ("researcher", f"Find what {page} states.", {"page": page})
    analyses = VOCABULARY["analyses"]
    dated = len({one.date for one in sources.facts if one.date}) > 1
    possible = [name for name in analyses if name != "changes" or dated]
    for name in [name for name in analyses if asks(analyses[name][0])] or possible:
        jobs[name] = ("analyst", analyses[name][1], {"analysis": name})
    if asks(PATTERNS["drafts"].pattern):
        jobs["draft"] = ("writer", f"Draft this from the results alone: {request.text}", None)
    tasks = [
        Task(
            id=id,
            worker=worker,
            intent=intent,
            payload=payload,
            artifacts=paths if worker == "researcher" else (),
            depends_on=[other for other in jobs if jobs[other][0] in _AFTER[worker]],
            tolerates_missing=True,
            done_when="Each statement has the place that it is from.",
        )
        for id, (worker, intent, payload) in jobs.items()
    ]
    return Plan(goal=request.text, tasks=tasks)


def collect(handoff: Handoff) -> Result:
    """The facts about the competitors, or of the web page, that the payload names."""
    payload = cast("dict[str, Any]", handoff.payload)
    if "page" in payload:
        return _result(_page(payload["page"]))
    found = sources_of(handoff.artifacts).model_copy()
    found.facts = [one for one in found.facts if one.competitor in payload["competitors"]]
    return _result(found, f"{counted(len(found.facts), 'fact')}.")


def _page(address: str) -> Competition:
    settings, found = WebSettings.from_environment(os.environ), Competition()
    if settings is None or not settings.read_pages:
        why = "reading web pages is switched off (LEADHAND_WEB=1 allows it)"
        found.unread.append(f"{address}: {why}")
    else:
        text = asyncio.run(WebTools(settings).read_page(address))
        host = address.split("/")[2].removeprefix("www.")
        found.facts += stated(Text(address, text), host)
    return found


def analyse(handoff: Handoff) -> Result:
    """The analysis that the payload names, of what the researcher found."""
    given, found = put_together(handoff.inputs.values()), Competition()
    last: dict[str, str] = {}
    for one in given.facts:
        last[one.competitor] = max(one.date or "", last.get(one.competitor, ""))
    current = [one for one in given.facts if one.date in (None, last[one.competitor])]
    match cast("dict[str, str]", handoff.payload)["analysis"]:
        case "matrix":
            found.matrix = matrix(current, list(last))
        case "prices":
            by_unit = attrgetter("comparable_per", "currency", "comparable")
            found.prices = sorted(_priced(current), key=by_unit)
        case _:
            found.changes = all_changes(given.facts)
    return _result(found)


def write(handoff: Handoff) -> Result:
    """The sentences that decide, from the results."""
    lines = lead(put_together(handoff.inputs.values()))
    return _result(Competition(draft=lines), lines[0])


def _result(found: Competition, summary: str = "") -> Result:
    return Result(output=found.model_dump(mode="json", exclude_defaults=True), summary=summary)


def _priced(facts: Facts) -> Iterator[ComparedPrice]:
    """The prices of each row; a column of its own may say what they are for."""
    for _, group in groupby(facts, key=lambda one: (one.competitor, one.item, one.ref)):
        row = list(group)
        per = next((one.value for one in row if PATTERNS["per column"].match(one.attribute)), "")
        read = [(one, price_of(one.value, heading=f"{one.attribute} {per}")) for one in row]
        priced = [(one, price) for one, price in read if price]
        for one, price in priced:
            about = f"{one.item or ''} ({one.attribute})" if len(priced) > 1 else one.item
            stated = {**one.model_dump(), **price._asdict(), "item": about}
            yield ComparedPrice.model_validate(stated)
