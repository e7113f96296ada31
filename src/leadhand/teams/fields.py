"""What may stand in a team's files, field by field. The docstrings are what editors show.

Only single files are looked at here; how they fit together is the matter of `consistency`.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from leadhand.contracts.team import Isolation, Rung, Tier
from leadhand.teams.values import (
    ExceptionNames,
    FunctionName,
    ModelName,
    ModelNames,
    Name,
    Names,
    Number,
    OutputForm,
    Pattern,
    Percent,
    Positive,
    Said,
    Seconds,
    Sentence,
    Thinking,
    Waits,
    WorkerModel,
    sendable,
)


def _for_every_tier(value: object) -> object:
    # A tier without models of its own takes the nearest tier's: one is enough for all three.
    return {"standard": value} if isinstance(value, str) else value


def _strategy(value: object) -> object:
    return {"strategy": value} if isinstance(value, str) else value


class Fields(BaseModel):
    """A mapping in a file. Texts are not taken for numbers, nor truth values for either."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    examples: ClassVar[dict[str, str]] = {}
    """How to fill in the fields that can't be left out."""


class SettingsFields(Fields):
    """Model settings as pydantic-ai names them; those of one provider are passed on as they are."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]

    temperature: Annotated[Number, Field(ge=0)] | None = None
    """How much chance there is in an answer; 0 is none, as far as the model can."""
    top_p: Annotated[Number, Field(ge=0, le=1)] | None = None
    """Choose among the likeliest tokens that together have this probability."""
    top_k: Positive | None = None
    """Choose among so many of the likeliest tokens."""
    max_tokens: Positive | None = None
    """Tokens that one answer may have."""
    seed: int | None = None
    """Makes answers repeatable where the model can."""
    presence_penalty: Number | None = None
    """How much to avoid tokens that were there already."""
    frequency_penalty: Number | None = None
    """How much to avoid tokens that were there often."""
    stop_sequences: list[str] | None = None
    """Texts at which an answer ends."""
    thinking: Thinking = None
    """How much to think first: whether at all, or an effort from `minimal` to `max`."""
    timeout: Seconds | None = None
    """Seconds that a single call may take."""
    parallel_tool_calls: bool | None = None
    """Whether several tools may be called in one step."""
    logit_bias: dict[str, int] | None = None
    """Makes single tokens likelier or less likely, by token id."""
    service_tier: Literal["auto", "default", "flex", "priority"] | None = None
    """The provider's class of service."""

    @model_validator(mode="after")
    def _can_be_sent(self) -> "SettingsFields":
        sendable(self.model_extra)
        return self

    @property
    def given(self) -> dict[str, JsonValue]:
        """The settings that the file has."""
        return self.model_dump(exclude_unset=True)


class ModelsFields(Fields):
    """`models` of team.yaml: for each tier a model, or several of which the first that answers."""

    model_config = ConfigDict(extra="forbid")

    fast: ModelNames | None = None
    """For short, easy work: a model as `provider:model`, or a list to fall back along."""
    standard: ModelNames | None = None
    """For most work: a model as `provider:model`, or a list to fall back along."""
    strong: ModelNames | None = None
    """For the hardest work: a model as `provider:model`, or a list to fall back along."""

    @property
    def by_tier(self) -> dict[Tier, list[str]]:
        """The tiers that have models."""
        tiers: dict[Tier, list[str] | None] = {
            "fast": self.fast,
            "standard": self.standard,
            "strong": self.strong,
        }
        return {tier: names for tier, names in tiers.items() if names}


class LimitFields(Fields):
    """`limits` of team.yaml: bounds of every task, where neither task nor worker sets one."""

    timeout_s: Seconds | None = None
    """Seconds that one attempt at a task may take."""
    max_tokens: Positive | None = None
    """Tokens that all attempts at a task may use together."""
    max_steps: Positive | None = None
    """Model calls that one attempt may make."""
    tier: Tier | None = None
    """The tier of model that workers start with."""


class LadderFields(Fields):
    """`ladder` of team.yaml: what is done about a task that fails."""

    max_attempts: Annotated[int, Field(ge=1, le=100)] | None = None
    """Attempts at one task in all, counting the first and whoever makes them."""
    backoff_s: Waits | None = None
    """Seconds to wait before the second, third, ... attempt; the last one repeats."""
    failed: list[Rung] | None = None
    """What is tried after a failure, in order; an empty list is nothing."""
    out_of_scope: list[Rung] | None = None
    """What is tried where a worker says that a task is not for it."""
    ambiguous_input: list[Rung] | None = None
    """What is tried where a worker can't tell what is meant."""
    low_confidence: list[Rung] | None = None
    """What is tried where a worker is not sure of its result."""
    timeout: list[Rung] | None = None
    """What is tried where a task took too long."""
    breaker_failures: Positive | None = None
    """After so many failures of a worker in a row, its tasks go straight to its fallback."""
    breaker_pause_s: Seconds | None = None
    """Seconds until that worker gets a task again to prove itself; doubled each time it fails."""


