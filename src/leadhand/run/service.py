"""The life of a service around its runs: getting ready, shutting down, and what was left over."""

import asyncio
import logging
import secrets
import sys
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from leadhand.contracts.health import Health, ModelHealth
from leadhand.contracts.people import RunMessage
from leadhand.errors import InputError, LeadhandError, RunInterrupted, RunTaken
from leadhand.ports import Journal
from leadhand.run.cancelling import cancel_stored
from leadhand.run.messages import MAX_UNRESTORED
from leadhand.run.options import RunOptions

if TYPE_CHECKING:
    from leadhand.run.hosting import RunHost

ShutdownMode = Literal["interrupt", "cancel"]
"""What a shutdown does to runs that do not end in time: stop them so that another process can
resume them, or have them give an answer, `status: cancelled`."""
SHUT_DOWN = "the supervisor was shut down"

_log = logging.getLogger("leadhand")


async def check_journal(journal: Journal) -> None:
    """Raises `JournalError` if runs can't be written to the journal. Leaves nothing there."""
    run_id = f"ready-{secrets.token_hex(8)}"
    async with journal.hold(run_id):
        await journal.post(RunMessage(run_id=run_id, interrupted=True))
        for message in await journal.messages(run_id):
            await journal.drop(message)


def health(host: "RunHost") -> Health:
    """The load, latency and breaker of each worker over all runs, and the models' rates."""
    # A process that has asked no model has not imported this module.
    rates = sys.modules.get("leadhand.models.rates")
    models: tuple[ModelHealth, ...] = ()
    if rates is not None:
        with suppress(RuntimeError):  # outside of an event loop
            models = rates.health()
    workers = host.shared_workers.health(host.clock)
    return Health(runs=tuple(host.active), workers=workers, models=models)


async def shut_down(host: "RunHost", *, grace_s: float, mode: ShutdownMode) -> None:
    """End all calls of a supervisor, and refuse new ones."""
    if mode not in ("interrupt", "cancel"):
        raise InputError(f"mode is {mode!r}; it is interrupt or cancel")
    if not isinstance(grace_s, int | float) or not grace_s >= 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"grace_s is {grace_s!r}; it must be a number from 0")
    host.calls.closed = True
    await host.calls.wait(grace_s)
    active = dict(host.active)
    for run in active.values():
        if mode == "cancel":
            run.stop(SHUT_DOWN)
        else:
            run.record_stop(SHUT_DOWN)
    if mode == "cancel":
        await asyncio.gather(*map(host.held.until_released, active))
    await host.calls.interrupt()
    host.readers.close()
    await host.connections.release()


async def resume_interrupted(host: "RunHost", limit: int | None) -> list[str]:
    """Resume the runs of the team that neither wait nor are held, each in a task; their ids.

    A run whose context could not be restored `MAX_UNRESTORED` times waits for a person from then.
    """
    if limit is not None and (not isinstance(limit, int) or limit < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"limit is {limit!r}; it must be a whole number from 1, or None")
    own = await host.journal.runs(where=lambda run: run.team == host.team.name)
    resumed: list[str] = []
    left = [run for run in own if run.status in ("interrupted", "waiting")]
    messages = await host.journal.messages(*(run.run_id for run in left))
    replied = {message.run_id for message in messages if message.reply is not None}
    failures = Counter(message.run_id for message in messages if message.unrestored)
    for run in left:
        if run.status != "interrupted" and run.run_id not in replied:
            continue
        if failures[run.run_id] >= MAX_UNRESTORED:
            continue
        if limit is not None and len(resumed) >= limit:
            break
        if await _resume_one(host, run.run_id):
            resumed.append(run.run_id)
    return resumed


async def _resume_one(host: "RunHost", run_id: str) -> bool:
    """Resume a run. Returns whether it is held here and can be."""
    options = RunOptions()
    try:
        await host.works.begin(host.resume(run_id, options), options.begun)
    except (RunTaken, RunInterrupted):  # another process was faster; or a shutdown
        return False
    except LeadhandError as error:
        _log.warning("resuming run %s: %s", run_id, error)
        return False
    except Exception:  # `restore` is the program's own code
        _log.exception("run %s can't be resumed", run_id)
        return False
    return True


def cancel_all(host: "RunHost", reason: str) -> None:
    """Stop every run of this supervisor."""
    _check_reason(reason)
    for run in list(host.active.values()):
        run.stop(reason)


async def cancel(host: "RunHost", run_id: str, reason: str) -> None:
    """Stop a run, whichever process works on it. Raises `InputError`."""
    _check_reason(reason)
    if run_id in host.active:
        host.active[run_id].stop(reason)
        return
    listeners = (*host.listeners, host.readers)
    await cancel_stored(host.journal, run_id, reason=reason, clock=host.clock, listeners=listeners)


def _check_reason(reason: object) -> None:
    if not isinstance(reason, str):
        raise InputError(f"reason is {type(reason).__name__}; it must be text")
