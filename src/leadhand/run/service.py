"""What a supervisor does besides its runs: plan, prepare, shut down, reply, cancel, delete.

The first run with a model takes ten times the CPU time of the second, for imports and schemas. A
rehearsal goes the same way with a model in memory, and calls nothing of the user.
"""

import asyncio
import datetime as dt
import json
import logging
import secrets
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Literal

from pydantic import JsonValue, NonNegativeFloat, PositiveInt

from leadhand.contracts.answer import Answer
from leadhand.contracts.data import check_values
from leadhand.contracts.people import Reply, RunMessage
from leadhand.contracts.summary import Health, ModelHealth, RunFilter
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team, Worker, model_name
from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.errors import (
    InputError,
    JournalError,
    LeadhandError,
    ModelError,
    RunInterrupted,
    RunTaken,
)
from leadhand.journal.store_journal import MemoryJournal
from leadhand.planners.routing import plan_or_default
from leadhand.plans.nesting import all_teams
from leadhand.plans.planned_workers import with_chosen_tools
from leadhand.ports import Journal
from leadhand.run.admission import check_own_plan, settle, spent_in
from leadhand.run.answer_step import cancel_stored
from leadhand.run.hosting import RunHost
from leadhand.run.questions import messages_of, valid_reply
from leadhand.run.reading import run_summaries
from leadhand.run.restoring import MAX_UNRESTORED, ContextRules
from leadhand.run.settings import RunOptions, RunSettings, request_of
from leadhand.run.stored import StoredRun, check_known_id, check_resumable, is_over
from leadhand.workers.runners import needs_model

_DEADLINE_S = 60.0


async def prepare(team: Team) -> None:
    """Prepare this process for runs of `team`. Raises `InputError` for a tool that is wrong."""
    if not needs_model(team):
        return
    # In a thread, which has an event loop of its own: it takes seconds.
    await asyncio.to_thread(lambda: asyncio.run(rehearse()))
    for one in all_teams(team):
        factory = one.worker_factory
        catalogue = [] if factory is None else [Worker("any", "Any", tools=factory.tools)]
        for worker in (*one.workers, *catalogue):
            _prepare_worker(worker)


def _prepare_worker(worker: Worker) -> None:
    from leadhand.threads import DaemonThreads
    from leadhand.workers.endings import final_answer
    from leadhand.workers.toolsets import toolset_of

    final_answer(worker.output)
    toolset_of([tool for tool in worker.tools if not isinstance(tool, str)], DaemonThreads())


async def rehearse() -> Answer:
    from pydantic_ai.models.test import TestModel

    def note(text: str) -> str:
        return text

    worker = Worker("writer", "Writes", instructions="Write.", tools=(note,))
    model = TestModel()  # it plans a task of the worker, calls its tool, and answers
    # By its only way: a model that is not known would be streamed.
    team = Team("rehearsal", workers=(worker,), model=model, answers={model_name(model): "tool"})
    host = RunHost(
        team=team,
        journal=MemoryJournal(),
        clock=SystemClock(),
        settings=RunSettings(_DEADLINE_S),
        concurrency=2,
        contexts=ContextRules(),
    )
    return await host.start(RunOptions(request="Rehearse."), "rehearsal")


async def ready(host: RunHost) -> None:
    """Do now what the first run would do, and raise what it would raise; no model is asked."""
    await check_journal(host.journal)
    await host.find_models()
    await prepare(host.team)
    recorder = Recorder("ready", MemoryJournal(), clock=host.clock)
    async with host.roles(recorder, PlanRequest("")):
        await host.connections.keep(host.team)


async def plan(host: RunHost, new: RunOptions) -> Plan:
    """The plan for a request, checked; no work is done."""
    await host.find_models()
    request, inputs = request_of(new.request or "", new.inputs, new.batches)
    own = (new.listener,) if new.listener else ()
    recorder = Recorder("plan", MemoryJournal(), clock=host.clock, listeners=own)
    settings = host.settings
    request = replace(request, after=await host.runs_before(new, settings))
    try:
        async with asyncio.timeout(settings.deadline_s):
            async with host.roles(recorder, request, inputs=inputs) as roles:
                plan = await plan_or_default(roles.planner, request, host.team)
    except TimeoutError as error:
        why = f"the planner gave no plan within {settings.deadline_s:g} s"
        raise ModelError(why, transient=True) from error
    check_own_plan(plan, host.team, request)
    return with_chosen_tools(plan, host.team)


