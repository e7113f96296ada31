"""Teams and workers as data: who can do what, by which rules. They run nothing themselves."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import ConfigDict, Field, JsonValue
from pydantic.dataclasses import dataclass

from leadhand.contracts.budget import Rate
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.retry import Retry
from leadhand.contracts.task import NO_LIMITS, Limits

Isolation = Literal["none", "process"]
Tier = Literal["fast", "standard", "strong"]
TIERS: tuple[Tier, ...] = ("fast", "standard", "strong")
MAX_DEPTH = 3
"""How many levels of teams may be nested in one, if it does not say otherwise."""
WorkFunction = Callable[..., object]
MaterialFunction = Callable[[Handoff], Mapping[str, str]]
ModelSpec = object
"""`provider:model` as pydantic-ai takes it, or a pydantic-ai `Model`."""


@runtime_checkable
class AgentLike(Protocol):
    """A pydantic-ai `Agent`, as far as anybody has to know here."""

    @property
    def name(self) -> str | None: ...

    @property
    def output_type(self) -> object: ...

    @property
    def run(self) -> object: ...


_DATA = ConfigDict(arbitrary_types_allowed=True, extra="forbid", defer_build=True)


@dataclass(frozen=True, config=_DATA)
class Role:
    """How a team's planner, synthesizer or another of its roles uses its model."""

    _: dataclasses.KW_ONLY
    tier: Tier = "standard"
    model: ModelSpec = None
    """In place of the tier's models."""
    settings: Mapping[str, JsonValue] = dataclasses.field(default_factory=dict[str, JsonValue])
    """Model settings such as `temperature`, as pydantic-ai names them."""
    instructions: str = ""
    """What this team's role should mind, after leadhand's own prompt."""
    plain: bool = False
    """True: `instructions` are the whole prompt and the model answers in plain text. The shortest
    way to ask, and nothing is known of the answer but its words."""


@dataclass(frozen=True, config=_DATA)
class Worker:
    """A specialist: one narrow job, its own tools, and a model or a function that does it."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    """Unique in its team; what a task's `worker` says."""
    description: str
    """One line for the planner: what this worker does, and by omission what it does not."""
    _: dataclasses.KW_ONLY
    run: WorkFunction | AgentLike | None = None
    """Any function `Handoff -> Outcome`, or `-> value`, sync or async; or a pydantic-ai `Agent`.
    Without one the work is done by a model, where the team has one."""
    offline: WorkFunction | None = None
    """A function like `run` that does the work where the team has no model, or none answers."""
    offline_s: Annotated[float, Field(gt=0)] | None = None
    """How long that function takes: so much time is left for it before the run's deadline. None:
    as long as it took before, or 1 s."""
    team: "Team | None" = None
    """A team that does the work as a run of its own: planned, worked on and answered. It shares
    deadline, budget and tools with the run around it, and its models where it names none."""
    instructions: str = ""
    """What the worker is told about its job, in its own words."""
    tools: tuple[object, ...] = ()
    """What it may use: plain typed functions, pydantic-ai toolsets (MCP servers included), and
    names of ready-made tools."""
    material: MaterialFunction | None = None
    """Gives what a model is shown of its task, texts by what they are, in place of the artifacts
    and digests of the handoff. Each text reaches the model as data."""
    input: object = None
    """What its tasks have as `payload`: a type, or a JSON Schema as a mapping; None: anything."""
    output: object = None
    """What it answers with: a type, or a JSON Schema as a mapping; none: text."""
    plain: bool = False
    """True: `instructions` are the whole prompt and the model answers in plain text: no schema, no
    tools, no escalation. The shortest way to ask."""
    tier: Tier | None = None
    """The tier of model to start with; none: the team's limits say, else `standard`."""
    model: ModelSpec = None
    """In place of the tier's models."""
    settings: Mapping[str, JsonValue] = dataclasses.field(default_factory=dict[str, JsonValue])
    """Model settings such as `temperature`, as pydantic-ai names them."""
    min_confidence: Annotated[int, Field(ge=0, le=100)] | None = None
    """An answer that is less sure is an escalation, `low_confidence`: of a model, of a team, or of
    `run` where its `Result` says how sure it is. Results of `offline` are not compared with it."""
    max_tool_calls: Annotated[int, Field(ge=1)] = 32
    """Tool calls of one answer of its model that are made; further ones are refused."""
    max_output_mb: Annotated[float, Field(gt=0, le=10)] = 1.0
    """Megabytes of its model's answer, and of the arguments of a tool call; what is longer is
    refused before it is parsed."""
    fallback: str | None = None
    """The worker that takes over where this one fails for good."""
    retry: bool | Retry = True
    """Whether its transient failures are retried; a `Retry` says which of them, and how often.
    An exception is transient unless it is permanent, as `ValueError` and `leadhand.Permanent`."""
    role: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """What it is one of several for: workers of one role share their tasks by load."""
    max_queue: Annotated[int, Field(ge=0)] | None = None
    """How many tasks may wait for it before its fallback helps out; none: any number."""
    isolate: Isolation = "none"
    """`process`: runs in a process of its own, for CPU-heavy work and work that must be killed."""
    concurrency: Annotated[int, Field(ge=1)] | None = None
    """How many tasks it works on at once; none: as many as the run allows."""
    limits: Limits = NO_LIMITS
    """Bounds of each of its tasks, where the task itself sets none."""


