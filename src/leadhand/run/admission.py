"""What a run needs before it works: its turn, its share of budgets, and its uploaded files."""

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace

from leadhand.contracts import events
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Recorder
from leadhand.errors import PlanError
from leadhand.models.prompts import prompts_of
from leadhand.plans.checks import check, errors_in
from leadhand.plans.planned_workers import with_chosen_tools
from leadhand.ports import Journal
from leadhand.run.accounts import reserved
from leadhand.run.context import ActiveRun, Cancelled
from leadhand.run.queue import RunQueue
from leadhand.run.run import run_started
from leadhand.run.settings import RunSettings
from leadhand.run.uploads import as_files, keep
from leadhand.workers.runners import needs_model


async def admitted(
    stack: AsyncExitStack,
    journal: Journal,
    recorder: Recorder,
    settings: RunSettings,
    *,
    team: Team,
    queue: RunQueue | None,
    uploads: Mapping[str, bytes] | None = None,
    over: bool = False,
) -> RunSettings:
    """Admit a run until `stack` closes; a new one with its `uploads`. Nothing is needed for one
    that is `over`. Returns its settings with its turn, account and files. Raises `RunRefused`."""
    new = not recorder.state.seq
    if queue is not None and not over:
        turn = stack.enter_context(queue.place(settings.origin, may_refuse=new))
        settings = replace(settings, turn=turn)
    if settings.budget is not None or settings.shared:
        spends = not over and needs_model(team)
        budget = reserved(journal, recorder, settings, at=recorder.stamp()["at"], spends=spends)
        settings = await stack.enter_async_context(budget)
    if uploads:
        await keep(journal, recorder.run_id, uploads)
    if names := settings.uploads if new else recorder.state.uploads:
        files = await stack.enter_async_context(as_files(journal, recorder.run_id, names))
        settings = replace(settings, uploaded=files)
    return settings


def check_own_plan(plan: Plan, team: Team, request: PlanRequest) -> None:
    """Raises `PlanError` for a plan of the caller that can't be carried out."""
    found = check(
        with_chosen_tools(plan, team), team, request=request.text, earlier=request.earlier
    )
    if errors := errors_in(found):
        raise PlanError(errors)


async def until_turn(
    turn: asyncio.Event,
    recorder: Recorder,
    request: PlanRequest,
    settings: RunSettings,
    team: Team,
    active: ActiveRun,
    plan: Plan | None,
) -> None:
    """Store that a run waits, also its start and `plan` if it is new, and return at its turn, or
    when it is stopped. From then on it is a resumed run. Raises `PlanError`."""
    if plan is not None:
        check_own_plan(plan, team, request)
    if not recorder.state.seq:
        prompts = prompts_of(team) if needs_model(team) else ""
        nonce = secrets.token_hex(8)
        recorder.record(run_started(recorder, team, settings, request, nonce, prompts))
    if plan is not None:
        plan = with_chosen_tools(plan, team)
        recorder.record(events.PlanProposed(**recorder.stamp(), plan=plan, by="person"))
    recorder.record(events.RunQueued(**recorder.stamp()))
    await recorder.commit()
    with suppress(Cancelled):
        await active.unless_stopped(turn.wait())
    recorder.skip_wait()
