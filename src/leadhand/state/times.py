"""Times of a run: what its state adds up, and the figures that follow from it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue
from pydantic_core import to_json

from leadhand.contracts.answer import MAX_REPORTED_BYTES, Metrics, TaskReport
from leadhand.contracts.task import MAX_ID_CHARS
from leadhand.plans import graph

if TYPE_CHECKING:
    from leadhand.contracts.events import Event
    from leadhand.state.run_state import RunState, TaskState


@dataclass(slots=True)
class CallTimes:
    """Model calls of one phase, and the time that they and their waits fill."""

    took_s: float = 0.0
    filled: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Disjoint intervals in which any call ran or waited, in order."""

    def add(self, ended_s: float, *, took_s: float, queued_s: float) -> None:
        """Add a call that ended after all the others."""
        self.took_s += took_s
        started_s = ended_s - took_s - queued_s
        while self.filled and self.filled[-1][1] >= started_s:
            started_s = min(started_s, self.filled.pop()[0])
        self.filled.append((started_s, ended_s))

    def worked_s(self, phase_s: float) -> float:
        """The work in a phase of that length, its calls one after the other and without waits."""
        return self.took_s + max(0.0, phase_s - sum(end - start for start, end in self.filled))


MOMENT_S = 0.1
"""Shorter times between two events are not looked at: a run of many tasks has too many of them."""


@dataclass(slots=True)
class PersonTime:
    """The time that no work of a run fills while a question to a person is open."""

    waits: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Disjoint intervals, in order."""
    last_s: float = 0.0
    asked: bool = False

    @property
    def waited_s(self) -> float:
        return sum(end - start for start, end in self.waits)

    def add(self, state: "RunState", event: "Event") -> None:
        """Add the time before `event`, which is not applied to `state` yet."""
        if event.elapsed_s - self.last_s >= MOMENT_S and _only_asks(state):
            self.waits.append((self.last_s, event.elapsed_s))
        # A call or a decision is known when it ends; questions may have been asked and answered
        # meanwhile.
        took_s = None
        if event.type == "model_called":
            took_s = event.duration_s
        elif event.type == "round_decided":
            took_s = event.took_s
        began_s = event.elapsed_s - (took_s or 0.0)
        while self.waits and self.waits[-1][1] > began_s:
            start_s, _ = self.waits.pop()
            if start_s < began_s:
                self.waits.append((start_s, began_s))


def _only_asks(state: "RunState") -> bool:
    """Whether a question is open, and no task runs or waits to be retried. O(tasks)."""
    if state.synthesis_started_s is not None:
        return False
    busy = [one for one in state.tasks.values() if one.status == "running" or one.retry_in_s]
    return bool(state.questions or busy) and all(
        # An earlier attempt may have left a nested run with its question.
        task.nested is not None
        and task.nested.person_time.last_s >= task.dispatched_s
        and _only_asks(task.nested)
        for task in busy
    )


def why_work_ends(state: "RunState", work_ends_s: float) -> str:
    """Why a run's work stops, so many seconds into the run."""
    due_s = state.due_s or work_ends_s
    given_s = due_s - state.resumed_s
    why = f"the run's deadline of {round(given_s, 1 if given_s >= 1 else 3):g} s"
    early_s = due_s - work_ends_s
    if early_s > 0.01:
        return f"stopped {early_s:.2g} s before {why} to leave time for the answer"
    return f"{why} was reached"


EXACT = 1.05
"""A speed-up is known if its upper bound is at most this many times the lower one."""


def metrics(state: "RunState", now_s: float) -> Metrics:
    """The figures of a run that ends, or is under way, `now_s` seconds after its start."""
    planning_s, synthesis_s = planning_time(state, now_s), synthesis_time(state, now_s)
    chain = critical_chain(state)
    chain_s = planned_before(state, chain, now_s) + sum(part.took_s for part in chain)
    low_s, high_s = sequential(state, now_s)
    usage, took_s = state.usage, now_s - state.person_time.waited_s
    is_known = high_s <= low_s * EXACT or took_s <= 0
    return Metrics(
        makespan_s=took_s,
        sequential_s=low_s,
        critical_path_s=max(min(planning_s, now_s), chain_s) + min(synthesis_s, now_s),
        speedup=(low_s / took_s if took_s > 0 else 0.0) if is_known else None,
        speedup_high=None if is_known else high_s / took_s,
        requests=usage.requests,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=usage.cost_usd,
    )