@dataclass(frozen=True, config=_DATA)
class TaskTemplate:
    """One entry of a plan template: a task, or one task for each batch of what is handed in."""

    id: str
    """The task's id; with `for_each` it is followed by `-1`, `-2`, ..."""
    worker: str
    intent: str
    """May hold `{request}` and, with `for_each`, `{batch}`, `{count}` and `{names}`."""
    depends_on: tuple[str, ...] = ()
    """Template ids; with `for_each` here or there, every task made from that entry."""
    for_each: str | None = None
    """The name of a set of batches; its artifacts become the task's."""
    payload: JsonValue = None
    """The task's data, as it is."""
    done_when: str = ""
    tolerates_missing: bool = False
    limits: Limits = NO_LIMITS


@dataclass(frozen=True, config=_DATA)
class Route:
    """A rule that says whose a request is, by any one of its conditions; without one, anybody's."""

    worker: str
    _: dataclasses.KW_ONLY
    words: tuple[str, ...] = ()
    """Words or phrases of which one is in the request, as whole words in any case."""
    pattern: str | None = None
    """A regular expression that is found in it, in any case. No look-around, no back-references."""
    labels: tuple[str, ...] = ()
    """Labels of which the request carries one, as `[label]` or `#label`."""
    secondary: str | None = None
    """Who has it next where the worker hands it back."""

    @property
    def is_default(self) -> bool:
        """Whether it takes every request that no rule before it took."""
        return not (self.words or self.pattern or self.labels)


@dataclass(frozen=True, config=_DATA)
class RetryRules:
    """When and how often a failed task is tried again, whoever tries.

    A transient failure is retried with the same intent, after a wait, until one attempt is left for
    the worker's fallback; if a model can refine the intent, there is one such retry before. What
    counts as transient is `Worker.retry`'s to say.
    """

    max_attempts: Annotated[int, Field(ge=1, le=100)] = 3
    """Attempts of one task in all, counting the first and whoever makes them."""
    backoff_s: tuple[Annotated[float, Field(ge=0)], ...] = (1.0, 2.0)
    """Seconds to wait before the second, third, ... attempt, give or take a fifth; the last one
    repeats. A timeout is retried at once."""
    retry_share: Annotated[float, Field(ge=0)] = 0.2
    """Of a run's tasks, how many may be tried again after a failure, beside the first ten: an
    outage must not multiply calls."""


Rung = Literal[
    "retry",
    "refine",
    "fallback",
    "stronger_tier",
    "reassign",
    "split",
    "second_opinion",
    "ask_person",
    "accept",
]
"""What may be tried for a task that did not complete; giving up is always the last."""


@dataclass(frozen=True, config=_DATA)
class Ladder:
    """What is tried after each kind of outcome, in order. A rung that can't apply costs nothing.

    The last attempt is the fallback's, where its rung is still to come and it is free.
    """

    _: dataclasses.KW_ONLY
    failed: tuple[Rung, ...] = ("retry", "refine", "fallback", "stronger_tier")
    """After a failure that is no timeout."""
    out_of_scope: tuple[Rung, ...] = ("reassign", "fallback", "ask_person")
    ambiguous_input: tuple[Rung, ...] = ("refine", "ask_person")
    low_confidence: tuple[Rung, ...] = ("stronger_tier", "second_opinion", "accept")
    timeout: tuple[Rung, ...] = ("retry", "split", "stronger_tier", "fallback")
    """After an attempt that took too long, or an escalation because the task is too much for one.
    The retry is made once, if the run leaves time for it."""
    breaker_failures: Annotated[int, Field(ge=1)] = 5
    """After so many failures of a worker in a row, its tasks go straight to its fallback."""
    breaker_pause_s: Annotated[float, Field(gt=0)] = 10.0
    """Seconds until the worker gets a task again to prove itself; doubled each time it fails."""


