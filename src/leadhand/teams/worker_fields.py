"""The fields of a worker's file, as `fields` has those of a team. Editors show their docstrings."""

from typing import Annotated, ClassVar

from pydantic import BeforeValidator, ConfigDict, Field

from leadhand.contracts.team import Isolation, Tier
from leadhand.teams import values
from leadhand.teams.fields import Fields, SettingsFields


def _as_retry(value: object) -> object:
    return {} if value is True else {"attempts": 1} if value is False else value


class RetryFields(Fields):
    """`retry` of a worker: which of its failures are retried, and how often; `false` is never."""

    model_config = ConfigDict(extra="forbid")

    on: values.ExceptionNames | None = None
    """Exceptions to retry, built-in or `module:Class`; by default all but the permanent ones."""
    attempts: values.Positive | None = None
    """Attempts with the same intent, including the first; by default as many as the team allows."""


class WorkerFields(Fields):
    """The front matter of a worker's file; the instructions follow it."""

    examples: ClassVar = {"description": "one line on what this worker does"}

    name: values.Name | None = None
    """The worker's name; by default its file's."""
    description: values.RequiredLine
    """One line for the planner: what this worker does, and by omission what it does not."""
    tools: values.Names = Field(default=[])
    """What it may use: names of ready-made tools, or functions of your own as `module:function`.
    Without this key it has no tools."""
    tier: Tier | None = None
    """The tier of model to start with; by default that of the team's limits."""
    model: values.WorkerModel = None
    """A model as `provider:model`, instead of the tier's; `inherit` means none of its own."""
    settings: SettingsFields = SettingsFields()
    """Settings of its model, such as `temperature`."""
    input: values.OutputForm = None
    """The payload of its tasks: a JSON Schema, or a class as `module:Class`."""
    output: values.OutputForm = None
    """The type of its answers: a JSON Schema, or a class as `module:Class`; by default text."""
    plain: bool = False
    """True: the instructions are the whole prompt and the model answers in plain text."""
    min_confidence: values.Percent | None = None
    """Answers with less confidence, from 0 to 100, are handed back: of a model, a team or `run`."""
    max_tool_calls: values.Positive = 32
    """How many tool calls one answer of its model may make; further ones are refused."""
    max_output_mb: Annotated[float, Field(gt=0, le=10)] = 1.0
    """Limit in MB of its model's answer and of a tool call's arguments; longer ones are refused."""
    fallback: values.Name | None = None
    """The worker that takes over if this one fails for good or its breaker is open, gives a second
    opinion on its doubtful results, and helps if more than `max_queue` tasks wait for it."""
    retry: Annotated[
        RetryFields, BeforeValidator(_as_retry, json_schema_input_type=bool | RetryFields)
    ] = RetryFields()
    """Which of its failures are retried, and how often; `false` is never."""
    role: values.Name | None = None
    """Workers with the same role share their tasks by load."""
    max_queue: Annotated[int, Field(ge=0)] | None = None
    """How many tasks may wait for it before further ones go to its fallback."""
    concurrency: values.Positive | None = None
    """How many tasks it works on at once; by default as many as the run allows."""
    timeout_s: values.Seconds | None = None
    """Seconds that one attempt at a task may take."""
    max_steps: values.Positive | None = None
    """Model calls that one attempt may make."""
    expires_s: values.Expiry | None = None
    """Seconds until a question to a person about its task expires; by default as the team says."""
    read_only: bool | None = None
    """Whether its work changes nothing outside the run; by default true with ready-made tools."""
    isolate: Isolation = "none"
    """`process`: its function runs in a process of its own."""
    offline: values.FunctionName | None = None
    """The function that does the work if no model is available, as `module:function`."""
    draft: values.FunctionName | None = None
    """The function that always does the work first, as `module:function`: the model adds to its
    result, of the type `output`, under the key `added`. Without a model it is like `offline`."""
    offline_s: values.Seconds | None = None
    """Seconds to reserve for `offline` before the deadline; by default what it took last, or 1."""
    team: values.RequiredLine | None = None
    """A team that does the work: a ready-made one's name, or a folder such as `../legal`."""
    agent: values.FunctionName | None = None
    """An agent of LangGraph, OpenAI Agents or Agno that does the work, as `module:attribute`."""
    run: values.FunctionName | None = None
    """The function that always does the work, even if a model is available: `module:function`."""