def sequential(state: "RunState", now_s: float) -> tuple[float, float]:
    """The seconds that all of a run would take one after the other: at least, and at most."""
    rest_s = planning_time(state, now_s) + synthesis_time(state, now_s)
    if state.phase == "working":
        rest_s += state.calls.took_s
    low_s, high_s = rest_s + state.worked_s, rest_s + state.worked_high_s
    for task in (*state.tasks.values(), *state.retired.values()):
        low_s += task.worked_s
        high_s += task.worked_high_s
        if task.status == "running":
            high_s += max(now_s - task.dispatched_s, 0.0)
    return low_s, high_s


def planning_time(state: "RunState", now_s: float) -> float:
    """The seconds that planning took, without waits for people or rates."""
    if state.plan is not None:
        return state.planning_s
    asking_s = now_s - state.asked_s if None in state.questions else 0.0
    return state.calls.worked_s(now_s - state.started_s - state.asking_s - asking_s)


def synthesis_time(state: "RunState", now_s: float) -> float:
    """The seconds that the last synthesis took, without waits for rates."""
    if state.synthesis_started_s is None:
        return 0.0
    ended_s = now_s if state.finished_s is None else state.finished_s
    return state.calls.worked_s(ended_s - state.synthesis_started_s)


class ChainPart(NamedTuple):
    name: str
    took_s: float
    task_id: str | None
    """None: it is a decision."""


class _Node(NamedTuple):
    id: str
    depends_on: tuple[str, ...]
    tolerates_missing: bool = False


def critical_chain(state: "RunState") -> tuple[ChainPart, ...]:
    """The longest chain of dependent tasks and of the decisions after the first, which is planning.

    A decision depends on the one before and on results that were new to it; the tasks of its round
    depend on it. A task that started early waited only for its part of the plan.
    """
    nodes: list[graph.Node] = []
    seen: dict[int, list[str]] = {}
    parts: dict[str, ChainPart] = {}
    for id, task in state.tasks.items():
        seen.setdefault(task.seen_in, []).append(id)
        began_s = task.started_s if task.started_s is not None else task.finished_s
        after = [one for one in task.task.depends_on if _waited(state.tasks.get(one), began_s)]
        after += [_decision_id(task.round)] if task.round > 1 else []
        nodes.append(_Node(id, tuple(after)))
        parts[id] = ChainPart(id, task.path_s, id)
    for number in range(2, max((len(state.rounds), *state.decisions_s)) + 1):
        before = [_decision_id(number - 1)] if number > 2 else []
        nodes.append(_Node(_decision_id(number), (*before, *seen.get(number, ()))))
        took_s = state.decisions_s.get(number, 0.0)
        parts[nodes[-1].id] = ChainPart(f"round {number}", took_s, None)
    released = dict.fromkeys(parts, state.planning_s)
    released |= {
        id: task.planned_s for id, task in state.tasks.items() if task.planned_s is not None
    }
    took = {id: part.took_s for id, part in parts.items()}
    end_s, path = graph.critical_path(nodes, took, released)
    if end_s < state.planning_s:
        return ()  # all tasks ended before the plan was complete
    return tuple(parts[id] for id in path if parts[id].task_id or parts[id].took_s)


def planned_before(state: "RunState", chain: Sequence[ChainPart], now_s: float) -> float:
    """The seconds of planning before the first task of the longest chain could start."""
    first = state.tasks.get(chain[0].task_id or "") if chain else None
    early_s = first.planned_s if first is not None else None
    return min(planning_time(state, now_s) if early_s is None else early_s, now_s)


def _waited(needed: "TaskState | None", began_s: float | None) -> bool:
    """Whether a task that began, or was skipped, at that time had to wait for another."""
    ended_s = needed.finished_s if needed is not None else None
    return began_s is None or (ended_s is not None and ended_s <= began_s)


def _decision_id(number: int) -> str:
    return f"{number}".rjust(MAX_ID_CHARS + 1)


def task_report(task: "TaskState") -> TaskReport:
    """A task that has ended, as in the answer document."""
    if task.status == "pending" or task.status == "running":
        raise ValueError(f"task {task.id!r} has not ended")
    output = task.result.output if task.result is not None else None
    size = _json_bytes(output)
    too_large = size > MAX_REPORTED_BYTES
    return TaskReport(
        id=task.id,
        worker=task.worker,
        status=task.status,
        attempts=task.attempts,
        depends_on=tuple(task.task.depends_on),
        output=None if too_large else output,
        output_bytes=size if too_large else None,
        started_s=task.started_s,
        finished_s=task.finished_s,
        model=task.usage.model,
        input_tokens=task.usage.input_tokens,
        output_tokens=task.usage.output_tokens,
        cost_usd=task.usage.cost_usd,
        error=task.why,
    )


def _json_bytes(output: JsonValue) -> int:
    if output is None or isinstance(output, bool | int | float):
        return 0  # quick: runs have tens of thousands of them
    return len(to_json(output))
