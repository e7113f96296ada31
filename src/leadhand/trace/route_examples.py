"""Examples for a trained router, from the runs in which a route turned out to be wrong. Pure."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from leadhand.contracts import events
from leadhand.planners.routing import BY_ROUTER


class RouteExample(NamedTuple):
    text: str
    worker: str
    why: str


def route_examples(log: Sequence[events.Event]) -> Iterator[RouteExample]:
    """The examples in the events of one run whose request a router placed.

    A person named the worker; another worker completed a task that was handed back, or gave the
    better second opinion; or a judge says which of several workers the text was for. Events of
    nested teams do not count.
    """
    own = [event for event in log if not event.within]
    plans = [event for event in own if isinstance(event, events.PlanProposed) and not event.task_id]
    if not plans or plans[0].by not in BY_ROUTER or not plans[-1].plan.tasks:
        return
    if not any(isinstance(event, events.PlanAccepted) for event in own):
        return
    tasks = {task.id: task for task in plans[-1].plan.tasks}
    if {one.worker for one in tasks.values()} != {one.worker for one in plans[0].plan.tasks}:
        first = plans[-1].plan.tasks[0]
        yield RouteExample(first.intent, first.worker, "a person named the worker")
    workers: dict[str, str] = {}
    handed_back: dict[str, str] = {}
    """The worker that handed a task back first."""
    for event in own:
        match event:
            case events.TaskDispatched():
                workers[event.task_id] = event.worker
            case events.TaskEscalated(reason="out_of_scope", task_id=id):
                handed_back.setdefault(id, workers.get(id, ""))
            case events.TaskCompleted(task_id=id) if id in tasks and handed_back.get(id):
                if workers[id] != handed_back[id]:
                    why = f"{handed_back[id]} handed it back"
                    yield RouteExample(tasks[id].intent, workers[id], why)
            case events.OpinionJudged(taken="second", task_id=id, workers=(first, second)):
                if id in tasks and first != second:
                    why = f"a judge took its result instead of {first}'s"
                    yield RouteExample(tasks[id].intent, second, why)
            case events.ConflictJudged(holds=True, conflict=conflict) if conflict.misrouted:
                known = [id for id in conflict.task_ids if id in tasks and id in workers]
                right = [id for id in known if id not in conflict.misrouted]
                if len(right) == 1:
                    wrong = " and ".join(sorted({workers[id] for id in known if id not in right}))
                    why = f"a judge called {wrong} the wrong worker"
                    yield RouteExample(tasks[right[0]].intent, workers[right[0]], why)
            case _:
                pass
