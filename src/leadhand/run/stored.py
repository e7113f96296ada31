"""A stored run: its id, what is left to do, and what a follow-up takes from it. Pure."""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leadhand.contracts import events
from leadhand.contracts.events import Event
from leadhand.contracts.task import EarlierResult, EarlierRun
from leadhand.engine.handoffs import beginning, digest
from leadhand.errors import InputError, RunExists
from leadhand.plans.graph import dependants, descendants, order
from leadhand.state.fold import RunState, TaskState, fold

if TYPE_CHECKING:
    # `leadhand show` needs no teams, whose import takes longer than showing the run.
    from leadhand.contracts.team import Team

RUN_ID = re.compile(r"(?!last\Z)[\w:][\w.:-]{0,199}", re.ASCII)
"""A run's id: not an option of a command, and not `last`, the commands' word for the latest run."""

MAX_RUNS = 5
"""How many runs before it a follow-up knows; of a longer chain, the latest."""
MAX_RESULTS = 100
MAX_ANSWER_CHARS = 100_000
MAX_OUTPUT_CHARS = 2_000_000
"""All outputs together, as JSON; the latest run has the first claim."""
_TOO_LONG = "its output of {:,} characters is too long to be handed on"


def check_known_id(run_id: str) -> None:
    """Raises `InputError` for an id that no run can have."""
    if not _is_run_id(run_id):
        raise InputError(f"there is no run {run_id!r:.200}")


def _is_run_id(run_id: object) -> bool:
    return isinstance(run_id, str) and RUN_ID.fullmatch(run_id) is not None


def check_run_id(run_id: str) -> None:
    """Raises `InputError` for an id that a new run can't have."""
    if not _is_run_id(run_id):
        raise InputError(
            f"run_id is {run_id!r:.200}; it may have up to 200 letters, digits and . _ : - "
            "but must not begin with . or -, and not be the word last"
        )


@dataclass(slots=True, eq=False)
class StoredRun:
    """The events of a stored run and the state that follows from them."""

    run_id: str
    events: Sequence[Event] = ()
    state: RunState = field(default_factory=RunState)

    @classmethod
    def of(cls, run_id: str, events: Sequence[Event]) -> "StoredRun":
        """The run with these events. Raises `InputError` if there are none."""
        stored = cls(run_id)
        stored.replace(events)
        return stored

    def replace(self, events: Sequence[Event]) -> None:
        if not events:
            raise InputError(f"there is no run {self.run_id!r}")
        self.events, self.state = events, fold(events)


def check_same_run(state: RunState, team: str, request: str, fingerprint: str) -> None:
    """Raises `RunExists` if the request, or the origin in `fingerprint`, is another."""
    asked, _, origin = fingerprint.partition(".")
    stored, _, known = state.fingerprint.partition(".")
    same = asked == stored and origin in ("", known)
    if not state.fingerprint:  # an older release started it
        same = (state.team, state.request) == (team, request)
    if not same:
        why = (
            "it was started with another request or origin, or follows another: give another run_id"
        )
        raise RunExists(state.run_id, why)


# Resumption


def check_resumable(
    state: RunState, run_id: str, team: "Team", again: Collection[str] = ()
) -> None:
    """Raises `InputError` if the run can't be resumed with `team`, or do the tasks `again`."""
    if state.team != team.name:
        raise InputError(f"run {run_id!r} is of team {state.team!r}, not of {team.name!r}")
    if own_plan_rejected(state):
        raise InputError(
            f"run {run_id!r} can't be resumed: the plan that it was given was rejected "
            f"({'; '.join(state.problems)}); start a new run with a correct plan"
        )
    if state.plan is not None and state.plan.workers:
        # Imported here because it needs teams, as above.
        from leadhand.plans.planned_workers import missing_tools, with_planned_workers

        missing = sorted(missing_tools(state.plan, team))
        if missing:
            raise InputError(
                f"run {run_id!r} can't be resumed: the worker factory of team {team.name!r} has no "
                f"{', '.join(missing)} any more"
            )
        team = with_planned_workers(team, state.plan)
    due = {*tasks_left(state), *again, *(id for id, one in state.tasks.items() if not one.ended)}
    names = {name for id in due for name in (state.tasks[id].worker, state.tasks[id].task.worker)}
    gone = sorted(name for name in names if team.worker(name) is None)
    if gone:
        raise InputError(
            f"run {run_id!r} can't be resumed: team {team.name!r} has no worker "
            f"{', '.join(gone)} any more"
        )
    for id in due - {*again}:
        task = state.tasks[id]
        worker = team.worker(task.worker)
        resumable = task.interrupted or task.resumable or task.status == "running"
        if resumable and task.nested is not None and worker is not None and worker.team is not None:
            check_resumable(task.nested, run_id, worker.team)


def check_decider(state: RunState, run_id: str, own: str) -> None:
    """Raises `InputError` if a planner in code other than the team's `own` has more to decide:
    the team's model must not take over those decisions."""
    undecided = state.rounds_open or state.rounds_end == "failed"
    if undecided and state.decided_by not in ("", "planner", own):
        raise InputError(
            f"run {run_id!r} can't be resumed here: its rounds are decided by "
            f"{state.decided_by!r}, a planner in code; resume it in a program that has it: "
            "Supervisor(team, planner=...)"
        )


