"""The supervisor: has requests planned, worked on and answered. It does no work itself.

`run.hosting` and `run.service` carry out its methods; `run.handle` is what `start` returns; the
life of one run is in `run.run`, from top to bottom.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Generic

from pydantic import InstanceOf, JsonValue, PositiveInt
from typing_extensions import Unpack

from leadhand import redaction
from leadhand.contracts.answer import Answer
from leadhand.contracts.budget import Budget, Budgets, budgets_of
from leadhand.contracts.data import check_values
from leadhand.contracts.people import Occasion
from leadhand.contracts.summary import Health, RunFilter, RunStatus, RunSummary
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.contracts.tools import C, Out_co, Restore
from leadhand.errors import InputError, TeamError
from leadhand.journal import journal_over, open_journal
from leadhand.plans.team_checks import synthesis_problems, team_problems
from leadhand.ports import Clock, Decider, Journal, Planner, Remedies, Synthesizer
from leadhand.run.queue import RunQueue
from leadhand.run.settings import (
    Batches,
    PlainFunction,
    RunOptions,
    RunSettings,
    Seconds,
    StartArguments,
    check_known,
    occasions,
)

if TYPE_CHECKING:
    from leadhand.engine.recorder import Listener
    from leadhand.journal.store import Store
    from leadhand.run.handle import Run
    from leadhand.run.people import Ask
    from leadhand.run.roles import PlannerMaker, SynthesizerMaker
    from leadhand.run.service import ShutdownMode
    from leadhand.run.settings import OnFinished

_log = logging.getLogger("leadhand")
_Home = InstanceOf[str] | Path | None


class Supervisor(Generic[C, Out_co]):
    """Runs requests with one team, any number at once.

    `C` is the type of their context, and `Out_co` that of the team's output.
    """

    # Long because every setting of runs is a parameter, explained here and nowhere else.
    def __init__(
        self,
        team: Team[Out_co],
        *,
        deadline_s: float | None = 600.0,
        budget: Budgets = None,
        concurrency: int = 64,
        max_concurrency: int | None = None,
        queue: RunQueue | None = None,
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
        on_finished: "OnFinished | None" = None,
    ) -> None:
        """`deadline_s` is seconds from a run's start to its answer; `budget` is what one run may
        spend on models, or a list of that and budgets with a scope, which runs share;
        `concurrency` is tasks of one run at once, `max_concurrency` those of all. A `queue` limits
        how many runs work at once; one that waits is stored, its deadline counts from its turn.

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

        `on_finished` is called with the answer of every run that ends here, resumed ones too, once
        it is stored and the run is released, before its caller gets the answer. It may be async.
        What it raises is logged.

        A team without a model is deterministic, whatever the environment holds. For
        `Team(model="auto")` the first request looks for one, as the command line does.

        Raises `TeamError` naming every problem of the team, and `InputError` for other arguments.
        """
        # Imported here and below because they import every event and the engine.
        from leadhand.engine.recorder import SystemClock
        from leadhand.journal.store_journal import MemoryJournal
        from leadhand.run.hosting import RunHost
        from leadhand.run.restoring import ContextRules
        from leadhand.run.roles import OwnRoles
        from leadhand.trace.logs import Logs

        _check_team(team, own_synthesizer=synthesizer is not None)
        check_values(
            deadline_s=(deadline_s, Seconds | None),
            concurrency=(concurrency, PositiveInt),
            max_concurrency=(max_concurrency, PositiveInt | None),
            home=(home, _Home),
            person=(person, Callable[..., object] | None),
        )
        if journal is not None and not callable(getattr(journal, "last_seq", None)):
            given = type(journal).__name__
            raise InputError(f"journal is {given}; it must be a leadhand.journal.Store")
        asked: tuple[Occasion, ...] = ("plan", "escalation") if person is not None else ()
        contexts = ContextRules(context_type, restore)
        contexts.check(team)
        redact = redaction.Redactor.of(os.environ)
        redaction.redact_logger(_log, redact)
        kept = open_journal(home, redact=redact) if home is not None else MemoryJournal()
        self.journal: Journal = journal_over(journal) if journal is not None else kept
        self._owns_journal = journal is None
        self.queue: RunQueue | None = queue
        self._host = RunHost(
            team=team,
            journal=self.journal,
            clock=clock or SystemClock(),
            settings=RunSettings(deadline_s, *budgets_of(budget)),
            concurrency=concurrency,
            max_concurrency=max_concurrency,
            queue=queue,
            contexts=contexts,
            occasions=occasions(asked if approve is None else approve),
            person=person,
            on_finished=on_finished,
            own=OwnRoles(planner, synthesizer, remedies),
            redact=redact,
            listeners=(Logs(redact=redact),),
        )

    @property
    def team(self) -> Team:
        """The team, with the models that `auto` found."""
        return self._host.team

    @property
    def budget(self) -> Budget | None:
        """What a run may spend that is given no budget of its own."""
        return self._host.settings.budget

    @property
    def approve(self) -> tuple[Occasion, ...]:
        """When a person is asked in a run that does not say it itself."""
        return self._host.occasions

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
        from leadhand.run.service import plan

        new = RunOptions(
            request=request, inputs=inputs, after=after, batches=batches, listener=listener
        )
        return await plan(self._host, new)

    async def start(
        self, request: str | None = None, **arguments: Unpack[StartArguments[C]]
    ) -> "Run[C, Out_co]":
        """Start a run for `request`, or for the goal of a `plan` of your own; return once it is
        stored.

        The run goes on when its caller leaves; without a home it lasts as long as its event loop.

        Your own plan is binding: no task is added, and a change that a result asks for is a gap of
        the answer. With `amend` the plan may be amended. A plan that a person approved is amended
        only after the person approves of that too. This also holds when the run is resumed.

        `deadline_s` and `budget` replace the supervisor's for this run; `math.inf` seconds are no
        limit. `inputs` are files and folders that the workers' tools may read; `uploads` are more
        of them, as names and bytes, which the journal keeps. `batches` are what the template makes
        tasks for, by name. `listener` is called with every event.
        `context` is for the workers and tools of this run, and is not stored. `origin` is stored
        with the run, for the program that resumes it.
        If neither the planner nor the team's template or offline code gives a sound plan, the
        answer says so.

        `approve` says when a person is asked, instead of that of the supervisor; it is stored with
        the run.

        With `after`, the id of a run that has an answer, this is a follow-up: its planner sees the
        earlier request and digests of the answer and results, and tasks may name them as artifacts,
        `previous` and `previous/TASK`. What it may use is stored with it. `earlier` is a
        conversation elsewhere before that, the latest exchange first; a long one is cut.

        A `run_id` of your own makes the call repeatable. If there is such a run, `if_exists` says
        what happens: `error` raises `RunExists`; `join` waits for its answer, in another process
        too, and continues it if it was interrupted; `return` gives the answer that it has, or
        raises `RunExists`. The same id with another request or `after`, or
        with another origin if one is given, always raises `RunExists`.

        Raises `PlanError` if your own plan has errors, `InputError` for arguments that can't be
        used, `RunInterrupted` if the supervisor is shut down, and `JournalError`.
        """
        from leadhand.run.handle import started

        check_known("Supervisor.start", arguments, StartArguments)
        return await started(self._host, RunOptions(request=request, **arguments))

    def handle(self, run_id: str) -> "Run[C, Out_co]":
        """The handle of a run, whichever process works on it."""
        from leadhand.run.handle import Run

        return Run(self._host, run_id)

    async def run(
        self, request: str | None = None, **arguments: Unpack[StartArguments[C]]
    ) -> Answer[Out_co]:
        """The answer of a run that is started as by `start`. There always is one.

        Cancelling this call interrupts the run, unless the call only joined it.
        """
        from leadhand.run.handle import owned_answer

        return await owned_answer(await self.start(request, **arguments))

    def run_sync(
        self, request: str | None = None, **arguments: Unpack[StartArguments[C]]
    ) -> Answer[Out_co]:
        """`run` for a program without a running event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(request, **arguments))
        raise InputError("an event loop is running here: use `await supervisor.run(...)`")

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

    async def delete(
        self,
        run_id: str | None = None,
        *,
        origin: Mapping[str, JsonValue] | None = None,
        by: str = "",
    ) -> list[str]:
        """Erase a run, or all runs whose origin has all items of `origin`; returns their ids.

        Nothing is erased, and `RunTaken` is raised, if a process works on one of them. Raises
        `InputError` if there is no such run, or neither a run nor an origin is given. What a
        follow-up took from a run stays with the follow-up. A line for audits stays, too: id, team,
        status, time, and `by` whom.
        """
        from leadhand.run.service import delete

        return await delete(self._host, run_id, origin, by)

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

    def cancel(self, *, reason: str = "interrupted") -> None:
        """Stop every run under way here; each gives an answer, `status: cancelled`.

        A signal handler may call this. Cancelled runs can be resumed.
        """
        from leadhand.run.service import cancel_all

        cancel_all(self._host, reason)

    async def ready(self) -> None:
        """Prepare for the first run, and raise now what it would raise: no model is asked.

        Imports what runs need, looks for the model of `Team(model="auto")`, checks models' names
        and keys, and the journal. Raises `InputError`, `TeamError` and `JournalError`.
        """
        from leadhand.run.service import ready

        await ready(self._host)

    async def shutdown(self, *, grace_s: float = 10.0, mode: "ShutdownMode" = "interrupt") -> None:
        """Refuse new runs, give those under way `grace_s` seconds to finish, and end the others.

        With `interrupt` their callers get `RunInterrupted`, as those of new runs do; any process
        can resume them, and nothing counts as a crash. With `cancel` they give an answer,
        `status: cancelled`. Readers of `events` get `RunInterrupted`. The journal stays open.
        """
        from leadhand.run.service import shut_down

        await shut_down(self._host, grace_s=grace_s, mode=mode)

    def add_listener(self, listener: "Listener") -> None:
        """Call `listener` with every event of all runs that are started or resumed from now on."""
        check_values(listener=(listener, PlainFunction))
        self._host.listeners = (*self._host.listeners, listener)

    async def resume_interrupted(
        self, *, limit: int | None = None, where: RunFilter | None = None
    ) -> list[str]:
        """Resume, in the background, this team's runs that neither wait nor are held; their ids.

        For the start of a service. A run with a reply that it has not read does not wait. Several
        processes may call this at once. Runs that had a context need the supervisor's `restore`.
        With a `limit` it resumes no more than that many, the latest first; with `where` only runs
        whose summary it accepts.
        """
        from leadhand.run.service import resume_interrupted

        return await resume_interrupted(self._host, limit, where)

    def post_interruption(self) -> None:
        """Tell the journal that this process ends now on purpose. Blocks; for any thread."""
        from leadhand.run.service import post_interruption

        post_interruption(self._host)


def _check_team(team: Team, *, own_synthesizer: bool) -> None:
    """Raises `TeamError` naming every problem of the team."""
    if not isinstance(team, Team):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"team is {type(team).__name__}; it must be a leadhand.Team")
    problems = team_problems(team)
    # A team that contains itself has no tree to look at.
    if problems or (problems := tuple(synthesis_problems(team, own=own_synthesizer))):
        raise TeamError(team.name, problems)
