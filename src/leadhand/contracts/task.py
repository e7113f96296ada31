"""Tasks and plans: what to do, by which worker, after which other tasks.

`EarlierRun` is what a follow-up keeps of a run before it, also after that is deleted.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import Field, JsonValue, SkipValidation

from leadhand.contracts.data import Many, Record, argument, check_fields
from leadhand.errors import InputError

_NAMES = ("request", "batch", "count", "batches", "names")
_PLACEHOLDER = r"\{( *[A-Za-z_][\w.-]* *(?:![rsa])?)\}"
_ANY = re.compile(rf"\{{{_PLACEHOLDER}\}}|{_PLACEHOLDER}")


def filled(intent: str, values: Mapping[str, str]) -> str:
    """The intent with its placeholders filled; `{{id}}` is `{id}`. Nothing in a value is filled."""
    return _ANY.sub(lambda one: values[one[2]] if one[2] else one[0][1:-1], intent)


def literal(text: str) -> str:
    return re.sub(_PLACEHOLDER, r"{\g<0>}", text)


PREVIOUS = "previous"
"""What a task names in `artifacts` to be given the answer of the run before; `previous/TASK` is the
result of one of its tasks, `previous/previous` the answer of the run before that one."""


class EarlierResult(Record):
    """A task of an earlier run, and its result."""

    task_id: str
    worker: str
    """The worker that gave the result."""
    intent: str
    status: str
    summary: str = ""
    excerpt: str = ""
    """The beginning of the output as text, marked where it is cut."""
    output: SkipValidation[JsonValue] = None
    """The whole output; None if it is too long to be kept, or the task was not completed."""
    missing: tuple[str, ...] = ()
    """What it lacks or why it is doubtful, one line each."""
    why: str | None = None
    """Why it is not complete, or why `output` is missing; None if it is there."""

    @property
    def is_usable(self) -> bool:
        """Whether there is anything that a task could work on."""
        return self.status == "completed" or bool(self.summary or self.excerpt)


class EarlierRun(Record):
    """A run that another one follows, or an exchange with a person that it follows."""

    run_id: str = ""
    """Empty for an exchange, which no journal has."""
    team: str = ""
    """Empty for an exchange that was not with a team."""
    request: str
    status: str = "complete"
    answer: str = ""
    """Its text; a long one is cut."""
    results: tuple[EarlierResult, ...] = ()
    left_out: int = 0
    """Further tasks, beyond those in `results`."""


def earlier_results(after: Sequence[EarlierRun]) -> dict[str, EarlierResult | EarlierRun]:
    """What tasks may name as artifacts: answers and results, the latest run first."""
    found: dict[str, EarlierResult | EarlierRun] = {}
    for depth, run in enumerate(after, start=1):
        name = "/".join([PREVIOUS] * depth)
        named = {f"{name}/{one.task_id}": one for one in run.results if one.is_usable}
        for key, one in {name: run, **named}.items():
            found.setdefault(key, one)
    return found


def names_earlier(artifact: str) -> bool:
    """Whether an artifact is the name of an earlier answer or result, rather than of a file."""
    return artifact == PREVIOUS or artifact.startswith(f"{PREVIOUS}/")


class Limits(Record, extra="forbid"):
    """Limits of one task. An unset one is taken from the worker, then from the run."""

    timeout_s: float | None = Field(default=None, gt=0)
    """Seconds an attempt may take, counted from its start; waiting in a queue does not count."""
    max_tokens: int | None = Field(default=None, gt=0)
    """Input and output tokens that all attempts may use together."""
    max_steps: int | None = Field(default=None, gt=0)
    """Model calls that one attempt may make."""
    tier: str | None = None
    """The tier of model to start with: `fast`, `standard` or `strong`."""


NO_LIMITS = Limits.model_construct()
MAX_ID_CHARS = 200


class Task(Record, extra="forbid"):
    """One unit of work for one worker."""

    id: str = Field(min_length=1, max_length=MAX_ID_CHARS)
    """Unique in its plan."""
    worker: str
    """The name of a worker of the team."""
    intent: str
    """What to do, in words that this worker can act on without seeing the plan."""
    payload: JsonValue = None
    """Data for the worker besides the intent, of the type that it declares as its input."""
    depends_on: Many[str] = ()
    """Ids of the tasks whose results this one needs."""
    artifacts: Many[str] = ()
    """What to work on: paths or other references that the worker's tools understand. In a follow-up
    run also `previous`, the answer of the run before, and `previous/TASK`, a result of it."""
    tools: Many[str] = ()
    """Tools that the task needs; `check` refuses a tool that its worker does not have."""
    done_when: str = ""
    """How to tell that the task is finished."""
    tolerates_missing: bool = False
    """True: runs even if a dependency has no result, and its worker is told which and why."""
    limits: Limits = NO_LIMITS


class PlannedWorker(Record, extra="forbid"):
    """A worker that a plan describes. Only its team's `worker_factory` can make it."""

    name: str
    """Unique in its plan, and no name of a worker of the team; tasks refer to it as `worker`."""
    description: str = ""
    """One line: what it does, and by omission what it does not."""
    instructions: str = ""
    """Its prompt about its job. No other role sees it."""
    tools: Many[str] | None = None
    """Names of tools in the team's catalogue. None: those that `WorkerFactory.tools_for` chooses.
    """
    tier: str | None = None
    """The tier of model that it starts with: `fast`, `standard` or `strong`."""
    output: JsonValue = None
    """A JSON Schema of its output; None: text."""


