"""The state of a run and of its tasks; only `fold.apply` changes it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from leadhand.contracts.answer import Answer, Conflict, TaskStatus
from leadhand.contracts.budget import Budget, LimitName
from leadhand.contracts.events import ApprovalRequested, OpinionJudged
from leadhand.contracts.outcome import (
    NO_USAGE,
    Escalated,
    Failed,
    PausedAttempt,
    Result,
    Usage,
    with_location,
)
from leadhand.contracts.people import Occasion, Reply
from leadhand.contracts.planner_kinds import AsksAfter, RoundsEnd
from leadhand.contracts.summary import RunStatus
from leadhand.contracts.task import EarlierResult, EarlierRun, Plan, Task
from leadhand.state.times import CallTimes, PersonTime

if TYPE_CHECKING:
    # Listing runs needs no teams, whose import takes longer than all of it.
    from leadhand.contracts.team import Team

Phase = Literal["planning", "working", "synthesizing", "finished"]
Binding = Literal["free", "asks", "fixed"]
"""Whether a plan may be amended: yes, after a person has approved the amendment, or not at all."""


@dataclass(slots=True)
class TaskState:
    """Times are in seconds from the start of the run."""

    id: str = field(init=False)
    task: Task
    worker: str
    """The worker of the current or last attempt: the plan's, unless the task was reassigned."""
    status: TaskStatus | Literal["pending", "running"] = "pending"
    attempts: int = 0
    tried: tuple[str, ...] = ()
    """The worker of each attempt, in order."""
    timeouts: int = 0
    """Attempts that timed out and that another attempt followed."""
    dispatched_s: float = 0.0
    started_s: float | None = None
    finished_s: float | None = None
    busy_s: float = 0.0
    """All its attempts together, without the waits between them."""
    worked_s: float = 0.0
    """The work of its attempts, without their waits for rates, event loop or interpreter."""
    worked_high_s: float = 0.0
    """The most that it can have been, where waits can't be told from work."""
    path_s: float = 0.0
    """The longest chain of work in it: its attempts, and the delays before retries."""
    nested_path_s: float = 0.0
    """How much of that is of `nested`: a nested run that is resumed has counted its past."""
    retry_in_s: float = 0.0
    failed_s: float = 0.0
    """When the attempt before that delay failed."""
    usage: Usage = NO_USAGE
    called: bool = False
    """Whether the current or last attempt recorded a model call."""
    result: Result | None = None
    """Without a result, the best partial result."""
    error: str | None = None
    """Why it is not completed, or why its result was accepted although doubtful."""
    where: str | None = None
    """`file:line` of the exception behind `error`, for people; models do not see it."""
    first: Result | None = None
    """The result for which a second opinion was requested."""
    opinions: OpinionJudged | None = None
    """The second opinion, and which of the two was taken."""
    refined: bool = False
    """Whether its intent was refined."""
    unresolved: Escalated | Failed | None = None
    """The outcome of its last attempt, until a decision follows."""
    reply: Reply | None = None
    """A person's reply about that."""
    allowed: tuple[str, ...] = ()
    """The keys of the tool calls that a person approved."""
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """The keys of the tool calls that a person refused, each with its reason."""
    refusals: tuple[str, ...] = ()
    """The same for people: which call was refused by whom, and why, in a line each."""
    unmade: tuple[tuple[str, str], ...] = ()
    """Approved calls that could not be made and were not replaced: tool, and a line like these."""
    paused: PausedAttempt | None = None
    """An attempt that waits for a person's reply about tool calls or continues after one."""
    interrupted: bool = False
    """Whether its last attempt was stopped, or lost with its process. A resumed run makes it
    again, and it does not count twice."""
    resumable: bool = False
    """Whether the next or current attempt began before the run was resumed."""
    retryable: bool = False
    """Whether the budget or an outage failed it, so that a resumed run tries it again."""
    uncounted: int = 0
    """Attempts that do not count against its limit, because they ended in an outage."""
    splits: int = 0
    """How many splits led from a task of the plan to this one."""
    attempts_before: int = 0
    """Attempts at the tasks that were split into it."""
    crashes: int = 0
    """How often in a row the process died while it ran, with nothing committed since dispatch."""
    nested: "RunState | None" = None
    """The current or last nested run, if its worker is a team."""
    planned_s: float | None = None
    """Seconds of planning before it could start; None: it had to wait for the whole plan."""
    round: int = 0
    """The round that added it to the plan; 0 unless the planner is stepwise."""
    seen_in: int = 0
    """The first round whose decision, failed or not, followed from its result; 0: none."""

    def __post_init__(self) -> None:
        self.id = self.task.id

    @property
    def not_done(self) -> tuple[str, ...]:
        return (*self.refusals, *(line for _, line in self.unmade))

    @property
    def why(self) -> str | None:
        return None if self.error is None else with_location(self.error, self.where)

    @property
    def waits_for_approval(self) -> bool:
        return self.paused is not None and self.paused.replies is None

    @property
    def next_attempt(self) -> int:
        return self.attempts + (self.paused is None)

    @property
    def ended(self) -> bool:
        return self.status != "pending" and self.status != "running"