ShutdownMode = Literal["interrupt", "cancel"]
"""What a shutdown does to runs that do not end in time: stop them so that another process can
resume them, or have them give an answer, `status: cancelled`."""
SHUT_DOWN = "the supervisor was shut down"
DELETED = "deleted/"
"""How the keys of lines about deleted runs begin; then follow the time and the run's id."""

_log = logging.getLogger("leadhand")


async def check_journal(journal: Journal) -> None:
    """Raises `JournalError` if the journal can't be written. Leaves nothing there."""
    run_id = f"ready-{secrets.token_hex(8)}"
    async with journal.hold(run_id):
        await journal.post(RunMessage(run_id=run_id, interrupted=True))
        for message in await journal.messages(run_id):
            await journal.drop(message)


async def delete(
    host: RunHost, run_id: str | None, origin: Mapping[str, JsonValue] | None, by: str
) -> list[str]:
    """Erase a run, or those with that origin. Raises `InputError`, and `RunTaken`."""
    journal = host.journal
    if (run_id is None) == (origin is None) or origin == {}:
        raise InputError("which runs are to be deleted: give either a run_id or an origin")
    if run_id is not None:
        check_known_id(run_id)
        ids = [run_id] if await journal.last_seq(run_id) else []
        if not ids:
            raise InputError(f"there is no run {run_id!r}")
    else:
        ids = [run.run_id for run in await run_summaries(journal, origin=origin)]
    for id in ids:
        if (holder := await journal.holder(id)) is not None:
            raise RunTaken(id, holder)
    gone = await erase(journal, ids, by=by, at=host.clock.now())
    for id in {*ids} - {*gone}:
        if (holder := await journal.holder(id)) is not None:  # it was resumed meanwhile
            raise RunTaken(id, holder)
    return gone


async def erase(
    journal: Journal,
    run_ids: Sequence[str],
    *,
    by: str,
    at: dt.datetime,
    before: dt.datetime | None = None,
) -> list[str]:
    """Delete these runs, except held ones, on behalf of `by`; returns the ids of the deleted. With
    `before`, only those whose last event is older."""
    audited = hasattr(getattr(journal, "store", journal), "swap_note")
    lines: dict[str, tuple[str, bytes, StoredRun]] = {}
    for run_id in run_ids if audited else ():
        stored = StoredRun(run_id)
        with suppress(JournalError):  # of a damaged run only the id is known
            stored.replace(await journal.events(run_id))
        state = stored.state
        status = state.status(held=False, asks=bool(state.questions))
        line = {"run_id": run_id, "team": state.team, "status": status, "at": at.isoformat()}
        key, note = f"{DELETED}{at.isoformat()}/{run_id}", json.dumps({**line, "by": by}).encode()
        await journal.swap_note(key, None, note)
        lines[run_id] = key, note, stored
    gone = [*await journal.delete(run_ids, before=before)]
    for run_id, (key, note, stored) in lines.items():
        if run_id in gone:
            await settle(journal, run_id, stored.state.accounts, spent_in(stored.events))
        else:
            await journal.swap_note(key, note, None)
    return gone


def health(host: RunHost) -> Health:
    # A process that has asked no model has not imported this module.
    rates = sys.modules.get("leadhand.models.rates")
    models: tuple[ModelHealth, ...] = ()
    if rates is not None:
        with suppress(RuntimeError):  # outside of an event loop
            models = rates.health()
    workers = host.shared_workers.health(host.clock)
    return Health(runs=tuple(host.active), workers=workers, models=models)


