"""What is known of a run and of its tasks; it changes by events alone, in `state`. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from leadhand.contracts.answer import Answer, Conflict, TaskStatus
from leadhand.contracts.budget import Budget
from leadhand.contracts.outcome import NO_USAGE, Escalated, Failed, Result, Usage, with_location
from leadhand.contracts.people import Reply
from leadhand.contracts.task import Plan, Task

if TYPE_CHECKING:
    # A list of runs is read without knowing teams, which weigh more than all of it.
    from leadhand.contracts.team import Team

Phase = Literal["planning", "working", "synthesizing", "finished"]
Binding = Literal["free", "asks", "fixed"]
"""Whether a plan may be amended: yes, after a person has approved the amendment, or not at all."""


@dataclass(slots=True)
class CallTimes:
    """Model calls of one phase, and how much of it they and their waiting fill."""

    took_s: float = 0.0
    """All of them one after the other, without their waiting."""
    filled: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """When any was under way or waited, in order, apart from each other."""

    def add(self, ended_s: float, *, took_s: float, queued_s: float) -> None:
        """One more, which ended after all the others."""
        self.took_s += took_s
        started_s = ended_s - took_s - queued_s
        while self.filled and self.filled[-1][1] >= started_s:
            started_s = min(started_s, self.filled.pop()[0])
        self.filled.append((started_s, ended_s))

    def worked_s(self, phase_s: float) -> float:
        """What a phase of that length took, its calls one after the other and without waiting."""
        return self.took_s + max(0.0, phase_s - sum(end - start for start, end in self.filled))


@dataclass(slots=True)
class TaskState:
    """What is known of one task. Seconds count from the start of the run."""

    task: Task
    worker: str
    """Who works on it now, or did last: the plan's worker unless it was reassigned."""
    status: TaskStatus | Literal["pending", "running"] = "pending"
    attempts: int = 0
    """Attempts that were started."""
    tried: tuple[str, ...] = ()
    """The worker of each attempt, in order."""
    timeouts: int = 0
    """Attempts that took too long and that others followed."""
    dispatched_s: float = 0.0
    """When the last attempt started."""
    started_s: float | None = None
    finished_s: float | None = None
    busy_s: float = 0.0
    """All its attempts together, without the waiting between them."""
    worked_s: float = 0.0
    """What its attempts took themselves, without their waiting for rates, loop or interpreter."""
    worked_high_s: float = 0.0
    """The most that they can have taken, where waiting can't be told from work."""
    path_s: float = 0.0
    """The longest chain of work in it: its attempts, and the waits before those that were retries.
    """
    retry_in_s: float = 0.0
    """How long the attempt that comes next was to wait after the last one."""
    failed_s: float = 0.0
    """When that one failed."""
    usage: Usage = NO_USAGE
    """What all its attempts used together."""
    called: bool = False
    """Whether the attempt that runs now, or ran last, called a model that we know of."""
    result: Result | None = None
    """What it gave; of a task that did not complete, the best partial result it left."""
    error: str | None = None
    """Why it is not completed, or why its result was accepted with a doubt."""
    where: str | None = None
    """`file:line` of the exception that `error` is about, for people; models are not told."""
    first: Result | None = None
    """The result that a second opinion was asked on."""
    refined: bool = False
    """Whether its intent was put in other words."""
    unresolved: Escalated | Failed | None = None
    """How its last attempt ended, as long as it is not decided what follows."""
    reply: Reply | None = None
    """What a person said about that."""
    allowed: tuple[str, ...] = ()
    """The keys of the tool calls that a person has allowed."""
    interrupted: bool = False
    """Whether its last attempt was stopped, or lost with its process: it may be made once more.
    Once the run is resumed that is the next one, and it does not count twice."""
    resumable: bool = False
    """Whether the attempt that comes next, or runs now, was begun before the run was resumed."""
    retryable: bool = False
    """Whether what it ended with may pass: a budget that did not reach for it, or an outage. Once
    the run is resumed it is tried again."""
    uncounted: int = 0
    """Attempts that count no more against those that it may have, as they ended in an outage."""
    splits: int = 0
    """How many splits led from a task of the plan to this part; 0 for the plan's own."""
    attempts_before: int = 0
    """Attempts at the tasks that it is a part of."""
    crashes: int = 0
    """How many times in a row the process died while it was in flight, and it had committed nothing
    since it was dispatched."""
    nested: "RunState | None" = None
    """The run of the team that does it, or did last, where a team does."""

    @property
    def why(self) -> str | None:
        """Its error as people are told it: with the place where it happened."""
        return None if self.error is None else with_location(self.error, self.where)

    @property
    def ended(self) -> bool:
        """Whether the task is in a final state."""
        return self.status != "pending" and self.status != "running"