@dataclass(slots=True)
class RunState:
    run_id: str = ""
    team: str = ""
    request: str = ""
    engine: str = ""
    deadline_s: float | None = None
    """Seconds that it had when it was started or resumed last; `None`: no limit."""
    due_s: float | None = None
    """Seconds into the run when the answer is due."""
    started_s: float = 0.0
    """When it started: 0, but in the log of the run around a nested one."""
    resumed_s: float = 0.0
    """Seconds into the run when it was resumed last: its deadline counts from then."""
    budget: Budget | None = None
    accounts: dict[str, Budget] = field(default_factory=dict[str, Budget])
    """The shared budgets from which it has reserved, by the keys of their notes."""
    own_limits: tuple[LimitName, ...] = ()
    """Which of the two the run was given itself; the others were its supervisor's."""
    approve: tuple[Occasion, ...] | None = None
    """When a person is asked, if the run was given that itself."""
    inputs: tuple[str, ...] = ()
    uploads: tuple[str, ...] = ()
    after: tuple[EarlierRun, ...] = ()
    """The runs that it follows, the latest first."""
    earlier: dict[str, EarlierResult | EarlierRun] = field(
        default_factory=dict[str, EarlierResult | EarlierRun]
    )
    """By the name that tasks have for it in `artifacts`."""
    nonce: str = ""
    origin: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    has_context: bool = False
    prompts: str = ""
    """A digest of the prompts that its models are sent."""
    fingerprint: str = ""
    """A digest of what was asked for; empty if an older release started the run."""
    phase: Phase = "planning"
    seq: int = 0
    proposed: Plan | None = None
    """The last proposed plan, unless it was rejected."""
    proposed_by: str = ""
    """Who made the last proposed plan, rejected or not: `person` or the planner's name."""
    planned_by: str = ""
    """The same of the plan before its amendments."""
    proposed_why: str = ""
    """Which step of a router chose the workers of that plan and why, or why no model made it."""
    proposed_for: str | None = None
    """The task that caused `proposed`, if it is an amendment."""
    reply: Reply | None = None
    """A person's reply to it, until a decision follows."""
    amend: bool = True
    """Whether the plan may be amended at all."""
    approved: bool = False
    unamended: dict[str, str] = field(default_factory=dict[str, str])
    """What is missing because the plan is binding, by the task that asked for it."""
    asked_s: float = 0.0
    """When a person was asked about it."""
    plan: Plan | None = None
    problems: tuple[str, ...] = ()
    """Problems of the last rejected plan, or warnings of the accepted one."""
    tasks: dict[str, TaskState] = field(default_factory=dict[str, TaskState])
    """By id, in plan order; parts of a split task and added ones follow."""
    early: dict[str, Task] = field(default_factory=dict[str, Task])
    """The tasks that could start before there was a plan, as they were planned."""
    early_told: tuple[str, ...] = ()
    """Those of them that the planner is told of, as it is asked again after the first resume."""
    retired: dict[str, TaskState] = field(default_factory=dict[str, TaskState])
    """Tasks that are no longer in the plan: split or dropped."""
    dispatched: int = 0
    repeated: int = 0
    """Failed attempts that another attempt followed."""
    revisions: int = 0
    """How often a revision of the plan was considered, amended or not."""
    planned_s: float = 0.0
    """When the plan was accepted."""
    planning_s: float = 0.0
    """The work of planning, without waits for people or rates."""
    calls: CallTimes = field(default_factory=CallTimes)
    """Model calls of the phase that belong to no attempt."""
    asking_s: float = 0.0
    """How long a person took to reply about the plan."""
    person_time: PersonTime = field(default_factory=PersonTime)
    """How long it did nothing but wait for a person."""
    worked_s: float = 0.0
    """Other work before this phase: consultations, earlier syntheses, attempts done again."""
    worked_high_s: float = 0.0
    usage: Usage = NO_USAGE
    answered: frozenset[str] = frozenset()
    """The roles for which a model gave a usable response."""
    call_errors: dict[str | None, str] = field(default_factory=dict[str | None, str])
    """Why the last call to a model gave no response, by task; None: of a role. Empty if it did."""
    models: dict[str, str] = field(default_factory=dict[str, str])
    synthesis_started_s: float | None = None
    finished_s: float | None = None
    decided_by: str = ""
    """The stepwise planner that made the last decision; empty for planners of other kinds."""
    rounds: tuple[str, ...] = ()
    """The reasons of a stepwise planner's decisions so far; empty for planners of other kinds."""
    asks_after: AsksAfter = "all"
    """After which of the awaited tasks the planner is asked again."""
    awaited: tuple[str, ...] = ()
    """The tasks that the last decision started, or, if it started none, that it waits for."""
    rounds_end: RoundsEnd | None = None
    """Why the planner is not asked again; None: it is, if it is stepwise."""
    rounds_why: str = ""
    """The reason, if the planner was not done."""
    deciding: Usage = NO_USAGE
    """The planner's usage since its last decision."""
    deciding_calls: CallTimes = field(default_factory=CallTimes)
    """The planner's calls since then."""
    decisions_s: dict[int, float] = field(default_factory=dict[int, float])
    """The work of deciding a round, by its number: of those after the first."""
    unapproved: tuple[Task, ...] | None = None
    """The tasks of the last decision, while they wait for a person's approval."""
    impacts: tuple[str, ...] = ()
    """Tasks whose results have a plan impact that was not considered yet."""
    questions: dict[str | None, ApprovalRequested] = field(
        default_factory=dict[str | None, ApprovalRequested]
    )
    """Open questions to a person, by task; `None`: about the plan."""
    stuck: tuple[str, ...] = ()
    """Messages about workers that blocked the loop or ignored their cancellation."""
    conflicts: tuple[Conflict, ...] = ()
    """Results that disagree, with their judgements, if any."""
    dismissed: tuple[Conflict, ...] = ()
    """Those that the judge found not to contradict each other."""
    answer: Answer | None = None
    waiting: Answer | None = None
    """The answer so far, while the run has stopped to wait for a person."""
    queued: bool = False
    """Whether it waits for its turn."""
    stopped: bool = False
    """Whether it was told to stop since it was started or resumed."""

    def status(self, *, held: bool, asks: bool) -> RunStatus:
        """The run's status: `held` if a process works on it, `asks` if a question is open."""
        if self.answer is not None and not self.answer.waiting:
            return self.answer.status
        if self.waiting is not None:
            return "waiting"
        if held:
            return "running"
        # An older release did not record that a run stopped to wait.
        return "waiting" if asks and not self.fingerprint else "interrupted"

    @property
    def binding(self) -> Binding:
        if not self.amend:
            return "fixed"
        return "asks" if self.approved else "free"

    @property
    def amendment_open(self) -> bool:
        """Whether a person is asked about an amendment, or replied without a decision yet."""
        return self.proposed_for is not None and (None in self.questions or self.reply is not None)

    @property
    def has_work(self) -> bool:
        """Whether a task has not ended, or more may follow. O(tasks)."""
        ended = all(task.ended for task in self.tasks.values())
        return not ended or self.amendment_open or self.rounds_open

    @property
    def round(self) -> int:
        """Decisions of a stepwise planner so far."""
        return len(self.rounds)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The tasks that ended since the last decision. O(tasks)."""
        ended = (task for task in self.tasks.values() if task.ended)
        return tuple(task.id for task in ended if not 0 < task.seen_in <= self.round)

    @property
    def rounds_open(self) -> bool:
        """Whether a stepwise planner has more to decide."""
        goes_on = self.rounds_end is None or self.unapproved is not None
        return self.plan is not None and self.round > 0 and goes_on

    @property
    def round_is_due(self) -> bool:
        """Whether a stepwise planner has to decide now. O(awaited tasks)."""
        if not self.rounds or self.plan is None or self.unapproved is not None:
            return False
        if self.impacts and self.rounds_end in (None, "done"):
            return True  # a result says that what was decided no longer fits
        ends = [self.tasks[id].ended for id in self.awaited]
        return self.rounds_end is None and (all(ends) or (self.asks_after == "first" and any(ends)))

    @property
    def standing_plan(self) -> Plan | None:
        """The plan with its present tasks, after splits and amendments. O(tasks)."""
        if self.plan is None or not (self.retired or self.revisions or self.round > 1):
            return self.plan
        tasks = tuple(task.task for task in self.tasks.values())
        max_rounds = self.plan.max_rounds if self.rounds_open else None
        return self.plan.model_copy(update={"tasks": tasks, "max_rounds": max_rounds})


def find_task(state: RunState, id: str) -> tuple[tuple[str, ...], TaskState | None]:
    """The task with an id, which may be a path such as `legal/t1`, and the tasks around it."""
    task = state.tasks.get(id)
    if task is not None or "/" not in id:
        return (), task
    for outer, holder in state.tasks.items():
        if holder.nested is not None and id.startswith(f"{outer}/"):
            within, task = find_task(holder.nested, id.removeprefix(f"{outer}/"))
            if task is not None:
                return (outer, *within), task
    return (), None


def crashes(state: RunState, team: "Team") -> dict[str, int]:
    """The crashes in a row of each task, including the end of the last process.

    Unless the run was stopped, that process crashed with all running tasks. A crash in a nested
    team counts only for the inner tasks.
    """
    found = known_crashes(state)
    return found if state.stopped else {**found, **dict(_one_more(state, team))}


def known_crashes(state: RunState) -> dict[str, int]:
    """The recorded crashes in a row of each task, nested ones too."""
    found: dict[str, int] = {}
    for id, task in state.tasks.items():
        if task.crashes:
            found[id] = task.crashes
        if task.nested is not None and (task.interrupted or not task.ended):
            inner = known_crashes(task.nested)
            found |= {f"{id}/{path}": count for path, count in inner.items()}
    return found


def _one_more(state: RunState, team: "Team") -> Iterator[tuple[str, int]]:
    for id, task in state.tasks.items():
        if task.status != "running":
            continue
        worker = team.worker(task.worker)
        inner = worker.team if worker is not None else None
        if inner is None:
            yield id, task.crashes + 1
        elif task.nested is not None:
            yield from ((f"{id}/{path}", n) for path, n in _one_more(task.nested, inner))
