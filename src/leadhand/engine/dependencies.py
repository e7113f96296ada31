"""Dependencies: which tasks may start next, in a graph that may change while they run. Pure.

It counts open dependencies: ending a task costs O(its dependants), a change O(changed edges).
"""

from collections.abc import Collection, Iterable, Sequence

from leadhand.plans.graph import Node, dependants

_ENDED = -1


class Dependencies:
    """The open dependencies of a run's tasks."""

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
        """Mark `id` as ended; returns tasks that may start now, and (skipped task, blame) pairs.

        A task is skipped as soon as a result that it requires is known to be missing. That ends it
        too: its own dependants follow in the same call, with the same blame.
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
        """Change tasks that have not ended; `changed` has pairs (before, after).

        Returns what `finish` returns, with all changed tasks that may start, even if they could
        before. No task may depend on a dropped one afterwards, and its id is never used again.
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
        """Update the dependants of `ended`, and those of tasks that are skipped in turn."""
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
