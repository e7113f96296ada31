"""Teams and workers as data: who can do what, by which rules. Nothing is run here."""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Generic, overload

from annotated_types import Ge, Gt, Interval, Len
from pydantic import BeforeValidator, JsonValue
from typing_extensions import Unpack

from leadhand.contracts.budget import Rate
from leadhand.contracts.data import Many, argument, check_fields, check_return
from leadhand.contracts.ladder import Ladder, Retry, RetryRules
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.role import (
    SUBPLANNER,
    TIERS,
    Answers,
    Classifier,
    ModelSpec,
    Role,
    Route,
    Tier,
    as_role,
)
from leadhand.contracts.task import NO_LIMITS, Limits, TaskTemplate
from leadhand.contracts.tools import Out_co, check_contexts
from leadhand.contracts.worker import (
    AgentLike,
    AgentWorkerFields,
    DepsFunction,
    ForeignAgent,
    FunctionWorkerFields,
    Isolation,
    MaterialFunction,
    ModelWorkerFields,
    ReportFunction,
    TeamWorkerFields,
    WorkerFactory,
    WorkFunction,
)
from leadhand.errors import InputError

if TYPE_CHECKING:
    from leadhand.contracts.role import PlannerRole

MAX_DEPTH = 3
"""The default limit on levels of nested teams."""