async def shut_down(host: RunHost, *, grace_s: float, mode: ShutdownMode) -> None:
    check_values(mode=(mode, ShutdownMode), grace_s=(grace_s, NonNegativeFloat))
    host.callers.closed = True
    await host.callers.wait(grace_s)
    active = dict(host.active)
    for run in active.values():
        if mode == "cancel":
            run.stop(SHUT_DOWN)
        else:
            run.record_stop(SHUT_DOWN)
    if mode == "cancel":
        await asyncio.gather(*map(host.held.until_released, active))
    await host.callers.interrupt()
    host.readers.close()
    await host.connections.release()


async def resume_interrupted(
    host: RunHost, limit: int | None, where: RunFilter | None = None
) -> list[str]:
    """Resume the team's runs that no process holds, and that don't wait or whose wait is over; a
    run that `restore` failed for `MAX_UNRESTORED` times waits for a person."""
    check_values(limit=(limit, PositiveInt | None))
    own = await host.journal.runs(
        where=lambda run: run.team == host.team.name and (where is None or where(run))
    )
    resumed: list[str] = []
    left = [run for run in own if run.status in ("interrupted", "waiting")]
    messages = await host.journal.messages(*(run.run_id for run in left))
    replied = {message.run_id for message in messages if message.reply is not None}
    failures = Counter(message.run_id for message in messages if message.unrestored)
    for run in left:
        expired = run.expires_at is not None and run.expires_at <= host.clock.now()
        if run.status != "interrupted" and run.run_id not in replied and not expired:
            continue
        if failures[run.run_id] >= MAX_UNRESTORED:
            continue
        if limit is not None and len(resumed) >= limit:
            break
        if await _resume_one(host, run.run_id):
            resumed.append(run.run_id)
    return resumed


async def _resume_one(host: RunHost, run_id: str) -> bool:
    options, stored = RunOptions(), StoredRun(run_id)
    try:
        resume = partial(host.resume, run_id, options, stored=stored)
        await host.callers.begin(run_id, resume, options.under_way)
    except LeadhandError as error:
        if not isinstance(error, RunTaken | RunInterrupted):  # another was faster; or a shutdown
            _log.warning("resuming run %s: %s", run_id, error)
        return False
    except Exception:  # `restore` is the program's own code
        _log.exception("run %s can't be resumed", run_id)
        return False
    return not is_over(stored.state)  # another process may have finished it since it was listed


async def post(
    host: RunHost,
    run_id: str,
    replies: Sequence[Reply],
    options: RunOptions | None,
    *,
    seen: int | None = None,
) -> None:
    """Leave replies in the journal; with `options`, resume the run. Raises `InputError`."""
    check_known_id(run_id)
    if not replies:
        raise InputError("nothing to reply: give a Reply")
    given = [valid_reply(one) for one in replies]
    stored = StoredRun.of(run_id, await host.journal.events(run_id))
    state = stored.state
    resumable = options is not None and not is_over(state)
    if options is not None and resumable and await host.journal.holder(run_id) is None:
        check_resumable(state, run_id, host.team)
        host.contexts.check_resumable(options.context, state)
    for message in messages_of(stored.events, state, given, now=host.clock.now(), seen=seen):
        await host.journal.post(message)


def post_interruption(host: RunHost) -> None:
    """Tell the journal that this process ends now, and that no worker has crashed it."""

    async def post() -> None:
        for id in list(host.active):
            await host.journal.post(RunMessage(run_id=id, interrupted=True))

    with suppress(JournalError):
        asyncio.run(post())  # the loop of the runs may be blocked


def cancel_all(host: RunHost, reason: str) -> None:
    check_values(reason=(reason, str))
    for run in list(host.active.values()):
        run.stop(reason)


async def cancel(host: RunHost, run_id: str, reason: str) -> None:
    """Stop a run, whichever process works on it. Raises `InputError`."""
    check_values(reason=(reason, str))
    if run_id in host.active:
        host.active[run_id].stop(reason)
        return
    holder = await cancel_stored(
        host.journal, run_id, reason=reason, clock=host.clock, listeners=host.listeners
    )
    if holder is None:
        await host.reported(await host.answer(run_id))