class RateFields(Fields):
    """An entry of `rates`: how fast a model may be asked by everyone in the process."""

    model_config = ConfigDict(extra="forbid")

    rpm: Positive | None = None
    """Requests in any minute."""
    tpm: Positive | None = None
    """Tokens in any minute, in and out together."""
    concurrency: Positive | None = None
    """Requests at once."""


class EntryFields(Fields):
    """An entry of the plan template: a task, or one for each batch of what is handed in."""

    examples = {
        "id": "a name for the task, once in the template",
        "worker": "who does it",
        "intent": "what to do, in words that the worker can act on",
    }

    id: Name
    """A name for the task, once in the template."""
    worker: Name
    """The name of the worker who does it."""
    intent: Said
    """What to do, in words that the worker can act on; may hold `{request}`."""
    depends_on: Names = []
    """The ids of entries whose results this one needs."""
    for_each: Name | None = None
    """The name of a set of batches; the entry becomes a task for each."""
    payload: JsonValue = None
    """The task's data beside its intent, as its worker's `input` declares."""
    done_when: Sentence = ""
    """How to tell that the task is finished."""
    tolerates_missing: bool = False
    """True: is done even where an entry that it depends on gave no result."""
    timeout_s: Seconds | None = None
    """Seconds that one attempt may take."""


class RoleFields(Fields):
    """How a role such as the judge uses its model."""

    tier: Tier = "standard"
    """The tier of model that it uses."""
    model: ModelName | None = None
    """A model as `provider:model`, in place of the tier's."""
    settings: SettingsFields = SettingsFields()
    """Settings of its model, such as `temperature`."""
    instructions: str = ""
    """What it should mind in this team, after leadhand's own prompt."""


class PlannerFields(RoleFields):
    """`planner` of team.yaml: how a request becomes tasks."""

    template: list[EntryFields] = []
    """The plan where no model is at hand; without one every worker gets one task."""


class SynthesizerFields(RoleFields):
    """`synthesizer` of team.yaml: how results become one answer. A word alone is the strategy."""

    strategy: Name = "merge"
    """How results become one answer where no model is at hand."""
    plain: bool = False
    """True: `instructions` are the whole prompt and the answer is plain text."""


class RouteFields(Fields):
    """An entry of `routes`: whose a request is. Without a condition it takes all that is left."""

    examples = {"worker": "who does it"}

    worker: Name
    """The name of the worker whose it is."""
    words: Names = []
    """Words or phrases of which one is in the request."""
    pattern: Pattern | None = None
    """A regular expression that is found in it, without look-around and back-references."""
    labels: Names = []
    """Labels of which the request carries one, as `[label]` or `#label`."""
    secondary: Name | None = None
    """Who has it next where the worker hands it back."""


class TeamFields(Fields):
    """team.yaml of a leadhand team."""

    name: Name | None = None
    """What the team is called; else as its folder."""
    description: Sentence = ""
    """One line on what the team is for."""
    model: ModelName | None = None
    """The model of every tier that `models` leaves open, as `provider:model`."""
    models: Annotated[
        ModelsFields, BeforeValidator(_for_every_tier, json_schema_input_type=str | ModelsFields)
    ] = ModelsFields()
    """The models of the tiers `fast`, `standard` and `strong`; one name alone is for all three."""
    planner: PlannerFields = PlannerFields()
    """How a request becomes tasks."""
    synthesizer: Annotated[
        SynthesizerFields,
        BeforeValidator(_strategy, json_schema_input_type=str | SynthesizerFields),
    ] = SynthesizerFields()
    """How results become one answer: a strategy's name, or what the role's model should mind."""
    judge: RoleFields = RoleFields()
    """Who takes sides where results contradict each other, and chooses among several."""
    critic: RoleFields | None = None
    """Who reads the answer before it is given, and may send it back; nobody without this key."""
    limits: LimitFields = LimitFields()
    """Bounds of every task, where neither task nor worker sets one."""
    ladder: LadderFields = LadderFields()
    """What is done about a task that fails."""
    routes: list[RouteFields] = []
    """Whose a request is, rule by rule; what no rule takes is planned as usual."""
    router: RoleFields | None = None
    """How a model chooses one worker for what no rule takes; without the key it does not."""
    rates: dict[ModelName, RateFields] = {}
    """How fast models may be asked, by `provider:model`."""
    contact: Sentence | None = None
    """What the user is told besides where no worker could answer: whom to ask."""
    max_depth: Annotated[int, Field(ge=0)] | None = None
    """How many levels of teams may be nested in this one; else 3."""
    shared_tools: Names = []
    """Tools that more than one worker may have."""