@argument
@dataclasses.dataclass(frozen=True)
class Worker:
    """A specialist: one narrow job, its own tools, and a model or a function that does it."""

    name: Annotated[str, Len(1, 100)]
    """Unique in its team; tasks refer to it as `worker`."""
    description: str
    """One line for the planner: what this worker does, and by omission what it does not."""
    _: dataclasses.KW_ONLY
    run: WorkFunction | AgentLike | None = None
    """Any function `Handoff -> Outcome`, or `-> value`, sync or async; or a pydantic-ai `Agent`.
    None: the team's model does the work."""
    agent: object = None
    """An agent of another framework that does the work by its own library: a compiled LangGraph
    graph, an Agent of OpenAI Agents, an Agent or Team of Agno; or its `module:attribute`."""
    deps: DepsFunction | None = None
    """Returns the dependencies of an `Agent` for a task, sync or async. Not needed by an agent
    without dependencies, or with `deps_type=ToolContext`."""
    offline: WorkFunction | None = None
    """A function like `run` that does the work if the team has no model, or no model answers."""
    draft: WorkFunction | None = None
    """A function like `run` that always does the work first. A model gets its output as data, and
    answers with what it adds, of the type `output`: the task's output is then the draft's with that
    under the key `added`, or `{draft, added}`. Without a model, the draft is the result."""
    offline_s: Annotated[float, Gt(0)] | None = None
    """How much time to reserve for `offline` before the run's deadline. None: as long as it took
    before, or 1 s."""
    team: "Team | None" = None
    """A team that does the work as a nested run. It shares deadline, budget and tools with the
    outer run, and the outer team's models if it names none."""
    instructions: str = ""
    """The worker's prompt about its job."""
    tools: Many[object] = ()
    """The tools it may use: plain typed functions, pydantic-ai toolsets (MCP servers included), and
    names of ready-made tools."""
    material: MaterialFunction | None = None
    """Returns the texts that the model sees of its task, by label, instead of the artifacts and
    digests of the handoff. Each text reaches the model as data."""
    input: object = None
    """The type of its tasks' `payload`, or a JSON Schema as a mapping; None: anything."""
    output: object = None
    """The type of its output, or a JSON Schema as a mapping; None: text."""
    plain: bool = False
    """True: `instructions` are the whole prompt and the model answers in plain text, without
    schema, tools or escalation. The shortest prompt."""
    tier: Tier | None = None
    """The tier of model to start with; None: that of the team's limits, else `standard`."""
    model: ModelSpec = None
    """Used instead of the tier's models."""
    settings: Mapping[str, JsonValue] = dataclasses.field(default_factory=dict[str, JsonValue])
    """Model settings such as `temperature`, as pydantic-ai names them."""
    min_confidence: Annotated[int, Interval(ge=0, le=100)] | None = None
    """A result with less confidence becomes an escalation, `low_confidence`. Applies to models,
    teams, and results of `run` that state a confidence; not to `offline`."""
    max_tool_calls: Annotated[int, Ge(1)] = 32
    """Tool calls that are made for one response of its model; further ones are refused."""
    max_output_mb: Annotated[float, Interval(gt=0, le=10)] = 1.0
    """Megabytes of a response of its model, and of the arguments of a tool call; longer ones are
    refused before they are parsed."""
    fallback: str | None = None
    """The worker that takes over if this one fails for good or its breaker is open, gives a second
    opinion on its doubtful results, and helps if more than `max_queue` tasks wait for it."""
    retry: bool | Retry = True
    """Whether its transient failures are retried; a `Retry` says which of them, and how often.
    Exceptions are transient, except permanent ones such as `ValueError` and `leadhand.Permanent`.
    """
    role: Annotated[str, Len(1, 100)] | None = None
    """Workers with the same role share their tasks by load."""
    max_queue: Annotated[int, Ge(0)] | None = None
    """How many tasks may wait for it before its fallback helps; None: any number."""
    read_only: bool | None = None
    """Whether its work changes nothing outside the run, so that it may start early. None: that is
    so if a model does it with ready-made tools only, or a team of such workers. Functions, toolsets
    and agents of your own have to be declared."""
    isolate: Isolation = "none"
    """`process`: runs in its own process, for CPU-heavy work and work that must be killed."""
    concurrency: Annotated[int, Ge(1)] | None = None
    """How many tasks it works on at once; None: as many as the run allows."""
    expires_s: Annotated[float, Interval(gt=0, le=1e9)] | None = None
    """Seconds until a question about its task expires; None: as its team's do."""
    limits: Limits = NO_LIMITS
    """Limits of its tasks, for those that a task does not set."""
    if TYPE_CHECKING:  # for checkers, which combinations there are; `dataclass` makes the real one

        @overload
        def __init__(self, name: str, description: str, **_: Unpack[ModelWorkerFields]) -> None: ...
        @overload
        def __init__(
            self, name: str, description: str, **_: Unpack[FunctionWorkerFields]
        ) -> None: ...
        @overload
        def __init__(self, name: str, description: str, **_: Unpack[AgentWorkerFields]) -> None: ...
        @overload
        def __init__(self, name: str, description: str, **_: Unpack[TeamWorkerFields]) -> None: ...
        def __init__(self, name: str, description: str, **_: Any) -> None: ...

    def __post_init__(self) -> None:
        if self.agent is not None and (self.run is None or isinstance(self.run, ForeignAgent)):
            object.__setattr__(self, "run", ForeignAgent(self.agent))
        if self.offline is None:
            object.__setattr__(self, "offline", self.draft)
        check_fields(self)
        # Names in a file tell what a function uses.
        own = any(not isinstance(tool, str) for tool in self.tools)
        doer = "team" if self.team is not None else "run" if self.run is not None else None
        if doer is not None and own:
            raise InputError(
                f"Worker {self.name!r}: `tools` are for the team's model, and here `{doer}` does "
                "the work, which does not get them: leave out one or the other"
            )
        check_contexts(f"Worker {self.name!r}", self.tools)