class Plan(Record, extra="forbid"):
    """A request as a graph of tasks: JSON that people can read, edit and run again."""

    goal: str
    """What the plan as a whole is for; usually the request."""
    tasks: Many[Task]
    synthesis: str = "merge"
    """The name of the strategy that makes one answer of the results."""
    instruction: str = ""
    """Instructions for the synthesizer."""
    workers: Many[PlannedWorker] = ()
    """Workers made for this plan, beside those of the team."""
    revision: int = Field(default=1, ge=1)
    """1 for the first plan of a run; each amendment adds one."""
    max_rounds: int | None = Field(default=None, ge=1)
    """The tasks are those of the first round only, and a stepwise planner may decide so many rounds
    in all; None: the plan is all there is."""


@argument
@dataclass(frozen=True)
class TaskTemplate:
    """One entry of a plan template: a task, or one task for each batch of the inputs."""

    id: str
    """The task's id; with `for_each` it is followed by `-1`, `-2`, ..."""
    worker: str
    intent: str
    """May contain `{request}` and, with `for_each`, `{batch}`, `{count}` and `{names}`; `{{id}}`
    stands for a literal `{id}`."""
    depends_on: Many[str] = ()
    """Ids of template entries; one with `for_each` stands for all tasks made from it."""
    for_each: str | None = None
    """The name of a set of batches; a batch's artifacts become the task's."""
    payload: JsonValue = None
    done_when: str = ""
    tolerates_missing: bool = False
    limits: Limits = NO_LIMITS

    def __post_init__(self) -> None:
        check_fields(self)
        for _, name in _ANY.findall(self.intent):
            if name and name not in _NAMES:
                known = ", ".join(f"{{{one}}}" for one in _NAMES)
                raise InputError(
                    f"TaskTemplate {self.id!r}: nothing fills {{{name}}} in its intent; there are "
                    f"{known}, and for {{{name}}} itself write {{{{{name}}}}}"
                )


@dataclass(frozen=True, slots=True)
class Batch:
    """A part of the inputs, small enough for one task."""

    artifacts: tuple[str, ...]
    """Paths or other references that the workers' tools understand."""
    name: str = ""
    """One or two words for what the artifacts have in common."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What a planner receives: the request and its inputs."""

    text: str
    batches: Mapping[str, Sequence[Batch]] = field(default_factory=dict[str, Sequence[Batch]])
    """The inputs, split into batches in one or more ways, by the name of the split."""
    inputs: str = ""
    """A description of the inputs made by code: kinds and numbers, no names and no content."""
    after: tuple[EarlierRun, ...] = ()
    """The runs that the request follows, the latest first."""

    @property
    def earlier(self) -> dict[str, EarlierResult | EarlierRun]:
        """What tasks may name as artifacts of these runs."""
        return earlier_results(self.after)