def _as_retry(value: object) -> object:
    return {} if value is True else {"attempts": 1} if value is False else value


class RetryFields(Fields):
    """`retry` of a worker: which of its failures are retried, and how often; `false` is never."""

    model_config = ConfigDict(extra="forbid")

    on: ExceptionNames | None = None
    """Exceptions to retry, Python's own or `module:Class`; else all but the permanent ones."""
    attempts: Positive | None = None
    """Attempts with the same words in all, the first included; else as many as the team allows."""


class WorkerFields(Fields):
    """The front matter of a worker's file; its instructions follow below."""

    examples = {"description": "one line on what this worker does"}

    name: Name | None = None
    """What the worker is called; else as its file."""
    description: Said
    """One line for the planner: what this worker does, and by omission what it does not."""
    tools: Names = []
    """What it may use: names of ready-made tools, or functions of your own as `module:function`.
    None are granted where the key is missing."""
    tier: Tier | None = None
    """The tier of model to start with; else the team's limits say."""
    model: WorkerModel = None
    """A model as `provider:model`, in place of the tier's; `inherit` is none of its own."""
    settings: SettingsFields = SettingsFields()
    """Settings of its model, such as `temperature`."""
    input: OutputForm = None
    """What its tasks have as payload: a JSON Schema, or a class as `module:Class`."""
    output: OutputForm = None
    """What it answers with: a JSON Schema, or a class as `module:Class`; else text."""
    plain: bool = False
    """True: the instructions are the whole prompt and the model answers in plain text."""
    min_confidence: Percent | None = None
    """An answer that is less sure, from 0 to 100, is handed back: of a model, a team or `run`."""
    max_tool_calls: Positive = 32
    """Tool calls of one answer of its model that are made; further ones are refused."""
    max_output_mb: Annotated[float, Field(gt=0, le=10)] = 1.0
    """Megabytes of its model's answer, and of a tool call's arguments; longer ones are refused."""
    fallback: Name | None = None
    """The worker that takes over where this one fails for good."""
    retry: Annotated[
        RetryFields, BeforeValidator(_as_retry, json_schema_input_type=bool | RetryFields)
    ] = RetryFields()
    """Which of its failures are retried, and how often; `false`: none."""
    role: Name | None = None
    """What it is one of several for: workers of one role share their tasks by load."""
    max_queue: Annotated[int, Field(ge=0)] | None = None
    """How many tasks may wait for it before its fallback helps out."""
    concurrency: Positive | None = None
    """How many tasks it works on at once; else as many as the run allows."""
    timeout_s: Seconds | None = None
    """Seconds that one attempt at a task may take."""
    max_steps: Positive | None = None
    """Model calls that one attempt may make."""
    isolate: Isolation = "none"
    """`process`: its function runs in a process of its own."""
    offline: FunctionName | None = None
    """The function that does the work where no model is at hand, as `module:function`."""
    offline_s: Seconds | None = None
    """Seconds that `offline` takes: kept for it before the deadline. Else as before, or 1."""
    team: Said | None = None
    """A team that does the work: a ready-made one's name, or a folder such as `../legal`."""
    run: FunctionName | None = None
    """The function that always does the work, with a model at hand or not, as `module:function`."""


NESTED: dict[tuple[type[Fields], str], type[Fields]] = {
    (TeamFields, "models"): ModelsFields,
    (TeamFields, "planner"): PlannerFields,
    (TeamFields, "synthesizer"): SynthesizerFields,
    (TeamFields, "judge"): RoleFields,
    (TeamFields, "critic"): RoleFields,
    (TeamFields, "limits"): LimitFields,
    (TeamFields, "ladder"): LadderFields,
    (TeamFields, "routes"): RouteFields,
    (TeamFields, "router"): RoleFields,
    (TeamFields, "rates"): RateFields,
    (PlannerFields, "template"): EntryFields,
    (RoleFields, "settings"): SettingsFields,
    (PlannerFields, "settings"): SettingsFields,
    (SynthesizerFields, "settings"): SettingsFields,
    (WorkerFields, "settings"): SettingsFields,
    (WorkerFields, "retry"): RetryFields,
}
"""Which fields each nested mapping has."""