@argument
@dataclasses.dataclass(frozen=True)
class Team(Generic[Out_co]):
    """Workers and the rules they work by."""

    name: Annotated[str, Len(1, 100)]
    description: str = ""
    _: dataclasses.KW_ONLY
    workers: Many[Worker] = ()
    model: ModelSpec = None
    """Used for every tier that `models` does not name. Without any, the team is deterministic."""
    models: Mapping[Tier, Many[ModelSpec]] = dataclasses.field(
        default_factory=dict[Tier, Many[ModelSpec]]
    )
    """The models of each tier: the next one is used if those before it can't be reached."""
    if TYPE_CHECKING:
        planner: PlannerRole = PlannerRole()
    else:
        planner: Annotated[Role, BeforeValidator(as_role)] = dataclasses.field(default_factory=Role)
    """Its kind, such as `template`, or its kind and how it uses its model."""
    synthesizer: Role = dataclasses.field(default_factory=Role)
    judge: Role = dataclasses.field(default_factory=Role)
    """Decides between contradicting results, and which of several is the best."""
    same_subject: Many[Many[str]] = ()
    """Groups of workers whose results on the same inputs contradict each other if they differ."""
    early_start: bool = False
    """Whether tasks of read-only workers start while the planner still writes the plan."""
    critic: Role | None = None
    """Reads a draft of the answer and may send it back; None: there is no critic."""
    worker_factory: WorkerFactory | None = None
    """What workers that the planner describes may be given; None: it describes none."""
    shared_tools: Many[str] = ()
    """Names of tools that more than one worker may have."""
    template: Many[TaskTemplate] = ()
    """The plan without a model; empty: every worker gets one task, all at once."""
    template_synthesis: str | None = None
    """The strategy of the plan without a model, if it differs from `synthesis`."""
    synthesis: str = "merge"
    """How results become an answer. `merge`: put together, by a model if the team has one, which
    condenses very long ones first. `reduce`: the same. `select`: the best one. `last`: the result
    of the last task as it is. Any other strategy is one of a synthesizer of your own."""
    if TYPE_CHECKING:
        output: type[Out_co] | Mapping[str, object] | UnionType | None = None
    else:
        output: object = None
    """The type of the answer's output, or a JSON Schema as a mapping; None: any data. The
    synthesizer's model turns other results into it; without a model they are a gap."""
    routes: Many[Route] = ()
    """Routing rules: the first that matches makes a plan of one task. A request that none matches
    is planned as usual."""
    router: Role | None = None
    """Whose model chooses one worker for a request that no rule matches; None: no model does."""
    trained_router: Classifier | None = None
    """A `TrainedRouter`, or a classifier of your own, which is asked before a model is."""
    contact: str | None = None
    """Whom to ask if no worker could answer, in Markdown; added to the answer."""
    max_depth: Annotated[int, Ge(0)] = MAX_DEPTH
    """How many levels of teams may be nested in this one."""
    limits: Limits = NO_LIMITS
    """Limits of every task, for those that neither task nor worker sets."""
    retry: RetryRules = dataclasses.field(default_factory=RetryRules)
    ladder: Ladder = dataclasses.field(default_factory=Ladder)
    rates: Mapping[str, Rate] = dataclasses.field(default_factory=dict[str, Rate])
    """Rate limits by name of model, shared with all other runs of this process."""
    answers: Mapping[str, Answers] = dataclasses.field(default_factory=dict[str, Answers])
    """How models answer in a structure, by name of model; of others it is found out."""
    report: ReportFunction | None = None
    """Makes the files of `leadhand run --out DIR` of an answer, by name; None: `report.html` and
    `report.md` with its text."""
    confidential: bool = False
    """Whether a hosted model is used only if `--model` or LEADHAND_MODEL names it, or this team's
    program, and never because of a key or an address in the environment."""
    requester_approves: bool = False
    """Whether those who start a run of a service may approve its plan and tool calls themselves."""
    expires_s: Annotated[float, Interval(gt=0, le=1e9)] | None = None
    """Seconds until a question to a person is refused or declined by itself; None: it stays open.
    """
    needs: str = ""
    """One line for `leadhand teams list`: what has to be handed in."""
    gives: str = ""
    """One line for `leadhand teams list`: what the answer has."""

    def __post_init__(self) -> None:
        check_fields(self)
        last = self.template[-1].worker if self.template else None
        ends = [one for one in self.workers if last in (None, one.name)]
        alone = self.synthesis == "last" or len(self.workers) == 1
        by_code = self.synthesizer.run is None and not self.models_of(self.synthesizer)
        if self.output is not None and alone and ends and by_code:
            check_return(f"Team {self.name!r}", ends[-1].run, self.output, who=ends[-1].name)

    @property
    def roles(self) -> dict[str, Role]:
        """The roles that may call a model, by name."""
        given = {
            "planner": self.planner,
            "synthesizer": self.synthesizer,
            "judge": self.judge,
            "critic": self.critic,
            "router": self.router,
        }
        return {name: role for name, role in given.items() if role is not None}

    def models_of(self, role: Role) -> Sequence[ModelSpec]:
        """The models of a role, in the order in which they are tried; empty if deterministic."""
        return (role.model,) if role.model is not None else self.tiers.get(role.tier, ())

    def model_of(self, worker: Worker, tier: str | None = None) -> ModelSpec:
        """The model that a worker's task starts with, in the task's own `tier` if it has one."""
        tiers = self.tiers
        if worker.model is not None or not tiers:
            return worker.model
        asked = tier or worker.tier or worker.limits.tier or self.limits.tier
        return tiers[next((known for known in TIERS if known == asked), "standard")][0]

    @functools.cached_property
    def tiers(self) -> dict[Tier, Sequence[ModelSpec]]:
        """The models of every tier; empty if the team is deterministic.

        A tier without models uses those of the nearest tier, preferably a stronger one.
        """
        given = {tier: specs for tier, specs in self.models.items() if specs}
        if self.model is not None:
            given = {tier: given.get(tier) or (self.model,) for tier in TIERS}
        if not given:
            return {}
        nearest: dict[Tier, tuple[Tier, ...]] = {
            "fast": ("fast", "standard", "strong"),
            "standard": ("standard", "strong", "fast"),
            "strong": ("strong", "standard", "fast"),
        }
        return {tier: next(given[t] for t in nearest[tier] if t in given) for tier in TIERS}

    def next_tier(self, worker: Worker, tier: str | None) -> Tier | None:
        """The nearest tier above `tier` that has other models; None if there is none."""
        models = self.tiers
        own = worker.model is not None or worker.team is not None or worker.run is not None
        if own or not models:
            return None
        now = tier if tier in TIERS else "standard"
        above = TIERS[TIERS.index(now) + 1 :]
        return next((other for other in above if models[other] != models[now]), None)

    @functools.cached_property
    def subplanner(self) -> Worker | None:
        """The worker of tasks that a recursive planner breaks down, which is this team, one level
        deeper; None if no deeper plan is allowed.

        What concerns the whole request alone is left out: template, routes, output type, critic.
        """
        planner = self.planner
        if not KINDS[planner.kind].breaks_down or planner.max_levels == 0:
            return None
        deeper = dataclasses.replace(
            self,
            planner=dataclasses.replace(planner, max_levels=planner.max_levels - 1),
            template=(),
            template_synthesis=None,
            routes=(),
            router=None,
            trained_router=None,
            contact=None,
            output=None,
            critic=None,
        )
        return Worker(SUBPLANNER, "Plans a task of several parts", team=deeper, retry=False)

    @functools.cached_property
    def all_workers(self) -> tuple[Worker, ...]:
        """The workers, and the subplanner if there is one."""
        return tuple(self.workers) + ((self.subplanner,) if self.subplanner is not None else ())

    def worker(self, name: str) -> Worker | None:
        """The worker of that name, or None."""
        return next((worker for worker in self.all_workers if worker.name == name), None)


def declared_output(worker: Worker) -> object:
    """The type of a worker's output, declared by it, its team or its agent; None if by none."""
    if worker.draft is not None:
        return None  # `output` is what its model adds
    if worker.output is not None:
        return worker.output
    if worker.team is not None:
        return worker.team.output
    return worker.run.output_type if isinstance(worker.run, AgentLike) else None


def uses_model(worker: Worker) -> bool:
    """Whether a model does the worker's tasks if the team has one: a refined intent may help it."""
    return worker.run is None or worker.agent is not None or not callable(worker.run)


def model_name(spec: ModelSpec) -> str:
    """The name under which a model is shown and logged: `provider:model`."""
    if isinstance(spec, str):
        return spec
    system, name = getattr(spec, "system", None), getattr(spec, "model_name", None)
    return f"{system}:{name}" if system and name else type(spec).__name__
