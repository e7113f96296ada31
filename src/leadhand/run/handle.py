"""The handle of a run: watches it, waits for it, replies to it, stops and resumes it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, overload

from typing_extensions import Unpack

from leadhand.contracts.answer import Answer, of_kind
from leadhand.contracts.people import Reply
from leadhand.contracts.summary import RunView
from leadhand.contracts.tools import C, Out_co
from leadhand.errors import InputError, RunInterrupted
from leadhand.run.reading import one_by_one, run_view
from leadhand.run.service import cancel, post
from leadhand.run.settings import RunArguments, RunOptions, check_known
from leadhand.run.stored import StoredRun
from leadhand.run.waiting import Work, cancelled

if TYPE_CHECKING:
    from leadhand.contracts.events import Event
    from leadhand.events import TextDelta
    from leadhand.run.hosting import RunHost


class Run(Generic[C, Out_co]):
    """A run: `Supervisor.start` returns it, and `Supervisor.handle` in any process.

    Nothing is read before a method is called. A caller that leaves one does not stop the run.
    Methods raise `InputError` if there is no such run.
    """

    def __init__(self, host: "RunHost", run_id: str, work: Work | None = None) -> None:
        self.id = run_id
        self._host = host
        self._work = work

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    @property
    def is_under_way(self) -> bool:
        """Whether this supervisor works on it now: it is stored, and not deleted meanwhile."""
        return self.id in self._host.held

    async def view(self) -> RunView:
        """The run as it is now."""
        return await run_view(self._host.journal, self.id)

    async def answer(self) -> Answer[Out_co]:
        """The answer, once the run ends or nothing is left to do but to hear a person.

        Then its status is `waiting`; call it again after a reply. It makes no difference which
        process works on the run. Raises what the work raises that this handle has begun, and
        `RunInterrupted` if no process works on the run, or the supervisor is shut down.
        """
        return of_kind(await self._answer(), self._host.team.output)

    async def _answer(self) -> Answer:
        work = self._work
        if work is not None and work.get_loop() is asyncio.get_running_loop() and not work.done():
            await self._host.callers.until_ended(self.id, work)
        else:
            try:
                return await self._host.answer(self.id)
            except (InputError, RunInterrupted):
                # A journal in memory keeps a limited number of runs.
                if work is None or not work.done():
                    raise
        if work.cancelled():
            raise RunInterrupted(self.id, "its program cancelled it; resume it")
        return work.result()

    @overload
    def events(
        self, *, after_seq: int = 0, deltas: Literal[False] = False
    ) -> "AsyncGenerator[Event]": ...
    @overload
    def events(
        self, *, after_seq: int = 0, deltas: Literal[True]
    ) -> "AsyncGenerator[Event | TextDelta]": ...
    def events(self, *, after_seq: int = 0, deltas: bool = False) -> "AsyncGenerator[Any]":
        """The events after `after_seq`: those that are stored, then each as it is stored.

        They end with the outermost `RunFinished` if nothing follows it; while the run waits for a
        person or is interrupted, the next event is that of its resumption. It makes no difference
        which process works on the run. With `deltas`, also what its models write, while they write
        it in this process. Raises what the work raises that this handle has begun, and
        `RunInterrupted` if the supervisor is shut down.
        """
        return one_by_one(self._batches(after_seq, deltas=deltas))

    def batches(self, *, after_seq: int = 0) -> "AsyncGenerator[Sequence[Event | TextDelta]]":
        """As `events` with `deltas`, those together that are there at the same time."""
        return self._batches(after_seq, deltas=True)

    def _batches(
        self, after_seq: int, *, deltas: bool
    ) -> "AsyncGenerator[Sequence[Event | TextDelta]]":
        work = self._work
        return self._host.readers.batches(self.id, after_seq=after_seq, deltas=deltas, work=work)

    async def reply(
        self,
        *replies: Reply,
        resume: bool = True,
        seen: int | None = None,
        **arguments: Unpack[RunArguments[C]],
    ) -> None:
        """Record replies to questions of the run, all or none, then join the run or resume it.

        Without `resume` the run takes them at once if it is under way, and else when it is resumed.
        The last reply that comes before the run takes one counts. Any number of callers may reply
        at once: each then gets the `answer` of a run that has read all replies. `arguments` are as
        in `resume`. Raises `InputError` for a reply that answers no open question, unless the same
        reply closed it, for a run that can't be resumed, and, with the `seq` of the last event that
        the person has `seen`, for a reply to a question that was asked later.
        """
        check_known("Run.reply", arguments, RunArguments)
        options = RunOptions(**arguments)
        await post(self._host, self.id, replies, options if resume else None, seen=seen)
        if resume:
            join = partial(self._host.join, self.id, options)
            self._work = await self._host.callers.begin(self.id, join, options.under_way)

    async def resume(
        self,
        *,
        from_task: str | None = None,
        stored: StoredRun | None = None,
        **arguments: Unpack[RunArguments[C]],
    ) -> None:
        """Resume a run that was stopped, lost with its process, or waits for a person.

        It returns once the run is under way. Completed work is kept; work that was in flight is
        done again, under the same keys. The plan is the recorded one, whatever the team's prompts
        and code are now. With `from_task` that task and all that depend on it are done again from
        the beginning. A run that is over keeps its answer. `deadline_s` counts from now; `budget`
        is that of the whole run, including what it has spent. By default both are those that the
        run was last given, else the supervisor's. Without a `context` the supervisor's `restore`
        makes that of a run that had one. `stored` is the run as the caller has read it: it is read
        again only if it changed.

        Raises `InputError` if there is no such task, or this team can't resume the run, and
        `RunTaken` if a process works on it.
        """
        check_known("Run.resume", arguments, RunArguments)
        options = RunOptions(**arguments)
        resume = partial(self._host.resume, self.id, options, from_task=from_task, stored=stored)
        self._work = await self._host.callers.begin(self.id, resume, options.under_way)

    async def cancel(self, reason: str = "cancelled") -> None:
        """Stop the run, whichever process works on it; it gives an answer, `status: cancelled`.

        A run that waits or was interrupted gets its answer here. A cancelled run can be resumed.
        Raises `InputError` if it is finished.
        """
        await cancel(self._host, self.id, reason)


async def started(host: "RunHost", new: RunOptions) -> Run[C, Out_co]:
    """A new run, once it is stored, or one that exists already; see `Supervisor.start`."""
    run_id = host.id_of(new)
    work = host.callers.begin(run_id, lambda: host.start(new, run_id), new.under_way)
    return Run(host, run_id, await work)


async def owned_answer(run: Run[C, Out_co]) -> Answer[Out_co]:
    """`run.answer()`. Cancelling this also cancels the work that the handle has begun."""
    work = run._work  # pyright: ignore[reportPrivateUsage]
    try:
        return await run.answer()
    except asyncio.CancelledError:
        if work is not None:
            await cancelled(work)
        raise
