"""What is known of a run and of its tasks; it changes by events alone, in `state`. Pure."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from leadhand.breaker import Breaker
from leadhand.contracts.answer import Answer, Conflict, TaskStatus
from leadhand.contracts.budget import Budget
from leadhand.contracts.outcome import NO_USAGE, Escalated, Failed, Result, Usage
from leadhand.contracts.people import Reply
from leadhand.contracts.task import Plan, Task

Phase = Literal["planning", "working", "synthesizing", "finished"]


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
    dispatched_s: float = 0.0
    """When the last attempt started."""
    started_s: float | None = None
    finished_s: float | None = None
    busy_s: float = 0.0
    """All its attempts together, without the waiting between them."""
    usage: Usage = NO_USAGE
    """What all its attempts used together."""
    called: bool = False
    """Whether the attempt that runs now, or ran last, called a model that we know of."""
    result: Result | None = None
    """What it gave; of a task that did not complete, the best partial result it left."""
    error: str | None = None
    """Why it is not completed, or why its result was accepted with a doubt."""
    first: Result | None = None
    """The result that a second opinion was asked on."""
    refined: bool = False
    """Whether its intent was put in other words."""
    doubt: Escalated | Failed | None = None
    """How its last attempt ended, as long as it is not decided what follows."""
    heard: Reply | None = None
    """What a person said about that."""
    allowed: tuple[str, ...] = ()
    """The keys of the tool calls that a person has allowed."""
    interrupted: bool = False
    """Whether its last attempt was stopped, or lost with its process: it may be made once more.
    Once the run is resumed that is the next one, and it does not count twice."""
    goes_on: bool = False
    """Whether the attempt that comes next, or runs now, was begun before the run was resumed."""
    may_pass: bool = False
    """Whether what it ended with may pass: a budget that did not reach for it, or an outage. Once
    the run is resumed it is tried again."""
    uncounted: int = 0
    """Attempts that count no more against those that it may have, as they ended in an outage."""
    splits: int = 0
    """How many splits led from a task of the plan to this part; 0 for the plan's own."""
    attempts_before: int = 0
    """Attempts at the tasks that it is a part of."""
    nested: "RunState | None" = None
    """The run of the team that does it, or did last, where a team does."""

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
    phase: Phase = "planning"
    seq: int = 0
    """Of the last event."""
    proposed: Plan | None = None
    """The plan that was proposed last, unless it was rejected."""
    heard: Reply | None = None
    """What a person said to it, as long as nothing followed."""
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
    breakers: dict[str, Breaker] = field(default_factory=dict[str, Breaker])
    """By worker; who works well has none."""
    planned_s: float = 0.0
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

    @property
    def standing_plan(self) -> Plan | None:
        """The plan with its tasks as they are now, after splits and amendments. O(tasks)."""
        if self.plan is None or not (self.retired or self.revisions):
            return self.plan
        return self.plan.model_copy(update={"tasks": tuple(t.task for t in self.tasks.values())})
