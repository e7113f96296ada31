"""The fields of a team's files. Editors show their docstrings.

These models check single files; `consistency` checks how they fit together.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from leadhand.contracts.ladder import NamedRung
from leadhand.contracts.planner_kinds import PlannerKind
from leadhand.contracts.role import MAX_LEVELS, Answers
from leadhand.contracts.team import TIERS, Tier
from leadhand.teams import values


def _for_every_tier(value: object) -> object:
    # A tier without models uses those of the nearest tier: one is enough for all three.
    return {"standard": value} if isinstance(value, str) else value


def _short(key: str, kind: type, schema: object) -> BeforeValidator:
    """Takes a value of `kind` in place of a mapping, as that of its `key`."""
    return BeforeValidator(
        lambda value: {key: value} if isinstance(value, kind) else value,
        json_schema_input_type=schema,
    )


class Fields(BaseModel):
    """A mapping in a file. Types are strict: `"1"` is not a number, and `true` is neither."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", defer_build=True)

    examples: ClassVar[dict[str, str]] = {}
    """What to write in the required fields."""


class SettingsFields(Fields):
    """Model settings as pydantic-ai names them; those of one provider are passed on unchanged."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]

    temperature: Annotated[values.Number, Field(ge=0)] | None = None
    """How random answers are; 0 is least random."""
    top_p: Annotated[values.Number, Field(ge=0, le=1)] | None = None
    """Choose among the most likely tokens that together have this probability."""
    top_k: values.Positive | None = None
    """Choose among this many of the most likely tokens."""
    max_tokens: values.Positive | None = None
    """The most tokens that one answer may have."""
    seed: int | None = None
    """Makes answers repeatable if the model supports it."""
    presence_penalty: values.Number | None = None
    """How much to avoid tokens that have occurred."""
    frequency_penalty: values.Number | None = None
    """How much to avoid tokens that have occurred often."""
    stop_sequences: list[str] | None = None
    """Texts at which an answer ends."""
    thinking: values.Thinking = None
    """Whether to think first, or how much: an effort from `minimal` to `max`."""
    timeout: values.Seconds | None = None
    """Seconds that a single call may take."""
    parallel_tool_calls: bool | None = None
    """Whether several tools may be called in one step."""
    logit_bias: dict[str, int] | None = None
    """Makes single tokens more or less likely, by token id."""
    service_tier: Literal["auto", "default", "flex", "priority"] | None = None
    """The provider's class of service."""

    @model_validator(mode="after")
    def _can_be_sent(self) -> "SettingsFields":
        values.sendable(self.model_extra)
        return self

    @property
    def given(self) -> dict[str, JsonValue]:
        """The settings that the file sets."""
        return self.model_dump(exclude_unset=True)


class ModelsFields(Fields):
    """`models` of team.yaml: a model for each tier, or several, tried in order."""

    model_config = ConfigDict(extra="forbid")

    fast: values.ModelNames | None = None
    """For short, easy work: a model as `provider:model`, or a list, tried in order."""
    standard: values.ModelNames | None = None
    """For most work: a model as `provider:model`, or a list, tried in order."""
    strong: values.ModelNames | None = None
    """For the hardest work: a model as `provider:model`, or a list, tried in order."""

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
    """`limits` of team.yaml: limits of each task, unless the task or its worker sets one."""

    timeout_s: values.Seconds | None = None
    """Seconds that one attempt at a task may take."""
    max_tokens: values.Positive | None = None
    """Tokens that all attempts at a task may use together."""
    max_steps: values.Positive | None = None
    """Model calls that one attempt may make."""
    tier: Tier | None = None
    """The tier of model that workers start with."""


class LadderFields(Fields):
    """`ladder` of team.yaml: what happens when a task fails."""

    max_attempts: Annotated[int, Field(ge=1, le=100)] | None = None
    """Attempts at one task in all, including the first and those of other workers."""
    backoff_s: values.Delays | None = None
    """Seconds to wait before the second, third, ... attempt; the last one repeats."""
    failed: list[NamedRung] | None = None
    """What to try after a failure, in order; an empty list tries nothing."""
    out_of_scope: list[NamedRung] | None = None
    """What to try if a worker says that a task is not for it."""
    ambiguous_input: list[NamedRung] | None = None
    """What to try if a worker can't tell what is meant."""
    low_confidence: list[NamedRung] | None = None
    """What to try if a worker is not sure of its result."""
    timeout: list[NamedRung] | None = None
    """What to try if a task takes too long."""
    breaker_failures: values.Positive | None = None
    """After this many failures of a worker in a row, its tasks go straight to its fallback."""
    breaker_pause_s: values.Seconds | None = None
    """Seconds until that worker gets a task again as a probe; doubled each time it fails."""


