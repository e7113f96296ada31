"""Plans by the request: facts of each competitor side by side, then what the request asks for."""

import re
from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from leadhand import Plan, Task, Team
from leadhand.contracts.task import PlanRequest
from leadhand.errors import InputError
from leadhand.tools.text import joined_names
from leadhand_teams.competitors.sources import Sources, sources_of

MAX_TASKS: Final = 12
"""Of the researcher; more competitors share them."""
_ANALYSES: Final = {
    "matrix": (
        r"features?|matrix|offers?|ha(?:s|ve)|support\w*|compar\w+|only|funktion\w*|vergleich\w*",
        "Say which competitor has which feature: yes, no, partly or unknown.",
    ),
    "prices": (
        r"pric\w+|costs?|cheap\w*|expensive|fees?|preis\w*|kosten|prix|precios?|tarif\w*",
        "Make all prices comparable per unit, seat and month.",
    ),
    "changes": (
        r"chang\w*|since|differen\w+|renamed|removed|added|vanished|new|(?:ge)?änder\w*|cambi\w*",
        "Say what was added, removed, renamed or changed from each snapshot to the next.",
    ),
}
"""Words that ask for each analysis, and its task."""
_DRAFTS: Final = (
    r"report|memo|brief(?:ing)?|draft|write|summar\w+|sections?|bericht|zusammenfass\w+"
)
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"')\]]+[^\s<>\"')\].,;:!?]")


def plan(request: PlanRequest, team: Team) -> Plan:
    """Tasks for each competitor or web page, then the analyses and the draft that are asked for.

    Raises `InputError` if there is nothing to read.
    """
    paths = [path for batch in request.batches.get("inputs", ()) for path in batch.artifacts]
    pages = list(dict.fromkeys(_ADDRESS.findall(request.text)))[:MAX_TASKS]
    sources = sources_of(paths)
    if not sources.records and not pages:
        raise InputError(
            "the competitors team found no competitor: hand in pages named after them, "
            "such as acme-pricing.md, or a table with a column `competitor`"
        )
    named = [one for one in sources.names if _asks(request.text, re.escape(one))]
    names = named or list(sources.names)
    size = -(-len(names) // MAX_TASKS) or 1
    tasks: list[Task] = []
    for number, start in enumerate(range(0, len(names), size), start=1):
        group = names[start : start + size]
        intent = f"Find all facts about {joined_names([sources.names[one] for one in group], 3)}."
        job: JsonValue = {"competitors": [*group]}
        tasks.append(_task(f"facts-{number}", "researcher", intent, job, paths))
    for number, page in enumerate(pages, start=1):
        intent = f"Find all facts that {page} states."
        tasks.append(_task(f"page-{number}", "researcher", intent, {"page": page}))
    facts = [task.id for task in tasks]
    tasks += [
        _task(name, "analyst", _ANALYSES[name][1], {"analysis": name}, after=facts)
        for name in _analyses(request.text, sources)
    ]
    if _asks(request.text, _DRAFTS):
        intent = f"Draft this from the results alone: {request.text}"
        tasks.append(_task("draft", "writer", intent, after=[task.id for task in tasks]))
    return Plan(goal=request.text, tasks=tasks)


def _task(
    id: str,
    worker: str,
    intent: str,
    payload: JsonValue = None,
    paths: Sequence[str] = (),
    after: Sequence[str] = (),
) -> Task:
    return Task(
        id=id,
        worker=worker,
        intent=intent,
        payload=payload,
        artifacts=tuple(paths),
        depends_on=tuple(after),
        tolerates_missing=True,
        done_when="Each statement has the place that it is from.",
    )


def _asks(request: str, words: str) -> bool:
    return re.search(rf"(?<!\w)(?:{words})(?!\w)", request, re.IGNORECASE) is not None


def _analyses(request: str, sources: Sources) -> list[str]:
    """Those that the request asks for; all that are possible if it asks for none."""
    dated = len({record.date for record in sources.records if record.date}) > 1
    asked = [name for name, (words, _) in _ANALYSES.items() if _asks(request, words)]
    return asked or ["matrix", "prices", *(["changes"] if dated else [])]
