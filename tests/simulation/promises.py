"""What every run promises, checked at its end: each broken promise is one line.

The rules of the log are in `log`; here is what holds between the log, the state, the answer, the
workers and the event loop.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

from leadhand.contracts.answer import MISSING_HEADING
from leadhand.contracts.earlier import PREVIOUS
from leadhand.contracts.events import (
    Event,
    PlanRejected,
    RunFinished,
    RunResumed,
    RunStarted,
    TaskDispatched,
    TaskEvent,
    WorkerStuck,
    dump,
    parse,
    unnested,
)
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.team import Team, Worker
from leadhand.engine.attempts import GRACE_S
from leadhand.engine.shared_workers import SUSPECT_CRASHES
from leadhand.models.ledger import NOTHING, nano_usd
from leadhand.run.questions import open_questions
from leadhand.state.fold import apply, find_task, fold
from leadhand.state.run_state import RunState
from tests.simulation.breakers import second_results
from tests.simulation.drive import spent
from tests.simulation.kinds import planned, told_of_earlier
from tests.simulation.log import ENDINGS, EPSILON_S, Log
from tests.simulation.recording import Recording
from tests.simulation.waiting import waits

ANSWER_S = 0.5
"""How long after its deadline, or after it was told to stop, a run may take to its answer."""


def broken(recording: Recording) -> list[str]:
    """Every promise that the run did not keep."""
    if recording.journal.lost:
        return [*_before(recording), *recording.noticed, *_end(recording)]
    logs: dict[tuple[str, ...], Log] = {}
    dispatched: dict[int, Worker] = {}
    seconds = second_results(recording.events, recording.returned)
    return [
        *_before(recording),
        *recording.noticed,
        *_order(recording),
        *rules(recording.events, recording.scenario.team, logs, dispatched, seconds),
        *_slots(recording, dispatched),
        *_alone(recording, dispatched),
        *_told(recording, logs),
        *_revised(recording),
        *_end(recording),
        *_state(recording, logs),
        *_answer(recording, logs),
        *waits(recording),
        *planned(recording),
        *_spent(recording),
    ]


def _before(recording: Recording) -> Iterator[str]:
    """Every process kept its promises, as far as it got."""
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


def rules(
    events: Sequence[Event],
    team: Team,
    logs: dict[tuple[str, ...], Log],
    dispatched: dict[int, Worker],
    seconds: Mapping[int, Sequence[str]],
) -> Iterator[str]:
    """Every event is allowed by those before it, in the run and in each nested one.

    Fills `logs`, by the tasks around a run, and `dispatched`; `seconds` is of `second_results`.
    """
    for event in events:
        for way in seconds.get(event.seq - 1, ()):
            *within, id = way.split("/")
            around = logs[tuple(within)]
            around.breaker(around.tasks[id].worker).succeeded()
        own, log = event, logs.get(event.within)
        while own.within:
            own = unnested(own)
        if isinstance(event, RunStarted):
            yield from _begins(logs, event)
            log = _began(team, logs, event)
        if log is None:
            yield f"event {event.seq} is of a run that never began"
            continue
        yield from (f"event {event.seq}, {_name(event)}: {rule}" for rule in log.read(own))
        if isinstance(event, TaskDispatched):
            worker = log.team.worker(event.worker)
            if worker is None:
                yield f"event {event.seq}: {event.worker} is not in the team"
            else:
                dispatched[event.seq] = worker
        if event.within:
            outer, id = logs[event.within[:-1]], event.within[-1]
            if id not in outer.tasks or not outer.tasks[id].running:
                yield f"event {event.seq}, {_name(event)}: the task around it does not run"


def _began(team: Team, logs: dict[tuple[str, ...], Log], event: RunStarted) -> Log | None:
    if event.within:
        outer = logs[event.within[:-1]]
        around = outer.tasks[event.within[-1]]
        worker = outer.team.worker(around.worker)
        if worker is None or worker.team is None:
            return None
        logs[event.within] = Log(
            worker.team,
            attempt_around=(around, around.attempts, around.worker),
            within=event.within,
            # What is broken down has the workers of the run around it.
            way=outer.way if around.worker == SUBPLANNER else (*outer.way, around.worker),
            breakers=outer.breakers,
        )
    else:
        logs[()] = Log(team)
    return logs[event.within]


def _begins(logs: dict[tuple[str, ...], Log], event: RunStarted) -> Iterator[str]:
    """A team begins a task anew at each attempt or when it is reassigned, and at no other time."""
    known = logs.get(event.within)
    if known is None:
        return
    if known.attempt_around is None:
        yield f"event {event.seq}: the run begins for a second time"
        return
    around = logs[event.within[:-1]].tasks[event.within[-1]]
    task, attempt, worker = known.attempt_around
    if around is task and (around.attempts, around.worker) == (attempt, worker):
        yield f"event {event.seq}: the team begins anew what it had begun already"


def _name(event: Event) -> str:
    return f"{event.type} {event.task_id}" if isinstance(event, TaskEvent) else event.type


def _slots(recording: Recording, dispatched: dict[int, Worker]) -> Iterator[str]:
    """Never more at once than the run, or a worker, may have.

    A place is taken by a dispatch, and free again once the worker has returned or was let go of.
    """
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
        if event.seq not in dispatched or not isinstance(event, TaskDispatched):
            continue
        worker = dispatched[event.seq]
        holding[event.task_id, event.attempt] = (event.within, worker)
        teams = Counter(within for within, one in holding.values() if one.team is not None)
        if len(holding) - teams.total() > most:
            yield f"event {event.seq}: {len(holding) - teams.total()} tasks at once, of {most}"
        if max(teams.values(), default=0) > most:
            yield f"event {event.seq}: {max(teams.values())} teams at once, of {most}"
        same = sum(1 for _, one in holding.values() if one is worker)
        if worker.concurrency is not None and same > worker.concurrency:
            yield f"event {event.seq}: {worker.name} has {same} tasks of {worker.concurrency}"


def _alone(recording: Recording, dispatched: dict[int, Worker]) -> Iterator[str]:
    """A task that was in flight at two crashes in a row has all workers to itself."""
    state = RunState()
    working: dict[tuple[str, int], bool] = {}
    returned = iter([*recording.returned, (len(recording.events) + 1, "", 0)])
    seq, way, attempt = next(returned)
    for event in recording.events:
        while seq < event.seq:
            working.pop((way, attempt), None)
            seq, way, attempt = next(returned)
        if isinstance(event, (*ENDINGS, WorkerStuck)):
            working.pop((event.task_id, event.attempt), None)
        elif isinstance(event, RunResumed) and not event.within:
            working.clear()
        elif isinstance(event, TaskDispatched) and dispatched[event.seq].team is None:
            _, task = find_task(state, event.task_id)
            suspect = task is not None and task.crashes >= SUSPECT_CRASHES
            if working and (suspect or any(working.values())):
                yield f"event {event.seq}: {event.task_id} was started beside {[*working]}"
            working[event.task_id, event.attempt] = suspect
        apply(state, event)


def _concurrency(recording: Recording) -> dict[int, int]:
    """How many tasks may run at once, by the first event of each process."""
    found: dict[int, int] = {}
    one: Recording | None = recording
    while one is not None:
        before = one.before
        first = len(before.events) + 1 if before is not None else 1
        found.setdefault(first, one.scenario.concurrency)
        one = before
    return found


def _told(recording: Recording, logs: dict[tuple[str, ...], Log]) -> Iterator[str]:
    """Every worker is told how each task that it depends on has ended, and given its output."""
    last = {(way, handoff.attempt): handoff for _, way, handoff in recording.given}
    for (way, _), handoff in last.items():
        within, _, id = way.rpartition("/")
        log = logs[tuple(within.split("/")) if within else ()]
        # Of a nested run that was begun anew, only the last log is at hand.
        needs = log.needs_at.get((id, handoff.attempt))
        own = [one for one in handoff.context if not one.task_id.startswith(("../", PREVIOUS))]
        if needs is None or (within and log.finished is False):
            continue
        known = log.known(id)
        # Of a task that began early and was planned anew, only the last plan is at hand.
        if not within and (known is None or handoff.attempt > known.forgiven):
            yield from told_of_earlier(recording, known, handoff)
        if not within and [(one.task_id, one.status) for one in own] != needs:
            yield f"{way}, attempt {handoff.attempt}, was told of {own}, not of {needs}"
        for one in own:
            if (one.why_missing is None) != (one.status == "completed"):
                yield f"{way} was not told why {one.task_id} is missing"
            if (one.task_id in handoff.inputs) != (one.status == "completed"):
                yield f"{way} was not given what {one.task_id} found, or more than that"


def _revised(recording: Recording) -> Iterator[str]:
    """While the plan is being revised, nothing new starts."""
    for event in recording.events:
        if (
            isinstance(event, TaskDispatched)
            and not event.within
            and any(a < event.seq <= b for a, b in recording.revised)
        ):
            yield f"event {event.seq}, {_name(event)}: started while the plan was revised"


def _end(recording: Recording) -> Iterator[str]:
    """The run comes to its end in time, and nothing of it goes on."""
    made, ended_s = recording.scenario, recording.ended_s
    yield from (f"{one} is left after the run" for one in recording.left)
    if recording.error is not None and not recording.was_cancelled:
        yield f"the run raised {recording.error!r}"
    due = [] if made.deadline_s is None else [made.deadline_s]
    if made.ends is not None:
        due.append(made.ends[1])
    if due and ended_s > min(due) + ANSWER_S + EPSILON_S:
        yield f"the run took {ended_s:.2f} s and was to end after {min(due):.2f} s"
    if not recording.whole and due and ended_s > min(due) + GRACE_S * 2 + EPSILON_S:
        yield f"the scheduler took {ended_s - min(due):.2f} s to stop"


def _state(recording: Recording, logs: dict[tuple[str, ...], Log]) -> Iterator[str]:
    """The state is the fold of the events, and says of every task what the log says."""
    folded, live = fold(recording.events), recording.state
    for one in fields(RunState):
        if getattr(folded, one.name) != getattr(live, one.name):
            yield f"`{one.name}` of the state is not what follows from the events"
    log = logs.get(())
    if log is None:
        return
    asked = open_questions(live)
    if log.tasks.keys() != live.tasks.keys() or log.retired.keys() != live.retired.keys():
        yield f"the state has {[*live.tasks]}, and the log {[*log.tasks]}"
    for id, task in live.tasks.items():
        if not live.tasks.keys() >= {*task.task.depends_on}:
            yield f"{id} needs a task that is not in the plan any more"
        if not task.ended and not asked:
            yield f"{id} is {task.status} for ever"
        elif task.status == "running" and id in log.tasks and log.tasks[id].running:
            pass  # a plan within it waits for a person
        elif id in log.tasks and log.tasks[id].status != task.status:
            yield f"{id} is {task.status} in the state and {log.tasks[id].status} in the log"
    if live.plan is not None and recording.error is None and not live.tasks:
        yield "a plan, and no tasks"


def _answer(recording: Recording, logs: dict[tuple[str, ...], Log]) -> Iterator[str]:
    """The answer accounts for every task, by its result or as a gap."""
    answer = recording.answer
    if answer is None:
        if recording.whole and not recording.was_cancelled:
            yield "there is no answer"
        return
    if answer.waiting or recording.state.plan is None:
        return
    last = recording.events[-1]
    if not isinstance(last, RunFinished) or last.answer != answer:
        yield "the answer is not the last word of the log"
    tasks = logs[()].tasks
    if {one.id: one.status for one in answer.tasks} != {id: s.status for id, s in tasks.items()}:
        yield "the answer's tasks are not those of the log"
    gaps = {gap.task_id for gap in answer.gaps}
    missing = {id for id, seen in tasks.items() if seen.status != "completed"}
    known = recording.state.tasks.items()
    doubted = {id for id, task in known if task.status == "completed" and task.error}
    if logs[()].rounds.has_gap != ("plan" in gaps):
        yield f"the gaps are {sorted(gaps)}, and the rounds ended as {logs[()].rounds.end}"
    if logs[()].rounds.awaits_decision and answer.ended_by is None:
        yield "nothing ended the run, and the planner was not asked what is next"
    if not 0 <= answer.metrics.critical_path_s <= answer.metrics.makespan_s + EPSILON_S:
        yield f"the critical path is longer than the run: {answer.metrics}"
    own = {id for id in gaps if "/" not in id and id not in ("synthesis", "plan")}
    open_ = (c for c in answer.conflicts if c.kind == "contradiction" and not c.resolution)
    lacking = missing | doubted | _not_amended(recording)
    lacking |= {one.task_ids[0] for one in open_ if "/" not in one.task_ids[0]}
    if lacking != own:
        yield f"the gaps are {sorted(gaps)}: {sorted(lacking)} have no result, or a doubted one"
    for id in gaps:
        outer, _, inner = id.partition("/")
        if inner and tasks[outer].status != "completed":
            yield f"the gap {id} is counted twice"
    if len(gaps) != len(answer.gaps):
        yield "a gap is named twice"
    text = answer.answer
    if gaps and not (MISSING_HEADING in text and all(f"- `{id}`: " in text for id in gaps)):
        yield "a gap is not in the answer's text"
    yield from _status(recording, done=len(missing) < len(tasks), gaps=bool(gaps))


def _not_amended(recording: Recording) -> set[str]:
    """The tasks that asked for another plan where the approved one had to stay as it is."""
    found: set[str] = set()
    for event in recording.events:
        if isinstance(event, RunResumed) and not event.within:
            found -= {*event.again}
        elif isinstance(event, PlanRejected) and not event.within and event.missing is not None:
            found.add(event.task_id or "plan")
    return found


def _status(recording: Recording, *, done: bool, gaps: bool) -> Iterator[str]:
    answer, state = recording.answer, recording.state
    if answer is None:
        return
    stopped = state.finished_s is not None and recording.stopped
    right = "complete" if not gaps else "cancelled" if stopped else "partial" if done else "failed"
    if answer.status != right:
        yield f"the answer is {answer.status} where it should be {right}"
    if (answer.ended_by == "person") != (stopped and gaps):
        yield f"the answer was ended by {answer.ended_by}"


def _spent(recording: Recording) -> Iterator[str]:
    """No process makes a call that the budget has no room for, whoever has spent it."""
    before = recording.before
    budget = recording.scenario.budget
    if budget is None:
        return
    past = spent(before.events) if before is not None else NOTHING
    now = spent(recording.events)
    if now == past:
        return
    if budget.requests is not None and now.requests > budget.requests:
        yield f"{now.requests} requests were made, of {budget.requests}"
    if budget.tokens is not None and past.tokens >= budget.tokens:
        yield f"{budget.tokens} tokens were used up before, and others were used"
    if budget.usd is not None and past.nano_usd >= nano_usd(budget.usd):
        yield f"{budget.usd} $ were used up before, and others were spent"