class RateFields(Fields):
    """An entry of `rates`: how fast the whole process may call a model."""

    model_config = ConfigDict(extra="forbid")

    rpm: values.Positive | None = None
    """Requests in any minute."""
    tpm: values.Positive | None = None
    """Tokens in any minute, in and out together."""
    concurrency: values.Positive | None = None
    """Requests at once."""


class EntryFields(Fields):
    """An entry of the plan template: a task, or a task for each batch of the input."""

    examples = {
        "id": "a name for the task, once in the template",
        "worker": "who does it",
        "intent": "what to do, in words that the worker can act on",
    }

    id: values.Name
    """A name for the task, once in the template."""
    worker: values.Name
    """The name of the worker who does it."""
    intent: values.RequiredText
    """What to do, in words that the worker can act on; may contain `{request}`."""
    depends_on: values.Names = []
    """The ids of entries whose results this one needs."""
    for_each: values.Name | None = None
    """The name of a set of batches; the entry becomes a task for each."""
    payload: JsonValue = None
    """The task's data beside its intent, as its worker's `input` declares."""
    done_when: values.Text = ""
    """How to tell that the task is finished."""
    tolerates_missing: bool = False
    """True: the task runs even if an entry that it depends on has no result."""
    timeout_s: values.Seconds | None = None
    """Seconds that one attempt may take."""


class RoleFields(Fields):
    """How a role such as the judge uses its model."""

    tier: Tier = "standard"
    """The tier of model that it uses."""
    model: values.ModelName | None = None
    """A model as `provider:model`, instead of the tier's."""
    settings: SettingsFields = SettingsFields()
    """Settings of its model, such as `temperature`."""
    answers: Answers | None = None
    """How its model answers in a structure: `tool`, `native` or `prompted`; found out by default.
    """
    instructions: str = ""
    """Instructions for this team, added to leadhand's own prompt."""


class PlannerFields(RoleFields):
    """`planner` of team.yaml: how a request becomes tasks. A single word is the kind."""

    kind: PlannerKind | None = None
    """`ahead`: a model plans it; `stepwise`: a model decides after each result what is next;
    `recursive`: tasks that are too large get a plan of their own; `routed`: rules or a model choose
    one worker; `template`: the template is the plan. By default a rule that matches decides, then a
    model, then the template."""
    max_rounds: Annotated[int, Field(ge=1, le=1_000)] = 12
    """How many decisions a `stepwise` planner may make in a run."""
    max_levels: Annotated[int, Field(ge=0, le=MAX_LEVELS)] = 3
    """How many levels of plans a `recursive` planner may make below the first one."""
    run: values.FunctionName | None = None
    """Code that plans, with or without a model, as `module:function`: `(request, team) -> Plan`."""
    template: list[EntryFields] = []
    """The plan if no model is available; without a template every worker gets one task."""
    synthesis: values.Name | None = None
    """How results of the template become one answer, if the synthesizer's strategy does not fit."""


class SynthesizerFields(RoleFields):
    """`synthesizer` of team.yaml: how results become one answer. A single word is the strategy."""

    strategy: values.Name = "merge"
    """How results become one answer: `merge`, `select` or `last`, the last task's result as it is.
    """
    plain: bool = False
    """True: `instructions` are the whole prompt and the answer is plain text."""
    run: values.FunctionName | None = None
    """Code that writes the answer, with or without a model, as `module:function`:
    `(plan, results) -> Synthesis`."""


class RouteFields(Fields):
    """An entry of `routes`: which worker gets a request. Without a condition it matches all."""

    examples = {"worker": "who does it"}

    worker: values.Name
    """The name of the worker that gets the request."""
    words: values.Names = []
    """Matches if the request has one of these words or phrases."""
    pattern: values.Pattern | None = None
    """Matches if this regular expression does, without look-around and back-references."""
    labels: values.Names = []
    """Matches if the request has one of these labels, as `[label]` or `#label`."""
    secondary: values.Name | None = None
    """The worker that gets the request next if the first hands it back."""
    also: values.Names = []
    """Other workers that get the request too; the synthesizer joins the results."""


