"""What every run promises, checked at its end: each broken promise is one line.

The rules of the log are in `rules`; here is what holds between the log, the live state, the answer,
the workers and the event loop.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields

from leadhand.contracts.answer import MISSING_HEADING, Answer
from leadhand.contracts.events import (
    RunFinished,
    RunResumed,
    TaskCancelled,
    TaskCompleted,
    TaskDispatched,
    TaskEscalated,
    TaskFailed,
    WorkerStuck,
    dump,
    parse,
)
from leadhand.contracts.team import Worker
from leadhand.models.ledger import NOTHING, nano_usd
from leadhand.run.questions import open_questions
from leadhand.state.fold import apply, fold
from leadhand.state.run_state import RunState
from tests.simulation.drive import spent
from tests.simulation.recording import Recording
from tests.simulation.rules import rules, worker_of

EPSILON_S = 1e-6
ANSWER_S = 0.5
"""How long after its deadline, or after it was told to stop, a run may take to its answer."""
ENDINGS = (TaskCompleted, TaskCancelled, TaskFailed, TaskEscalated)


def broken(recording: Recording) -> list[str]:
    before = [*_before(recording), *recording.noticed]
    if recording.store.lost:
        return [*before, *_end(recording)]
    team = recording.scenario.team
    return [
        *before,
        *_order(recording),
        *rules(recording.events, team),
        *_slots(recording),
        *_end(recording),
        *_state(recording),
        *_answer(recording),
        *_spent(recording),
    ]


def _before(recording: Recording) -> Iterator[str]:
    past = recording.before
    if past is None:
        return
    yield from (f"process {past.process.number}: {line}" for line in broken(past))
    if recording.events[: len(past.events)] != past.events:
        yield "what was kept of the processes before is not what it was"


def _order(recording: Recording) -> Iterator[str]:
    """The log is one sequence, and can be read back as it was written."""
    elapsed_s = 0.0
    for number, event in enumerate(recording.events, start=1):
        if event.seq != number:
            yield f"event {event.seq} stands at place {number} of the log"
        if event.elapsed_s < elapsed_s:
            yield f"event {number}: the clock went back"
        elapsed_s = event.elapsed_s
    for event in recording.events[:: 1 if recording.scenario.seed % 10 == 0 else 17]:
        if parse(dump(event)) != event:
            yield f"event {event.seq} is not what is read back of it"
    if len(recording.events) != recording.seq_at_end:
        yield "something was written down after the run"


# The workers


def _slots(recording: Recording) -> Iterator[str]:
    """A slot is taken by a dispatch, and free again once the worker has returned or was
    abandoned."""
    state, team = RunState(), recording.scenario.team
    most_in = _concurrency(recording)
    most = most_in[1]
    holding: dict[tuple[str, int], tuple[tuple[str, ...], Worker]] = {}
    returned = iter([*recording.returned, (len(recording.events) + 1, "", 0)])
    seq, way, attempt = next(returned)
    for event in recording.events:
        while seq < event.seq:
            holding.pop((way, attempt), None)
            seq, way, attempt = next(returned)
        if isinstance(event, (*ENDINGS, WorkerStuck)):
            holding.pop((event.task_id, event.attempt), None)
        elif isinstance(event, RunFinished):  # a team has returned, though it may yet be judged
            done = "/".join(event.within)
            holding = {key: place for key, place in holding.items() if key[0] != done}
        elif isinstance(event, RunResumed) and not event.within:
            holding.clear()
            most = most_in.get(event.seq, most)
        elif isinstance(event, TaskDispatched) and (worker := worker_of(state, team, event)):
            holding[event.task_id, event.attempt] = (event.within, worker)
            teams = Counter(within for within, one in holding.values() if one.team is not None)
            if len(holding) - teams.total() > most:
                yield f"event {event.seq}: {len(holding) - teams.total()} tasks at once, of {most}"
            if max(teams.values(), default=0) > most:
                yield f"event {event.seq}: {max(teams.values())} teams at once, of {most}"
            same = sum(1 for _, one in holding.values() if one is worker)
            if worker.concurrency is not None and same > worker.concurrency:
                yield f"event {event.seq}: {worker.name} has {same} tasks of {worker.concurrency}"
        apply(state, event)


def _concurrency(recording: Recording) -> dict[int, int]:
    found: dict[int, int] = {}
    past: Recording | None = recording
    while past is not None:
        first = len(past.before.events) + 1 if past.before is not None else 1
        found.setdefault(first, past.scenario.concurrency)
        past = past.before
    return found


def _spent(recording: Recording) -> Iterator[str]:
    """No process makes a call that the budget has no room for, whoever has spent it."""
    budget, before = recording.scenario.budget, recording.before
    past = spent(before.events) if before is not None else NOTHING
    now = spent(recording.events)
    if budget is None or now == past:
        return
    if budget.requests is not None and now.requests > budget.requests:
        yield f"{now.requests} requests were made, of {budget.requests}"
    if budget.tokens is not None and past.tokens >= budget.tokens:
        yield f"{budget.tokens} tokens were used up before, and others were used"
    if budget.usd is not None and past.nano_usd >= nano_usd(budget.usd):
        yield f"{budget.usd} $ were used up before, and others were spent"


# The end


def _end(recording: Recording) -> Iterator[str]:
    """The run comes to its end in time, and nothing of it goes on."""
    made, ended_s = recording.scenario, recording.ended_s
    yield from (f"{one} is left after the run" for one in recording.left)
    if recording.error is not None and not recording.was_cancelled:
        yield f"the run raised {recording.error!r}"
    due = [] if made.deadline_s is None else [made.deadline_s]
    due += [] if made.ends is None else [made.ends[1]]
    if due and ended_s > min(due) + ANSWER_S + EPSILON_S:
        yield f"the run took {ended_s:.2f} s and was to end after {min(due):.2f} s"


def _state(recording: Recording) -> Iterator[str]:
    """The state is the fold of the events, and no task is open for ever."""
    folded, live = fold(recording.events), recording.state
    for one in fields(RunState):
        if getattr(folded, one.name) != getattr(live, one.name):
            yield f"`{one.name}` of the state is not what follows from the events"
    for id, task in live.tasks.items():
        if not live.tasks.keys() >= {*task.task.depends_on}:
            yield f"{id} needs a task that is not in the plan any more"
        if not task.ended and not open_questions(live):
            yield f"{id} is {task.status} for ever"
    if live.plan is not None and recording.error is None and not live.tasks:
        yield "a plan, and no tasks"


def _answer(recording: Recording) -> Iterator[str]:
    """The answer accounts for every task, by its result or as a gap."""
    answer, state = recording.answer, recording.state
    if answer is None:
        if not recording.was_cancelled:
            yield "there is no answer"
        return
    if (answer.status == "waiting") != bool(answer.waiting):
        yield f"the answer is {answer.status}, and waits for {answer.waiting}"
    if answer.waiting:
        return
    last = recording.events[-1]
    if not isinstance(last, RunFinished) or not last.answer == answer == state.answer:
        yield "the answer is not the last word of the log"
    if state.plan is None:
        return
    ends = {id: task.status for id, task in state.tasks.items()}
    if {one.id: one.status for one in answer.tasks} != ends:
        yield "the answer's tasks are not those of the log"
    gaps = {gap.task_id for gap in answer.gaps}
    missing = {id for id, status in ends.items() if status != "completed"}
    doubted = {id for id, task in state.tasks.items() if id not in missing and task.error}
    if lacking := (missing | doubted) - gaps:
        yield f"the gaps are {sorted(gaps)}: {sorted(lacking)} have no result, or a doubted one"
    if len({(gap.task_id, gap.why) for gap in answer.gaps}) != len(answer.gaps):
        yield "a gap is named twice"
    text = answer.answer
    if gaps and not (MISSING_HEADING in text and all(f"- `{id}`: " in text for id in gaps)):
        yield "a gap is not in the answer's text"
    if not 0 <= answer.metrics.critical_path_s <= answer.metrics.makespan_s + EPSILON_S:
        yield f"the critical path is longer than the run: {answer.metrics}"
    yield from _status(recording, answer, done=len(missing) < len(ends))


def _status(recording: Recording, answer: Answer, *, done: bool) -> Iterator[str]:
    stopped = recording.state.finished_s is not None and recording.stopped
    right = "cancelled" if stopped else "partial" if done else "failed"
    right = right if answer.gaps else "complete"
    if answer.status != right:
        yield f"the answer is {answer.status} where it should be {right}"
    if (answer.ended_by == "person") != (stopped and bool(answer.gaps)):
        yield f"the answer was ended by {answer.ended_by}"
