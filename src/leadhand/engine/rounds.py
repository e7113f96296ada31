"""Rounds: a stepwise planner decides, while tasks run, what is next.

It is asked after the first or after all of the tasks of its last decision have ended, as it chose.
Code refuses a task that was asked for before, by worker and normalized intent. If a person approved
the plan, added tasks need their approval too. `GrowingPlan` is a plan that is still being written
while its first tasks run.
"""

import asyncio
import functools
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace

from pydantic import TypeAdapter, ValidationError

from leadhand.contracts import events
from leadhand.contracts.outcome import Outcome, TaskResult
from leadhand.contracts.planner_kinds import Decision, Round, RoundsEnd
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team
from leadhand.engine.amendments import Amendment, added, amended, amendment
from leadhand.engine.attempts import Attempt, Attempts
from leadhand.engine.consultations import Approvals, CallApprovals, Consultations, Proposal
from leadhand.engine.failures import failure_of
from leadhand.engine.recorder import Recorder
from leadhand.engine.recovery import Recovery
from leadhand.engine.run_tasks import RunTasks
from leadhand.errors import ModelError
from leadhand.plans.checks import without_punctuation
from leadhand.ports import Decider
from leadhand.state.fold import RunState

_log = logging.getLogger("leadhand")


@dataclass(slots=True, eq=False)
class Rounds:
    recorder: Recorder
    team: Team
    tasks: RunTasks
    consultations: Consultations
    approvals: Approvals
    decider: Decider | None
    _asked_s: float | None = field(init=False, default=None)
    """When the planner was asked, while it decides."""
    _seen: tuple[str, ...] = field(init=False, default=())

    def resume(self) -> None:
        """Ask again for the approval that was still open when the run was resumed."""
        if self.recorder.state.unapproved is not None:
            self._request_approval(self.recorder.state.unapproved)

    @property
    def is_due(self) -> bool:
        """Whether a round has to be decided, and the planner is not asked yet."""
        return (
            self._asked_s is None
            and self.tasks.stopped is None
            and self.recorder.state.round_is_due
        )

    def consider(self) -> None:
        """Have the next round decided if it is due."""
        state, most = self.recorder.state, self.team.planner.max_rounds
        if not self.is_due:
            return
        self.tasks.impacts.clear()
        if self.decider is None:
            self._end("failed", "the team has no planner that decides what is next")
        elif state.round >= most:
            self._end("limit", f"the planner was not done after {most} rounds, which is the limit")
        else:
            self._asked_s = self.recorder.elapsed_s()
            self.consultations.ask(
                f"decide round {state.round + 1}",
                self._decided_by(self.decider),
                self._decided,
                patiently=True,
            )

    async def _decided_by(self, decider: Decider) -> Decision | str:
        now = next_round(self.recorder.state, self.team)
        self._seen = tuple(sorted(now.new))
        try:
            return checked(await decider.decide(now, problems=self._problems))
        except ModelError as error:
            return str(error)
        except Exception as error:
            # A planner of the user's own may raise anything.
            _log.warning("the planner failed", exc_info=error)
            return f"the planner failed: {failure_of(error).message}"

    def _problems(self, decision: Decision) -> Sequence[str]:
        sound = checked(decision)
        found = (
            (sound,) if isinstance(sound, str) else _added(self.recorder.state, sound, self.team)
        )
        return () if isinstance(found, Amendment) else found

    def _decided(self, decision: Decision | str | None) -> None:
        took_s = self.recorder.elapsed_s() - (self._asked_s or 0.0)
        self._asked_s = None
        if self.tasks.stopped is not None:
            return
        if not isinstance(decision, Decision):
            self._fail(decision or "the planner failed", took_s=took_s)
            return
        found = _added(self.recorder.state, decision, self.team)
        if not isinstance(found, Amendment):
            self._fail("; ".join(found), took_s=took_s)
            return
        asks = bool(found.added) and self.recorder.state.binding == "asks"
        self.recorder.record(
            events.RoundDecided(
                **self.recorder.stamp(),
                round=self.recorder.state.round + 1,
                reason=decision.reason,
                by=self._name,
                tasks=found.added,
                asks_after=decision.asks_after,
                end="done" if decision.done else None,
                needs_approval=asks,
                seen=self._seen,
                took_s=took_s,
            )
        )
        if asks:
            self._request_approval(found.added)
        else:
            self.tasks.amend(found.added, (), ())

    @property
    def _name(self) -> str:
        return self.decider.name if self.decider is not None else "planner"

    def _fail(self, why: str, *, took_s: float) -> None:
        why = f"round {self.recorder.state.round + 1} was not decided: {why}"
        self._end("failed", why, took_s=took_s, seen=self._seen)

    def _end(
        self, end: RoundsEnd, why: str, *, took_s: float | None = None, seen: tuple[str, ...] = ()
    ) -> None:
        """Record why the planner is not asked any more; it is a gap of the answer."""
        self.recorder.record(
            events.RoundDecided(
                **self.recorder.stamp(),
                round=self.recorder.state.round + 1,
                reason=why,
                by=self._name,
                end=end,
                seen=seen,
                took_s=took_s,
            )
        )

    def _request_approval(self, tasks: tuple[Task, ...]) -> None:
        """Ask the person who approved the plan; tasks that run continue."""
        state = self.recorder.state
        after = state.proposed_for if state.amendment_open else None
        task_id = after or max(state.tasks.values(), key=lambda one: one.finished_s or 0.0).id

        def found_in(given: Sequence[Task]) -> Amendment | tuple[str, ...]:
            return amendment(state, given, self.team)

        def plan() -> Plan:
            return amended(state, Amendment(tasks))

        def problems(given: Plan) -> Sequence[str]:
            found = found_in(given.tasks)
            return () if isinstance(found, Amendment) else found

        def then(given: Plan | str) -> None:
            if self.tasks.stopped is not None:
                return
            found = found_in(given.tasks) if isinstance(given, Plan) else (given,)
            if isinstance(found, Amendment):
                reason = state.rounds[-1]
                self.tasks.amend_plan(found, task_id=task_id, reason=reason, by=self._name)
                return
            why = tuple(f"the tasks of round {state.round} do not start: {one}" for one in found)
            stamp = self.recorder.stamp()
            self.recorder.record(events.PlanRejected(**stamp, problems=why, task_id=task_id))

        listed = ", ".join(task.id for task in tasks)
        why = f"Round {state.round} adds {listed}: {state.rounds[-1]}"
        self.approvals.request(Proposal(task_id, why, self._name, plan, problems, then))


