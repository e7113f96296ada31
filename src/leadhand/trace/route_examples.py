"""Examples for a trained router, from the runs in which a route turned out to be wrong. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from leadhand.contracts import events
from leadhand.contracts.task import Plan, Task
from leadhand.planners.routing import BY_ROUTER


class RouteExample(NamedTuple):
    """A text, the worker that it was for, and how that is known."""

    text: str
    worker: str
    why: str


@dataclass
class _Routed:
    """What happened to the tasks of a routed plan so far."""

    tasks: dict[str, Task] = field(default_factory=dict[str, Task])
    workers: dict[str, str] = field(default_factory=dict[str, str])
    """Of the last attempt at each task."""
    handed_back: dict[str, str] = field(default_factory=dict[str, str])
    """The worker that handed a task back first."""


def route_examples(log: Sequence[events.Event]) -> Iterator[RouteExample]:
    """The examples in the events of one run whose request a router placed.

    A person named the worker; a worker handed the task back and another one completed it; a judge
    took the second opinion of another worker; or workers that got the same text contradicted each
    other because, a judge says, it was for only one of them. Events of nested teams do not count.
    """
    own = [event for event in log if not event.within]
    routed = _routed(own)
    if routed is None:
        return
    proposed, accepted = routed
    first = accepted.tasks[0]
    if {task.worker for task in accepted.tasks} != {task.worker for task in proposed.tasks}:
        yield RouteExample(first.intent, first.worker, "a person named the worker")
    seen = _Routed({task.id: task for task in accepted.tasks})
    for event in own:
        yield from _examples(event, seen)


def _routed(log: Sequence[events.Event]) -> tuple[Plan, Plan] | None:
    """The plan that the router proposed, and the one that was carried out; `None` if it did not."""
    plans = [event for event in log if isinstance(event, events.PlanProposed) and not event.task_id]
    if not plans or plans[0].by not in BY_ROUTER or not plans[-1].plan.tasks:
        return None
    if not any(isinstance(event, events.PlanAccepted) for event in log):
        return None
    return plans[0].plan, plans[-1].plan


def _examples(event: events.Event, seen: _Routed) -> Iterator[RouteExample]:
    match event:
        case events.TaskDispatched():
            seen.workers[event.task_id] = event.worker
        case events.TaskEscalated(reason="out_of_scope"):
            worker = seen.workers.get(event.task_id, "")
            seen.handed_back.setdefault(event.task_id, worker)
        case events.TaskCompleted():
            task, worker = seen.tasks.get(event.task_id), seen.workers.get(event.task_id)
            before = seen.handed_back.get(event.task_id)
            if task is not None and worker and before and worker != before:
                yield RouteExample(task.intent, worker, f"{before} handed it back")
        case events.OpinionJudged(taken="second"):
            task, (first, second) = seen.tasks.get(event.task_id), event.workers
            if task is not None and first != second:
                why = f"a judge took its result instead of {first}'s"
                yield RouteExample(task.intent, second, why)
        case events.ConflictJudged(holds=True):
            yield from _settled(event, seen)
        case _:
            pass


def _settled(event: events.ConflictJudged, seen: _Routed) -> Iterator[RouteExample]:
    """The one worker of a conflict that is not the wrong one for the text that all of them got."""
    ids, wrong = event.conflict.task_ids, event.conflict.misrouted
    right = [id for id in ids if id not in wrong and id in seen.tasks and id in seen.workers]
    if wrong and len(right) == 1:
        others = " and ".join(sorted({seen.workers[id] for id in wrong if id in seen.workers}))
        why = f"a judge called {others} the wrong worker"
        yield RouteExample(seen.tasks[right[0]].intent, seen.workers[right[0]], why)
