"""The supervisor: has requests planned, worked on and answered. It does no work itself.

`run.hosting` does what it says; the life of one run is in `run.run`, from top to bottom.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic

from pydantic import JsonValue

from leadhand import redaction
from leadhand.clock import SystemClock
from leadhand.contracts.answer import Answer
from leadhand.contracts.budget import Budget
from leadhand.contracts.context import C, Restore
from leadhand.contracts.health import Health
from leadhand.contracts.people import Occasion, Reply
from leadhand.contracts.summary import RunStatus, RunSummary, RunView
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.errors import InputError
from leadhand.journal import journal_over, open_journal
from leadhand.ports import Clock, Decider, Journal, Planner, Remedies, Synthesizer
from leadhand.run.intake import Batches, check_options, check_storage, occasions, origin_of
from leadhand.run.options import HostSettings, Limits, NewRun, RunOptions
from leadhand.run.run_context import ContextRules

if TYPE_CHECKING:
    from leadhand.contracts.events import Event
    from leadhand.engine.recorder import Listener
    from leadhand.journal.store import Store
    from leadhand.run.options import IfExists
    from leadhand.run.people import Ask
    from leadhand.run.roles import PlannerMaker, SynthesizerMaker
    from leadhand.run.service import ShutdownMode
    from leadhand.run.stored import StoredRun

_log = logging.getLogger("leadhand")


class Supervisor(Generic[C]):
    """Runs requests with one team, any number at once. `C` is the type of their context."""

    def __init__(
        self,
        team: Team,
        *,
        deadline_s: float | None = 600.0,
        budget: Budget | None = None,
        concurrency: int = 64,
        max_concurrency: int | None = None,
        planner: "Planner | Decider | PlannerMaker | None" = None,
        synthesizer: "Synthesizer | SynthesizerMaker | None" = None,
        remedies: Remedies | None = None,
        home: str | Path | None = None,
        approve: Collection[Occasion] | None = None,
        person: "Ask | None" = None,
        journal: "Journal | Store | None" = None,
        clock: Clock | None = None,
        context_type: type[C] | None = None,
        restore: Restore[C] | None = None,
    ) -> None:
        """`deadline_s` is seconds from a run's start to its answer; `budget` is what one run may
        spend on models; `concurrency` is tasks of one run at once, `max_concurrency` those of all.

        `planner`, `synthesizer` and `remedies` replace the team's own. The first two may be
        functions that make one for each run, from the caller that asks models and the run's fence.
        A `planner` that has `decide` works stepwise: `leadhand.ports.Decider`.

        With a `home`, a folder or the URL of a Postgres database, runs are stored and can be
        resumed; `journal` is a storage of your own. Without either, runs stay in memory.

        `approve` says when a person is asked: about the `plan` before it is carried out, about an
        `escalation` that no worker can resolve. `person` asks the question. Without it the run
        waits for a `reply`, and returns with `Answer.waiting` when nothing else is left to do.

        Every run gets a `context` of `context_type`: a customer, a database handle, credentials.
        Its tools and function workers receive it, models do not see it, and it is never stored.
        `restore` makes that of a resumed run from its `origin`; it may be async.

        A team without a model is deterministic, whatever the environment holds. For
        `Team(model="auto")` the first request looks for one, as the command line does.

        Raises `TeamError` naming every problem of the team, and `InputError` for other arguments.
        """
        # Imported here and below because they import every event and the engine.
        from leadhand.journal.memory import MemoryJournal
        from leadhand.run.hosting import RunHost
        from leadhand.trace.logs import Logs

        check_options(team, deadline_s, concurrency, budget, max_concurrency, synthesizer)
        check_storage(home, journal)
        contexts = ContextRules(context_type, restore)
        contexts.check()
        redact = redaction.Redactor.of(os.environ)
        redaction.redact_logger(_log, redact)
        kept = open_journal(home, redact=redact) if home is not None else MemoryJournal()
        self.journal: Journal = journal_over(journal) if journal is not None else kept
        self._owns_journal = journal is None
        self._host = RunHost(
            team,
            HostSettings(
                journal=self.journal,
                clock=clock or SystemClock(),
                limits=Limits(deadline_s, budget),
                concurrency=concurrency,
                max_concurrency=max_concurrency,
                contexts=contexts,
                occasions=occasions(approve, person),
                person=person,
                planner=planner,
                synthesizer=synthesizer,
                remedies=remedies,
                listeners=(Logs(redact=redact),),
            ),
        )

    @property
    def team(self) -> Team:
        """The team, with the models that `auto` found."""
        return self._host.team

    async def plan(
        self,
        request: str,
        *,
        inputs: Sequence[str | Path] = (),
        batches: Batches | None = None,
        after: str | None = None,
        listener: "Listener | None" = None,
    ) -> Plan:
        """The plan for `request`, which follows the run `after`; checked, and no work is done.

        Raises `PlanError`, and `ModelError` if no model gave one.
        """
        new = NewRun(request=request, inputs=inputs, after=after)
        return await self._host.plan(new, RunOptions(batches=batches, listener=listener))

    async def run(
        self,
        request: str | None = None,
        *,
        plan: Plan | None = None,
        amend: bool = False,
        run_id: str | None = None,
        if_exists: "IfExists" = "error",
        deadline_s: float | None = None,
        budget: Budget | None = None,
        context: C | None = None,
        inputs: Sequence[str | Path] = (),
        batches: Batches | None = None,
        origin: Mapping[str, JsonValue] | None = None,
        after: str | None = None,
        listener: "Listener | None" = None,
    ) -> Answer:
        """The answer to `request`, or to the goal of a `plan` of your own. There always is one.

        Your own plan is binding: no task is added, and a change that a result asks for is a gap of
        the answer. With `amend` the plan may be amended. A plan that a person approved is amended
        only after the person approves of that too. This also holds when the run is resumed.

        `deadline_s` and `budget` replace the supervisor's for this run; `math.inf` seconds are no
        limit. `inputs` are files and folders that the workers' tools may read. `listener` is called
        with every event as it happens. `context` is for the workers and tools of this run, and is
        not stored. `origin` is stored with the run, for the program that resumes it.
        If neither the planner nor the team's template or offline code gives a sound plan, the
        answer says so.

        With `after`, the id of a run that has an answer, this is a follow-up: its planner sees the
        earlier request and digests of the answer and results, and tasks may name them as artifacts,
        `previous` and `previous/TASK`. What it may use is stored with it.

        A `run_id` of your own makes the call repeatable. If there is such a run, `if_exists` says
        what happens: `error` raises `RunExists`; `join` waits for its answer, in another process
        too, and continues it if it was interrupted; `return` gives the answer that it has, or
        raises `RunExists`. The same id with another request or `after`, or
        with another origin if one is given, always raises `RunExists`.

        Raises `PlanError` if your own plan has errors, `InputError` for arguments that can't be
        used, `RunInterrupted` if the supervisor is shut down, and `JournalError`.
        """
        new = NewRun(request, plan, amend, run_id, if_exists, inputs, origin_of(origin), after)
        options = RunOptions(deadline_s, budget, context, batches, listener)
        return await self._host.start(new, options)

    async def resume(
        self,
        run_id: str,
        *,
        from_task: str | None = None,
        deadline_s: float | None = None,
        budget: Budget | None = None,
        context: C | None = None,
        batches: Batches | None = None,
        listener: "Listener | None" = None,
        stored: "StoredRun | None" = None,
    ) -> Answer:
        """The answer of a run that was stopped, lost with its process, or waits for a person.

        Completed work is kept; work that was in flight is done again, under the same keys. The plan
        is the recorded one, whatever the team's prompts and code are now. With `from_task` that
        task and all that depend on it are done again from the beginning. A run that is over gives
        its answer as it is. `deadline_s` counts from now; `budget` is that of the whole run,
        including what it has spent. By default both are those that `run` or the last `resume` was
        given, else the supervisor's. Without a `context` the supervisor's `restore` makes that of a
        run that had one. `stored` is the run as the caller has read it: it is read again only if it
        changed.

        Raises `InputError` if there is no such run or task, or this team can't resume the run, and
        `RunTaken` if another process works on it.
        """
        options = RunOptions(deadline_s, budget, context, batches, listener)
        return await self._host.resume(run_id, options, from_task=from_task, stored=stored)

    async def answer(
        self,
        run_id: str,
        *replies: Reply,
        deadline_s: float | None = None,
        budget: Budget | None = None,
        context: C | None = None,
    ) -> Answer:
        """Reply to questions of a run, and wait for its answer.

        The run is resumed, as by `resume`, or joined if it is under way, in another process too.
        Any number of replies may be sent at once, each by a call of its own: the answers that they
        return are those of a run that has read all replies. Raises what `reply` and `resume` raise,
        but neither `RunTaken`, nor anything about a reply that was given before.
        """
        options = RunOptions(deadline_s, budget, context)
        return await self._host.answer(run_id, replies, options)

    async def get(self, run_id: str) -> RunView:
        """A run as it is now. Raises `InputError` if there is no such run."""
        from leadhand.run.reading import run_view

        return await run_view(self.journal, run_id)

    async def runs(
        self,
        *,
        status: RunStatus | None = None,
        team: str | None = None,
        origin: Mapping[str, JsonValue] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> list[RunSummary]:
        """The stored runs, the latest first: those with that status, of that team, and whose origin
        has all items of `origin`.

        With a `cursor`, the `run_id` of the last one of a page, those that follow it. Raises
        `InputError` for arguments that can't be used.
        """
        from leadhand.run.reading import run_summaries

        return await run_summaries(
            self.journal, status=status, team=team, origin=origin, limit=limit, cursor=cursor
        )

    def events(self, run_id: str, *, after_seq: int = 0) -> "AsyncGenerator[Event]":
        """The events of a run after `after_seq`: those that are stored, then each as it is stored.

        They end with the outermost `RunFinished` if nothing follows it; while the run waits for a
        person or is interrupted, the next event is that of its resumption. It makes no difference
        which process works on the run. Leaving the loop does not stop the run. Raises `InputError`
        if there is no such run, and `RunInterrupted` if the supervisor is shut down.
        """
        return self._host.readers.events(run_id, after_seq=after_seq)

    def health(self) -> Health:
        """The load, latency and breaker of each worker over all runs, and the models' rates.

        All runs share the workers, and give no task to one whose breaker is open.
        """
        from leadhand.run.service import health

        return health(self._host)

    async def close(self) -> None:
        """Close what `ready` and `home` opened. A `journal` of your own stays open."""
        await self._host.connections.release()
        if self._owns_journal:
            await self.journal.close()

    async def reply(self, run_id: str, reply: Reply) -> None:
        """Reply to a question of a run, which takes the reply at once or when it is resumed.

        The last reply that comes before the run takes one counts. Raises `InputError` if the run
        asks no such question, or the reply does not answer it.
        """
        await self._host.reply(run_id, reply)

    def run_sync(
        self,
        request: str | None = None,
        *,
        plan: Plan | None = None,
        amend: bool = False,
        context: C | None = None,
        origin: Mapping[str, JsonValue] | None = None,
        after: str | None = None,
    ) -> Answer:
        """`run` for a program without a running event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(
                self.run(
                    request, plan=plan, amend=amend, context=context, origin=origin, after=after
                )
            )
        raise InputError("an event loop is running here: use `await supervisor.run(...)`")

    def stream(
        self,
        request: str | None = None,
        *,
        plan: Plan | None = None,
        amend: bool = False,
        run_id: str | None = None,
        deadline_s: float | None = None,
        budget: Budget | None = None,
        context: C | None = None,
        inputs: Sequence[str | Path] = (),
        origin: Mapping[str, JsonValue] | None = None,
        if_exists: "IfExists" = "error",
        after: str | None = None,
    ) -> "AsyncGenerator[Event]":
        """The events of `run` as they happen; the last one is `RunFinished` or `RunWaiting`.

        Leaving the loop early cancels the run. A run that exists already is streamed from its first
        event on; leaving the loop cancels it only if this call had to continue it.
        """
        new = NewRun(request, plan, amend, run_id, if_exists, inputs, origin_of(origin), after)
        options = RunOptions(deadline_s, budget, context)
        return self._host.start_stream(new, options)

    def resume_stream(
        self,
        run_id: str,
        *,
        deadline_s: float | None = None,
        budget: Budget | None = None,
        context: C | None = None,
    ) -> "AsyncGenerator[Event]":
        """The events of `resume`, as `stream` gives those of `run`; the last one if it is over."""
        options = RunOptions(deadline_s, budget, context)
        return self._host.resume_stream(run_id, options)

    def cancel(self, run_id: str | None = None, *, reason: str = "interrupted") -> Awaitable[None]:
        """Stop a run, or every run under way here; it still gives an answer, `status: cancelled`.

        A run of this supervisor is told when this is called. Await the result for others: one of
        another process is told through the journal, and one that waits or was interrupted gets its
        answer here. Cancelled runs can be resumed. The result raises `InputError` if there is no
        such run or it is finished.
        """
        from leadhand.run.service import cancel

        return cancel(self._host, run_id, reason)

    async def ready(self) -> None:
        """Prepare for the first run, and raise now what it would raise: no model is asked.

        Imports what runs need, looks for the model of `Team(model="auto")`, checks models' names
        and keys, and the journal. Raises `InputError`, `TeamError` and `JournalError`.
        """
        await self._host.ready()

    async def shutdown(self, *, grace_s: float = 10.0, mode: "ShutdownMode" = "interrupt") -> None:
        """Refuse new runs, give those under way `grace_s` seconds to finish, and end the others.

        With `interrupt` their callers get `RunInterrupted`, as those of new runs do; any process
        can resume them, and nothing counts as a crash. With `cancel` they give an answer,
        `status: cancelled`. Readers of `events` get `RunInterrupted`. The journal stays open.
        """
        from leadhand.run.service import shut_down

        await shut_down(self._host, grace_s=grace_s, mode=mode)

    async def resume_interrupted(self, *, limit: int | None = None) -> list[str]:
        """Resume, in the background, this team's runs that neither wait nor are held; their ids.

        For the start of a service. A run with a reply that it has not read does not wait. Several
        processes may call this at once. Runs that had a context need the supervisor's `restore`.
        With a `limit` it resumes no more than that many, the latest first.
        """
        from leadhand.run.service import resume_interrupted

        return await resume_interrupted(self._host, limit)

    def post_interruption(self) -> None:
        """Tell the journal that this process ends now on purpose. Blocks; for any thread."""
        self._host.post_interruption()
