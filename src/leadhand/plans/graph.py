"""The task graph: pure functions over ids and dependencies, linear in tasks and edges."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol


class Node(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def depends_on(self) -> Sequence[str]: ...
    @property
    def tolerates_missing(self) -> bool: ...


def dependants(tasks: Iterable[Node]) -> dict[str, list[str]]:
    """The ids that directly depend on each task, in plan order; only for tasks with dependants."""
    out: dict[str, list[str]] = {}
    for task in tasks:
        for needed in task.depends_on:
            known = out.get(needed)
            if known is None:
                out[needed] = [task.id]
            else:
                known.append(task.id)
    return out


def order(tasks: Sequence[Node]) -> list[str]:
    """In topological order (A. B. Kahn, 1962), without tasks on a cycle or after one."""
    return _order(tasks, dependants(tasks))


def _order(tasks: Sequence[Node], after: Mapping[str, Sequence[str]]) -> list[str]:
    waiting = {task.id: len(task.depends_on) for task in tasks}
    queue = deque(id for id, count in waiting.items() if not count)
    out: list[str] = []
    while queue:
        done = queue.popleft()
        out.append(done)
        for id in after.get(done, ()):
            waiting[id] -= 1
            if not waiting[id]:
                queue.append(id)
    return out


def cycle(depends_on: Mapping[str, Sequence[str]]) -> list[str] | None:
    """One cycle as `[a, b, ..., a]`, each depending on the next. Self-edges and unknown ids are
    ignored: they are other problems."""
    finished: set[str] = set()
    for root in depends_on:
        if root in finished:
            continue
        path: dict[str, Iterator[str]] = {root: iter(depends_on[root])}
        while path:
            top = next(reversed(path))
            step = next(path[top], None)
            if step is None:
                del path[top]
                finished.add(top)
            elif step in path and step != top:
                ids = list(path)
                return [*ids[ids.index(step) :], step]
            elif step not in finished and step in depends_on and step != top:
                path[step] = iter(depends_on[step])
    return None


def remaining_path(
    tasks: Sequence[Node], duration: Mapping[str, float] | None = None
) -> dict[str, float]:
    """For each task the length of the longest chain from its start to the end of the plan, in
    seconds of `duration`, else in tasks."""
    after = dependants(tasks)
    length: dict[str, float] = {}
    for id in reversed(_order(tasks, after)):
        own = 1.0 if duration is None else duration[id]
        length[id] = own + max((length[next_id] for next_id in after.get(id, ())), default=0.0)
    return length


def critical_path(
    tasks: Sequence[Node],
    duration: Mapping[str, float],
    released: Mapping[str, float] | None = None,
) -> tuple[float, tuple[str, ...]]:
    """The end in seconds of the chain of dependent tasks that ends last, and its ids. A task
    can't start before its `released`."""
    if not tasks:
        return 0.0, ()
    after = dependants(tasks)
    length = remaining_path(tasks, duration)
    start = dict.fromkeys(length, 0.0) if released is None else released
    here = max((task.id for task in tasks), key=lambda id: start[id] + length[id])
    path = [here]
    while here in after:
        here = max(after[here], key=lambda id: length[id])
        path.append(here)
    return start[path[0]] + length[path[0]], tuple(path)


def descendants(after: Mapping[str, Collection[str]], root: str) -> set[str]:
    """Directly or not."""
    found: set[str] = set()
    stack = [root]
    while stack:
        for id in after.get(stack.pop(), ()):
            if id not in found:
                found.add(id)
                stack.append(id)
    return found
