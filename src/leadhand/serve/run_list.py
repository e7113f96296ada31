"""The list of runs that a principal may see: filters, pages, and a bounded search."""

import datetime as dt
import json
import time
from collections.abc import Sequence

from pydantic import AwareDatetime, BaseModel, Field

from leadhand.contracts import events
from leadhand.contracts.events import Event
from leadhand.contracts.summary import RunFilter, RunStatus, RunSummary
from leadhand.evals.trials import ORIGIN
from leadhand.events import public
from leadhand.serve.principals import may_see
from leadhand.serve.run_views import RunList, run_entry
from leadhand.serve.service import ServiceCaller

MAX_LISTED = 200
MAX_SEARCHED = 2_000
SEARCH_S = 3.0
"""How many runs one request searches at most, and how long."""
_PAGE = 50


class WantedRuns(BaseModel):
    """Which runs a list has."""

    status: RunStatus | None = None
    team: str | None = None
    after: str | None = Field(None, description="Runs that follow this one.")
    q: str = Field("", max_length=200, description="Words of request, answer or error.")
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    limit: int = Field(50, ge=1, le=MAX_LISTED)
    cursor: str | None = None

    def fits(self, run: RunSummary) -> bool:
        return (
            self.status in (None, run.status)
            and self.team in (None, run.team)
            and self.after in (None, run.after)
            and (self.since is None or run.started_at >= self.since)
            and (self.until is None or run.started_at < self.until)
        )


async def listed(caller: ServiceCaller, wanted: WantedRuns) -> RunList:
    """Raises `HttpProblem` 404 for a cursor that is no run of the principal's."""
    if wanted.cursor is not None:
        await caller.visible(wanted.cursor)

    def where(run: RunSummary) -> bool:
        # An operator finds what the command line did in the same home, too, but no trials.
        served = run.team in caller.service.supervisors or caller.is_operator
        shown = served and run.origin.get("command") != ORIGIN["command"]
        return shown and may_see(caller.principal, run.origin) and wanted.fits(run)

    if words := wanted.q.lower().split():
        return await _searched(caller, wanted, words, where)
    limit, cursor = wanted.limit, wanted.cursor
    found = await caller.service.journal.runs(limit=limit + 1, cursor=cursor, where=where)
    page = [(run, None) for run in found[:limit]]
    return _list(caller, page, next=page[-1][0].run_id if len(found) > limit else None)


async def _searched(
    caller: ServiceCaller, wanted: WantedRuns, words: Sequence[str], where: RunFilter
) -> RunList:
    journal, found = caller.service.journal, list[tuple[RunSummary, str | None]]()
    searched, cursor, ends_s = 0, wanted.cursor, time.monotonic() + SEARCH_S
    while True:
        page = await journal.runs(limit=_PAGE, cursor=cursor, where=where)
        for run in page:
            cut_off = searched >= MAX_SEARCHED or time.monotonic() > ends_s
            if cut_off or len(found) == wanted.limit:
                return _list(caller, found, next=cursor, searched=searched, complete=not cut_off)
            searched, cursor = searched + 1, run.run_id
            log = await journal.events(run.run_id)
            if place := place_of(words, log, operator=caller.is_operator):
                found.append((run, place))
        if len(page) < _PAGE:
            return _list(caller, found, next=None, searched=searched)


def place_of(words: Sequence[str], log: Sequence[Event], *, operator: bool) -> str | None:
    """Where the first of `words`, in lower case, is, if all of them are in the run; pure."""
    texts = {"request": "", "answer": "", "error": ""}
    for event in log:
        match event:
            case _ if event.within:
                pass
            case events.RunStarted():
                texts["request"] = event.request.lower()
            case events.RunFinished() | events.RunWaiting():
                answer = event.answer
                shown = [answer.answer, answer.output] if operator else public(event)["answer"]
                texts["answer"] = json.dumps(shown, ensure_ascii=False).lower()
            case events.TaskFailed() | events.TaskEscalated() if operator:
                texts["error"] += f"{event.message.lower()}\n"
            case _:
                pass
    if not all(any(word in text for text in texts.values()) for word in words):
        return None
    return next(place for place, text in texts.items() if words[0] in text)


def _list(
    caller: ServiceCaller,
    found: Sequence[tuple[RunSummary, str | None]],
    *,
    next: str | None,
    searched: int | None = None,
    complete: bool = True,
) -> RunList:
    operator, now = caller.is_operator, dt.datetime.now(dt.UTC)
    runs = tuple(run_entry(run, operator=operator, now=now, found_in=place) for run, place in found)
    return RunList(runs=runs, next=next, searched=searched, complete=complete)