def checked(decided: object) -> Decision | str:
    """The decision, with every field's type checked; else what is wrong with it."""
    if not isinstance(decided, Decision):
        return f"the planner gave no Decision but {type(decided).__name__}"
    try:
        fields: dict[str, object] = asdict(replace(decided, tasks=()))
        return _form().validate_python(fields | {"tasks": [dict(one) for one in decided.tasks]})
    except (TypeError, ValidationError) as error:
        found = error.errors()[0] if isinstance(error, ValidationError) else None
        where = ".".join(map(str, found["loc"])) if found else "tasks"
        return f"the planner's decision is not sound: {where}: {found['msg'] if found else error}"


@functools.cache
def _form() -> TypeAdapter[Decision]:
    return TypeAdapter(Decision)


def next_round(state: RunState, team: Team) -> Round:
    """What a stepwise planner sees of a run before its next decision."""
    budget, files = state.budget, len(state.inputs) + len(state.uploads)
    tokens_left, usd_left = None, None
    if budget is not None:
        used, own = state.usage, state.deciding  # the same after a restart within the decision
        if budget.tokens is not None:
            spent = used.input_tokens + used.output_tokens - own.input_tokens - own.output_tokens
            tokens_left = max(budget.tokens - spent, 0)
        if budget.usd is not None and (used.cost_usd is not None or not used.requests):
            usd_left = max(budget.usd - (used.cost_usd or 0.0) + (own.cost_usd or 0.0), 0.0)
    return Round(
        number=state.round + 1,
        max_rounds=team.planner.max_rounds,
        request=state.request,
        inputs=f"{files} files" if files else "",
        after=state.after,
        tasks=tuple(
            TaskResult(one.task, one.worker, one.status, one.result, one.error)
            for one in state.tasks.values()
        ),
        new=frozenset(state.unseen),
        tokens_left=tokens_left,
        usd_left=usd_left,
    )


def _added(state: RunState, decision: Decision, team: Team) -> Amendment | tuple[str, ...]:
    if not decision.tasks:
        runs = any(not task.ended for task in state.tasks.values())
        return Amendment() if decision.done or runs else ("start a task, or say that it is done",)
    known = [one.task for one in (*state.tasks.values(), *state.retired.values())]
    repeated = repeats(decision.tasks, known)
    found = added(state, decision.tasks, team)
    if repeated and not isinstance(found, Amendment):
        return (*repeated, *found)
    return repeated or found


def repeats(tasks: Sequence[Task], known: Sequence[Task]) -> tuple[str, ...]:
    """A problem for each task that asks a worker for the same thing as an earlier one."""
    asked = {_key(task): task.id for task in known}
    found: list[str] = []
    for task in tasks:
        before = asked.get(_key(task))
        asked[_key(task)] = task.id
        if before is not None:
            found.append(
                f"{task.id!r} asks {task.worker} for the same as {before!r}: ask for something "
                "else, or say that it is done"
            )
    return tuple(found)


def _key(task: Task) -> tuple[str, str]:
    """What a task asks of whom, whatever the case, blanks and punctuation."""
    return task.worker, without_punctuation(task.intent)


@dataclass(frozen=True, slots=True, eq=False)
class GrowingPlan:
    """What the planner does to the tasks of a run that has started."""

    state: RunState
    tasks: RunTasks
    attempts: Attempts
    recovery: Recovery
    call_approvals: CallApprovals
    handle: Callable[[Attempt, Outcome | None], None]
    stop: Callable[[str], None]

    @property
    def may_grow(self) -> bool:
        return self.tasks.growing and self.tasks.stopped is None

    def add(self, task: Task) -> None:
        """Start a task that is recorded already, once its dependencies have ended."""
        self.tasks.amend((task,), (), ())

    async def cancel(self, ids: Collection[str], *, reason: str) -> None:
        """Cancel tasks that the plan does not have. Returns once none of them runs."""
        self.tasks.withdraw(ids)
        attempts = [one for id, one in self.attempts.running.items() if id in ids]
        for attempt in attempts:
            self.attempts.request_stop(attempt, reason)
        for id in ids:
            task = self.state.tasks[id]
            if not task.ended and id not in self.attempts.running:
                self.tasks.cancel(id, task.attempts, reason=reason)
        if works := [one.work for one in attempts if one.work is not None]:
            await asyncio.wait(works)  # those that do not stop in time are abandoned
        while self.attempts.ended:
            self.handle(*self.attempts.ended.popleft())

    def accepted(self) -> None:
        self.tasks.adopt()
        if self.tasks.stopped is None:
            self.recovery.resume()
            self.call_approvals.ask_postponed()
        else:
            self.tasks.cancel_waiting(running=self.attempts.running)

    def failed(self, why: str) -> None:
        """There is no plan: what runs may end, and nothing else starts."""
        self.tasks.growing = False
        self.stop(why)