def own_plan_rejected(state: RunState) -> bool:
    """Whether the run was given a plan that can't be carried out; no other plan may replace it."""
    return (
        state.answer is None
        and state.plan is None
        and state.proposed is None
        and state.proposed_by == "person"
        and bool(state.problems)
    )


def is_over(state: RunState) -> bool:
    """Whether the run has its answer, and there is nothing that a resumed run could do."""
    answer = state.answer
    if answer is None or answer.ended_by is not None or tasks_left(state):
        return False
    if state.rounds_open or state.rounds_end == "failed":
        return False
    return all(gap.task_id != "synthesis" for gap in answer.gaps)


def tasks_left(state: RunState) -> tuple[str, ...]:
    """The tasks that a resumed run does, in plan order.

    The run ended before them, the budget was used up, an outage failed them, or they were skipped
    because of such tasks.
    """
    tasks = {id: task.task for id, task in state.tasks.items()}
    found: set[str] = set()
    for id in order([*tasks.values()]):
        task = state.tasks[id]
        stopped = task.status in ("cancelled", "running") or (task.retryable and task.ended)
        # Of a skipped task, every result that it lacks would come from one of these.
        needs = (one for one in task.task.depends_on if one not in found)
        later = all(state.tasks[one].status in ("completed", "pending") for one in needs)
        if stopped or (task.status == "skipped" and later):
            found.add(id)
    return tuple(id for id in tasks if id in found)


def failed_for_good(state: RunState) -> tuple[str, ...]:
    """The tasks that failed and that a resumed run does not do again by itself."""
    left = {*tasks_left(state)}
    return tuple(
        id
        for id, task in state.tasks.items()
        if task.status in ("failed", "timed_out", "escalated") and id not in left
    )


def tasks_from(state: RunState, task_id: str) -> tuple[str, ...]:
    """The task and its descendants, in plan order. Raises `InputError` for an unknown task."""
    if task_id not in state.tasks:
        known = (
            f"there are {', '.join([*state.tasks][:10])}" if state.tasks else "it has no plan yet"
        )
        raise InputError(f"run {state.run_id!r} has no task {task_id!r}: {known}")
    after = dependants([task.task for task in state.tasks.values()])
    found = {task_id} | descendants(after, task_id)
    return tuple(id for id in state.tasks if id in found)


def prompts_changed(
    state: RunState, past: Iterable[events.Event], prompts: str, *, again: Collection[str] = ()
) -> bool:
    """Whether models are asked again, with other prompts, what they had answered; not counting
    tasks done `again`, as their models are asked anyway."""
    if state.prompts == prompts:
        return False
    answered: set[tuple[str | None, int]] = set()
    for event in past:
        match event:
            case _ if event.within:
                pass  # a nested run says so itself
            case events.ModelCalled() if event.response is not None:
                answered.add((event.task_id, event.attempt or 0))
            case events.PlanAccepted() | events.SynthesisStarted():
                answered.discard((None, 0))
            case events.RunResumed():
                answered = {call for call in answered if call[0] not in event.again}
            case _:
                pass
    unfinished: set[tuple[str | None, int]] = {
        (id, _next_attempt(task)) for id, task in state.tasks.items() if id not in again
    }
    if state.phase in ("planning", "synthesizing"):
        unfinished.add((None, 0))
    return not unfinished.isdisjoint(answered)


def _next_attempt(task: TaskState) -> int:
    begun = task.interrupted or task.status == "running"
    return task.attempts if begun else task.next_attempt


# Follow-ups


def earlier_runs(state: RunState) -> tuple[EarlierRun, ...]:
    """A run and those that it follows, the latest first. Raises `InputError` without an answer."""
    answer = state.answer or state.waiting
    if answer is None:
        raise InputError(
            f"run {state.run_id!r} has no answer yet, so no run can follow it: wait for it, or "
            "resume it if it was interrupted"
        )
    results = [_result(task) for task in state.tasks.values()]
    last = EarlierRun(
        run_id=state.run_id,
        team=state.team,
        request=state.request,
        status=answer.status,
        answer=answer.answer,
        results=tuple(results[:MAX_RESULTS]),
        left_out=max(len(results) - MAX_RESULTS, 0),
    )
    return bounded_runs((last, *state.after))


def _result(task: TaskState) -> EarlierResult:
    result, done = task.result, task.status == "completed"
    seen = digest(task)
    return EarlierResult(
        task_id=task.id,
        worker=task.worker,
        intent=task.task.intent,
        status=task.status,
        summary=seen.summary,
        excerpt=seen.excerpt,
        output=result.output if result is not None and done else None,
        missing=seen.missing,
        why=seen.why_missing,
    )


def bounded_runs(runs: Sequence[EarlierRun]) -> tuple[EarlierRun, ...]:
    """The first of these runs, with what is kept of their answers and results."""
    left = MAX_OUTPUT_CHARS
    found: list[EarlierRun] = []
    for run in runs[:MAX_RUNS]:
        results: list[EarlierResult] = []
        for one in run.results:
            size = len(json.dumps(one.output, ensure_ascii=False)) if one.output is not None else 0
            if size > left:
                why = _TOO_LONG.format(size)
                one = one.model_copy(update={"output": None, "why": why})
            else:
                left -= size
            results.append(one)
        kept = {"results": tuple(results), "answer": beginning(run.answer, MAX_ANSWER_CHARS)}
        found.append(run.model_copy(update=kept))
    return tuple(found)