class WorkerFactoryFields(Fields):
    """`worker_factory` of team.yaml: what workers described by the planner may be given."""

    tools: values.Names = []
    """The catalogue: names of ready-made tools, or functions of your own as `module:function`."""
    shared_tools: values.Names = []
    """Tools of the catalogue that more than one worker may have."""
    tiers: Annotated[list[Tier], Field(min_length=1)] = [*TIERS]
    """The tiers of model that these workers may start with; by default all."""
    max_workers: Annotated[int, Field(ge=1, le=200)] = 7
    """How many workers one plan may describe."""


class TeamFields(Fields):
    """team.yaml of a leadhand team."""

    name: values.Name | None = None
    """The team's name; by default its folder's."""
    description: values.Line = ""
    """One line on what the team is for."""
    needs: values.Line = ""
    """One line on what has to be handed in."""
    gives: values.Line = ""
    """One line on what the answer has."""
    confidential: bool = False
    """True: a hosted model is used only if `--model` or LEADHAND_MODEL names it."""
    requester_approves: bool = False
    """True: who starts a run of a service may approve its plan and tool calls as well."""
    expires_s: values.Expiry | None = None
    """Seconds until a question to a person is refused or declined by itself; by default never."""
    model: values.ModelName | None = None
    """The model of every tier that `models` does not name, as `provider:model`."""
    models: Annotated[
        ModelsFields, BeforeValidator(_for_every_tier, json_schema_input_type=str | ModelsFields)
    ] = ModelsFields()
    """The models of the tiers `fast`, `standard` and `strong`; a single name is for all three."""
    planner: Annotated[PlannerFields, _short("kind", str, PlannerKind | PlannerFields)] = (
        PlannerFields()
    )
    """How a request becomes tasks: a kind of planner, or the settings of the role."""
    early_start: bool = False
    """True: tasks of read-only workers start while the planner still writes the plan."""
    synthesizer: Annotated[SynthesizerFields, _short("strategy", str, str | SynthesizerFields)] = (
        SynthesizerFields()
    )
    """How results become one answer: a strategy's name, or the settings of the role."""
    output: values.OutputForm = None
    """The type of the answer's output: a JSON Schema, or a class as `module:Class`."""
    report: values.FunctionName | None = None
    """What makes the files of `run --out DIR`, as `module:function`: `(answer) -> {name: text}`."""
    judge: RoleFields = RoleFields()
    """The role that settles contradictions between results and chooses among several."""
    same_subject: list[Annotated[list[values.Name], Field(min_length=2)]] = []
    """Groups of workers whose results are about the same thing, so that they may not differ."""
    critic: RoleFields | None = None
    """The role that reviews the answer and may send it back; without this key there is none."""
    limits: LimitFields = LimitFields()
    """Limits of each task, unless the task or its worker sets one."""
    ladder: LadderFields = LadderFields()
    """What happens when a task fails."""
    routes: list[RouteFields] = []
    """Rules for which worker gets a request; a request that matches none is planned as usual."""
    router: RoleFields | None = None
    """The model that chooses a worker for requests that match no rule; by default none does."""
    trained_router: values.Line | None = None
    """A file that `leadhand router train` wrote: it chooses the worker for requests that match no
    rule, before a model is asked."""
    kinds: dict[values.Name, values.Name] = {}
    """Kinds of requests, each with the worker for it: examples of `router train` may say `kind`."""
    answers: dict[values.ModelName, Answers] = {}
    """How models answer in a structure, by `provider:model`: as the arguments of a `tool`, in the
    response's `native` format, or as JSON in the text, `prompted`. Of others it is found out."""
    rates: dict[values.ModelName, RateFields] = {}
    """How fast models may be called, by `provider:model`."""
    contact: values.Line | None = None
    """Whom the user can ask instead, shown if no worker could answer."""
    max_depth: Annotated[int, Field(ge=0)] | None = None
    """How many levels of teams may be nested in this one; 3 by default."""
    worker_factory: (
        Annotated[WorkerFactoryFields, _short("tools", list, list[str] | WorkerFactoryFields)]
        | None
    ) = None
    """The tools of workers that the planner describes for one plan; without this key it describes
    none."""
    shared_tools: values.Names = []
    """Tools that more than one worker may have."""