@dataclass(frozen=True, config=_DATA)
class Team:
    """Workers and the rules they work by."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    description: str = ""
    _: dataclasses.KW_ONLY
    workers: tuple[Worker, ...]
    model: ModelSpec = None
    """Fills every tier that `models` leaves open. Without any the team is deterministic."""
    models: Mapping[Tier, tuple[ModelSpec, ...]] = dataclasses.field(
        default_factory=dict[Tier, tuple[ModelSpec, ...]]
    )
    """The models of each tier: the first is used, the next where it can't be reached."""
    planner: Role = dataclasses.field(default_factory=Role)
    synthesizer: Role = dataclasses.field(default_factory=Role)
    judge: Role = dataclasses.field(default_factory=Role)
    """Who takes sides between results: contradictions, and the best of several."""
    critic: Role | None = None
    """Who reads the answer before it is given, and may send it back; none: nobody does."""
    shared_tools: tuple[str, ...] = ()
    """Names of tools that more than one worker may have."""
    template: tuple[TaskTemplate, ...] = ()
    """The plan of a team without a model; empty: every worker gets one task, all at once."""
    synthesis: str = "merge"
    """How results become an answer: `merge`, or a strategy that the team's synthesizer knows."""
    routes: tuple[Route, ...] = ()
    """Whose a request is, rule by rule: the first that fits makes a plan of one task. What none of
    them takes is planned as usual."""
    router: Role | None = None
    """How a model chooses the one worker for a request that no rule takes; none: it does not."""
    contact: str | None = None
    """What the user is told besides where no worker could answer: whom to ask. Markdown."""
    max_depth: Annotated[int, Field(ge=0)] = MAX_DEPTH
    """How many levels of teams may be nested in this one."""
    limits: Limits = NO_LIMITS
    """Bounds of every task, where neither task nor worker sets one."""
    retry: RetryRules = dataclasses.field(default_factory=RetryRules)
    ladder: Ladder = dataclasses.field(default_factory=Ladder)
    rates: Mapping[str, Rate] = dataclasses.field(default_factory=dict[str, Rate])
    """How fast models may be asked, by name; shared with all other runs in this process."""

    @property
    def roles(self) -> dict[str, Role]:
        """The roles that may ask a model, by name."""
        given = {
            "planner": self.planner,
            "synthesizer": self.synthesizer,
            "judge": self.judge,
            "critic": self.critic,
            "router": self.router,
        }
        return {name: role for name, role in given.items() if role is not None}

    def models_of(self, role: Role) -> Sequence[ModelSpec]:
        """The models that a role asks, the first that answers; none in a deterministic team."""
        return (role.model,) if role.model is not None else self.tiers.get(role.tier, ())

    @property
    def tiers(self) -> dict[Tier, tuple[ModelSpec, ...]]:
        """The models of every tier; empty where the team is deterministic.

        A tier without models of its own takes the nearest tier's, rather the stronger one's.
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
        """The nearest tier above `tier` with other models; none where there is no such."""
        models = self.tiers
        if worker.model is not None or worker.team is not None or not models:
            return None
        now = next((known for known in TIERS if known == tier), "standard")
        above = TIERS[TIERS.index(now) + 1 :]
        return next((other for other in above if models[other] != models[now]), None)

    def worker(self, name: str) -> Worker | None:
        """The worker of that name, or none."""
        return next((worker for worker in self.workers if worker.name == name), None)


def uses_model(worker: Worker) -> bool:
    """Whether a model does the work, where the team has one: other words can then help it."""
    return worker.run is None or not callable(worker.run)


def tool_name(tool: object) -> str | None:
    """What a worker's tool is called; none for a toolset, whose tools are known when it is used."""
    if isinstance(tool, str):
        return tool
    name = getattr(tool, "name", None) or getattr(tool, "__name__", None)
    return name if isinstance(name, str) else None
