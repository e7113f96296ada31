"""The tasks of one run: which wait, are ready, have ended. It starts no work.

Other modules report what ends a task or changes the plan; dependants then become ready or are
skipped.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence

from leadhand.contracts import events
from leadhand.contracts.events.fields import NO_TIMES, AttemptTimes
from leadhand.contracts.outcome import PlanImpact, Result
from leadhand.contracts.task import Task
from leadhand.engine.amendments import Amendment
from leadhand.engine.ready_queues import ReadyQueues
from leadhand.engine.recorder import Recorder
from leadhand.engine.shared_workers import SUSPECT_CRASHES
from leadhand.plans import graph
from leadhand.plans.graph import Node, dependants
from leadhand.state.fold import RunState

_ENDED = -1


class Dependencies:
    """Counts what each task waits for."""

    __slots__ = ("_after", "_blame", "_cut", "_tolerates", "_waiting")

    def __init__(self, tasks: Sequence[Node]) -> None:
        self._after = dependants(tasks)
        self._waiting = {task.id: len(task.depends_on) for task in tasks}
        """How many tasks each one waits for; `_ENDED` once it has ended or is skipped."""
        self._tolerates = {task.id for task in tasks if task.tolerates_missing}
        self._blame: dict[str, str] = {}
        """The failed task that is to blame, for each task that ended without a result."""
        self._cut: set[tuple[str, str]] = set()
        """Removed edges of `_after`. Cheaper than taking them out of it."""

    def ready(self) -> list[str]:
        """The tasks that depend on nothing, in plan order."""
        return [id for id, count in self._waiting.items() if not count]

    def dependants(self, id: str) -> list[str]:
        """The tasks that depend on `id` directly, including skipped ones."""
        return [other for other in self._after.get(id, ()) if (id, other) not in self._cut]

    def finish(self, id: str, *, gave_result: bool) -> tuple[list[str], list[tuple[str, str]]]:
        """Mark `id` as ended; returns tasks that may start, and (skipped task, blame) pairs.

        A task is skipped as soon as a result that it requires is known to be missing, and its own
        dependants in the same call, with the same blame.
        """
        self._waiting[id] = _ENDED
        if not gave_result:
            self._blame[id] = id
        return self._spread([id])

    def amend(
        self,
        *,
        added: Sequence[Node] = (),
        dropped: Iterable[Node] = (),
        changed: Sequence[tuple[Node, Node]] = (),
    ) -> tuple[list[str], list[tuple[str, str]]]:
        """Change tasks that have not ended; returns what `finish` returns.

        All changed tasks that may start are in it, even if they could before. No task may depend on
        a dropped one afterwards, and its id is not used again.
        """
        for task in dropped:
            self._cut.update((needed, task.id) for needed in task.depends_on)
            del self._waiting[task.id]
        for old, new in changed:
            self._cut.update((gone, old.id) for gone in {*old.depends_on} - {*new.depends_on})
        # Added tasks may depend on each other: all are known before the first is linked.
        self._waiting.update({task.id: 0 for task in added})
        known = [(task, frozenset[str]()) for task in added]
        touched = [*known, *((new, frozenset(old.depends_on)) for old, new in changed)]
        for task, before in touched:
            self._link(task, before)
        lost = [task.id for task, _ in touched if self._lost(task)]
        ready, skipped = self._spread([*lost])
        starts = [task.id for task, _ in touched if not self._waiting[task.id]]
        return list(dict.fromkeys([*ready, *starts])), [
            *((id, self._blame[id]) for id in lost),
            *skipped,
        ]

    def _link(self, task: Node, before: Collection[str]) -> None:
        for needed in task.depends_on:
            if needed in before:
                continue
            if (needed, task.id) in self._cut:
                self._cut.remove((needed, task.id))
            else:
                self._after.setdefault(needed, []).append(task.id)
        self._waiting[task.id] = sum(self._waiting[id] != _ENDED for id in task.depends_on)
        (self._tolerates.add if task.tolerates_missing else self._tolerates.discard)(task.id)

    def _lost(self, task: Node) -> bool:
        """End a task if a result that it requires is already missing; True if so."""
        blame = next((self._blame[id] for id in task.depends_on if id in self._blame), None)
        if blame is None or task.tolerates_missing:
            return False
        self._waiting[task.id] = _ENDED
        self._blame[task.id] = blame
        return True

    def _spread(self, ended: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
        ready: list[str] = []
        skipped: list[tuple[str, str]] = []
        waiting, cut, tolerates = self._waiting, self._cut, self._tolerates
        for done in ended:
            after = self._after.get(done)
            if after is None:
                continue
            blame = self._blame.get(done) if self._blame else None
            for next_id in after:
                if cut and (done, next_id) in cut:
                    continue
                count = waiting[next_id]
                if count == _ENDED:
                    continue
                waiting[next_id] = count - 1
                if blame is not None and next_id not in tolerates:
                    waiting[next_id] = _ENDED
                    self._blame[next_id] = blame
                    skipped.append((next_id, blame))
                    ended.append(next_id)
                elif count == 1:
                    ready.append(next_id)
        return ready, skipped


Pairs = Sequence[tuple[Task, Task]]
"""Tasks before and after a change."""


class RunTasks:
    """Moves tasks between waiting, delayed, ready and ended, and records the ends."""

    def __init__(
        self,
        recorder: Recorder,
        queues: ReadyQueues,
        *,
        rank: Mapping[str, float] | None,
        wake_up: Callable[[], None],
        growing: bool = False,
    ) -> None:
        """`rank` by task id: the highest goes first. `wake_up` is called when a delay ends."""
        self._recorder = recorder
        self._state = recorder.state
        self._ready_queues = queues
        self._wake_up = wake_up
        self._delayed: dict[str, asyncio.TimerHandle] = {}
        self.suspects = deque[str]()
        """Tasks that are ready and must run alone."""
        self.growing = growing
        """Whether the plan is still being written, so that more tasks may come."""
        self._take_over(rank)
        self.stopped: str | None = None
        """Why no task becomes ready any more; `None` while the run continues."""

    @property
    def can_continue(self) -> bool:
        return bool(self._delayed) or bool(self.suspects) or self._ready_queues.any_ready

    def _take_over(self, rank: Mapping[str, float] | None = None) -> None:
        """Make the tasks of the state those to do. O(tasks)."""
        tasks = [task.task for task in self._state.tasks.values()]
        self._rank = dict(rank if rank is not None else graph.remaining_path(tasks))
        self._dependencies = Dependencies(tasks)
        self.unfinished = sum(not task.ended for task in self._state.tasks.values())
        self.impacts = deque(_impacts(self._state))
        """Plan impacts of results that were not considered yet, with their task ids."""

    def not_admitted(self) -> list[str]:
        return self._ready_queues.not_admitted(asyncio.get_running_loop().time())

    def start(self) -> None:
        """Make tasks ready whose dependencies, if any, had ended before the run was resumed."""
        any_ended = self.unfinished < len(self._state.tasks)
        for id, task in list(self._state.tasks.items()) if any_ended else ():
            if task.ended and task.status != "skipped":
                gave_result = task.status == "completed"
                _, skipped = self._dependencies.finish(id, gave_result=gave_result)
                # Tasks that were recorded as skipped before are not skipped again.
                self._follow((), [one for one in skipped if not self._state.tasks[one[0]].ended])
        for id in self._dependencies.ready():
            task = self._state.tasks[id]
            if task.status == "pending" and not (task.unresolved or task.waits_for_approval):
                self.make_ready(id)

    def stop(self, reason: str) -> None:
        """Make no more tasks ready."""
        self.stopped = reason
        for timer in self._delayed.values():
            timer.cancel()

    def make_ready(self, id: str, *, delay_s: float = 0.0) -> None:
        """Make a task ready for its worker, now or after a delay."""
        if delay_s:
            loop = asyncio.get_running_loop()
            self._delayed[id] = loop.call_later(delay_s, self._end_delay, id)
        elif self._state.tasks[id].crashes >= SUSPECT_CRASHES:
            self.suspects.append(id)
        else:
            self.enqueue(id)

    def enqueue(self, id: str, *, first: bool = False) -> None:
        """Put a task into its worker's ready queue; `first`: before all others."""
        task = self._state.tasks[id]
        rank = math.inf if first else self._rank[id]
        self._ready_queues.add(id, task.worker, rank, pinned=task.attempts > 0)

    def _end_delay(self, id: str) -> None:
        del self._delayed[id]
        self.make_ready(id)
        self._wake_up()

    # Ends of tasks

    def complete(
        self, id: str, attempt: int, result: Result, *, work: AttemptTimes, flag: str | None = None
    ) -> None:
        """`work` is of the last attempt. Refused and failed tool calls are added as missing."""
        not_done = self._state.tasks[id].not_done
        if not_done:
            result = result.model_copy(update={"missing": (*not_done, *result.missing)})
        stamp = self._recorder.task_stamp(id, attempt)
        self._recorder.record(events.TaskCompleted(**stamp, **work, result=result, flag=flag))
        if result.plan_impact is not None:
            self.impacts.append((id, result.plan_impact))
        self._ended(id, gave_result=True)

    def end_without_result(self, id: str) -> None:
        """Note a task that ended without a result; that is recorded already."""
        self._ended(id, gave_result=False)

    def cancel(
        self,
        id: str,
        attempt: int,
        *,
        reason: str,
        partial: Result | None = None,
        work: AttemptTimes = NO_TIMES,
    ) -> None:
        """Record that a task ends because the run does; its dependants are not skipped."""
        stamp = self._recorder.task_stamp(id, attempt)
        self._recorder.record(events.TaskCancelled(**stamp, **work, reason=reason, partial=partial))
        self.unfinished -= 1

    def cancel_waiting(self, *, running: Container[str]) -> None:
        for task in list(self._state.tasks.values()):
            if not task.ended and task.id not in running:
                self.cancel(task.id, task.attempts, reason=self.stopped or "the run ended")

    def _ended(self, id: str, *, gave_result: bool) -> None:
        self.unfinished -= 1
        self._follow(*self._dependencies.finish(id, gave_result=gave_result))

    def _follow(self, ready: Sequence[str], skipped: Sequence[tuple[str, str]]) -> None:
        if self.stopped is not None:
            return
        for id in ready:
            self.make_ready(id)
        for id, blame in skipped:
            self.unfinished -= 1
            self._recorder.record(
                events.TaskSkipped(
                    **self._recorder.task_stamp(id, 0),
                    blame=blame,
                    reason=f"needs {blame!r}, which gave no result",
                )
            )

    # Changes of the plan

    def withdraw(self, ids: Collection[str]) -> None:
        """Start none of these tasks. O(ready tasks)."""
        self._ready_queues.remove(ids)
        self.suspects = deque(id for id in self.suspects if id not in ids)

    def adopt(self) -> None:
        """Take over the tasks of the plan that was accepted now. Early ones go on. O(tasks)."""
        self.growing = False
        self.withdraw(self._rank)
        self._take_over()
        if self.stopped is None:
            self.start()
        self._wake_up()

    def dependants(self, id: str) -> list[Task]:
        """The tasks that depend on this one directly, including skipped ones. O(edges)."""
        tasks = [task.task for task in self._state.tasks.values()]
        return [task for task in tasks if id in task.depends_on]

    def replace(self, whole: Task, parts: Sequence[Task], rewired: Pairs) -> None:
        """Replace a task by its parts; the split is recorded already."""
        self._rank.update({part.id: self._rank[whole.id] for part in parts})
        self._amend(parts, [whole], rewired)

    def amend_plan(self, found: Amendment, *, task_id: str, reason: str, by: str) -> None:
        tasks, plan = self._state.tasks, self._state.plan
        dropped = [tasks[id].task for id in found.dropped]
        before = [tasks[task.id].task for task in found.changed]
        self._recorder.record(
            events.PlanAmended(
                **self._recorder.stamp(),
                task_id=task_id,
                reason=reason,
                revision=(plan.revision if plan is not None else 1) + (found != Amendment()),
                by=by,
                added=found.added,
                changed=found.changed,
                dropped=found.dropped,
            )
        )
        self.amend(found.added, dropped, list(zip(before, found.changed, strict=True)))

    def amend(self, added: Sequence[Task], dropped: Sequence[Task], changed: Pairs) -> None:
        """Change tasks that have not started; the amendment is recorded already. O(tasks)."""
        rank = graph.remaining_path([task.task for task in self._state.tasks.values()])
        self._rank.update({task.id: rank[task.id] for task in added})
        self.withdraw({task.id for task in (*dropped, *(old for old, _ in changed))})
        self._amend(added, dropped, changed)

    def _amend(self, added: Sequence[Task], dropped: Sequence[Task], changed: Pairs) -> None:
        self.unfinished += len(added) - len(dropped)
        self._follow(*self._dependencies.amend(added=added, dropped=dropped, changed=changed))
        self._wake_up()


def _impacts(state: RunState) -> Iterator[tuple[str, PlanImpact]]:
    for id in state.impacts:
        result = state.tasks[id].result
        if result is not None and result.plan_impact is not None:
            yield id, result.plan_impact