@dataclass(slots=True)
class RunState:
    """Everything that is known of a run."""

    run_id: str = ""
    team: str = ""
    request: str = ""
    engine: str = ""
    deadline_s: float | None = None
    """Seconds into the run when the answer is due."""
    budget: Budget | None = None
    inputs: tuple[str, ...] = ()
    nonce: str = ""
    origin: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    prompts: str = ""
    """A digest of the prompts that its models are sent."""
    phase: Phase = "planning"
    seq: int = 0
    """Of the last event."""
    proposed: Plan | None = None
    """The plan that was proposed last, unless it was rejected."""
    proposed_for: str | None = None
    """The task because of which `proposed` would amend the plan; none for a first plan."""
    reply: Reply | None = None
    """What a person said to it, as long as nothing followed."""
    amend: bool = True
    """Whether the plan may be amended at all."""
    approved: bool = False
    """Whether a person approved the plan."""
    unamended: dict[str, str] = field(default_factory=dict[str, str])
    """What is missing because the plan is binding, by the task that said so."""
    asked_s: float = 0.0
    """Since when a person is asked about it."""
    plan: Plan | None = None
    """The accepted plan."""
    problems: tuple[str, ...] = ()
    """Of the plan that was rejected last, or the warnings of the accepted one."""
    tasks: dict[str, TaskState] = field(default_factory=dict[str, TaskState])
    """By id, in plan order; parts of a split task and added ones follow."""
    retired: dict[str, TaskState] = field(default_factory=dict[str, TaskState])
    """Tasks that are no longer of the plan: parts took their place, or they were dropped."""
    dispatched: int = 0
    """Tasks that were started."""
    repeated: int = 0
    """Attempts that failed and that others followed."""
    revisions: int = 0
    """How often the plan was looked at anew, amended or not."""
    planned_s: float = 0.0
    """When the plan was accepted."""
    planning_s: float = 0.0
    """What planning took, without waiting for people or rates."""
    calls: CallTimes = field(default_factory=CallTimes)
    """Model calls of the phase that are part of no attempt."""
    asking_s: float = 0.0
    """How long a person took for the plan."""
    worked_s: float = 0.0
    """What else was done before this phase: consultations, syntheses before the run was resumed,
    attempts at tasks that are now done again from the beginning."""
    worked_high_s: float = 0.0
    """The most that it can have been."""
    usage: Usage = NO_USAGE
    """What the whole run used: planning, every attempt, synthesis."""
    models: dict[str, str] = field(default_factory=dict[str, str])
    """Which model each role and worker would use."""
    synthesis_started_s: float | None = None
    finished_s: float | None = None
    impacts: tuple[str, ...] = ()
    """Tasks whose results say that the plan no longer fits, and nobody has looked at that yet."""
    questions: dict[str | None, str] = field(default_factory=dict[str | None, str])
    """What a person is asked, by the task that it is about; none: the plan."""
    stuck: tuple[str, ...] = ()
    """Workers that blocked the loop or ignored their cancellation, each in one line."""
    conflicts: tuple[Conflict, ...] = ()
    """Contradictions between results, as they were judged, if they were."""
    answer: Answer | None = None
    stopped: bool = False
    """Whether it was told to stop since it was begun or resumed."""

    @property
    def binding(self) -> Binding:
        """Whether the plan may be amended."""
        if not self.amend:
            return "fixed"
        return "asks" if self.approved else "free"

    @property
    def amendment_open(self) -> bool:
        """Whether an amendment was put to a person, and nothing has followed yet."""
        return self.proposed_for is not None and (None in self.questions or self.reply is not None)

    @property
    def standing_plan(self) -> Plan | None:
        """The plan with its tasks as they are now, after splits and amendments. O(tasks)."""
        if self.plan is None or not (self.retired or self.revisions):
            return self.plan
        return self.plan.model_copy(update={"tasks": tuple(t.task for t in self.tasks.values())})


def find_task(state: RunState, id: str) -> tuple[tuple[str, ...], TaskState | None]:
    """The task of that id, which may be a path such as `legal/t1`, and the tasks it is within."""
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
    """The crashes in a row of each task, nested ones too, as of a process that begins now.

    Unless the run was told to stop, its last process died, with whatever was in flight. A crash in
    a nested team counts for the inner tasks alone.
    """
    found = known_crashes(state)
    return found if state.stopped else {**found, **dict(_one_more(state, team))}


def known_crashes(state: RunState) -> dict[str, int]:
    """The crashes in a row of each task, nested ones too, as far as they are written down."""
    found: dict[str, int] = {}
    for id, task in state.tasks.items():
        if task.crashes:
            found[id] = task.crashes
        if task.nested is not None and not task.ended:
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
