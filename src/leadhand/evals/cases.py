"""Cases of an evaluation: a request, and what is expected of the team that gets it.

Expectations have four levels (routing, plan, workers, synthesis), and those of the whole answer.
Each is optional and scored apart.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, model_validator

from leadhand.contracts.data import Many, Record
from leadhand.contracts.outcome import EscalationReason
from leadhand.plans.routes import pattern_problem

FaultKind = Literal["timeout", "error", "invalid_output", "out_of_scope", "ambiguous_input"]
JsonKind = Literal["text", "number", "true_or_false", "list", "object", "null"]


def _sound(text: str) -> str:
    """`text`, which says something, or between slashes is a regular expression that can be used."""
    if not text.strip():
        raise ValueError("is empty")
    if text[:1] == text[-1:] == "/" and (problem := pattern_problem(text[1:-1])):
        raise ValueError(f"is no regular expression: {problem}")
    return text


Fact = Annotated[str, AfterValidator(_sound)]
"""Text in any case; between slashes, a regular expression without look-around."""


class ExpectedRouting(Record, extra="forbid"):
    primary: str | None
    """The worker of the first task; None: no worker, the router abstains."""
    secondary: Many[str] | None = None
    """The workers of all other tasks, in any order; None: any."""


class GoldTask(Record, extra="forbid"):
    id: str
    worker: str = ""
    """Empty: any worker."""
    intent: str = ""
    """What the task is about, in any words; empty: the worker alone decides which task it is."""
    depends_on: Many[str] = ()
    tolerates_missing: bool = False
    """As in `Task`; not scored."""


class ExpectedPlan(Record, extra="forbid"):
    """What the plan should be like. Without any field, its general quality is scored."""

    tasks: Many[GoldTask] = ()
    """The gold graph, with which the plan's tasks and dependencies are compared."""


class Assertion(Record, extra="forbid"):
    """What holds for a value within an output. All fields that are given have to hold."""

    path: str = ""
    """Keys and list positions with dots, such as `rows.0.total`; empty: the whole output."""
    equals: JsonValue = None
    """A golden value: an object may have more keys than it names."""
    tolerance: float = Field(default=0.0, ge=0)
    """How far numbers in `equals` may be off, absolutely."""
    at_least: float | None = None
    at_most: float | None = None
    contains: Fact | None = None
    type: JsonKind | None = None
    length: int | None = Field(default=None, ge=0)
    """Of a text or list."""


class ExpectedOutput(Record, extra="forbid"):
    output: JsonValue = None
    tolerance: float = Field(default=0.0, ge=0)
    check: Many[Assertion] = ()


class ExpectedWork(ExpectedOutput):
    worker: str
    intent: str = ""
    """Empty: the request."""
    payload: JsonValue = None
    artifacts: Many[str] = ()
    must_call: Many[str] = ()
    must_not_call: Many[str] = ()
    escalates: bool | EscalationReason | None = None
    """Whether it hands the task back, or for which reason; None: not scored."""


class RubricItem(Record, extra="forbid"):
    """A question about the answer that only a reader can decide: a model is asked."""

    question: str
    """Answered by yes or no; yes is good."""
    label: bool | None = None
    """What a person said about the answer of the recorded run; compared with the judge's verdict,
    whose agreement is reported."""


class ExpectedAnswer(ExpectedOutput):
    status: Literal["complete", "partial", "failed"] | None = None


class ExpectedSynthesis(Record, extra="forbid"):
    facts: Many[Fact | Annotated[Many[Fact], Field(min_length=1)]] = ()
    """Each has to be in the text, in any case; of a list one is enough. `/.../` is a regular
    expression."""
    forbidden: Many[Fact] = ()
    cites: bool = False
    """Whether the text has to cite tasks; wrong citations count in any case."""
    uses: Many[str] = ()
    """Tasks or workers whose results have to be used: cited, or with words of theirs."""
    conflicts: Many[Fact] = ()
    """What results disagree about; the answer has to state it."""
    gaps: Many[str] = ()
    """Tasks or workers without a result, which the answer has to state."""
    rubric: Many[RubricItem] = ()


class Fault(Record, extra="forbid"):
    """A worker that fails on purpose, so that partial answers can be scored."""

    worker: str | int
    """Its name, or its position in the team, from 1."""
    fails: FaultKind = "timeout"


class Case(Record, extra="forbid"):
    name: str = ""
    request: str = Field(min_length=1)
    inputs: Many[str] = ()
    """Files and folders, relative to the file of cases."""
    routing: ExpectedRouting | None = None
    plan: ExpectedPlan | None = None
    workers: Many[ExpectedWork] = ()
    synthesis: ExpectedSynthesis | None = None
    answer: ExpectedAnswer | None = None
    tools: Mapping[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Results of tools that are not called: the result by the tool's name."""
    faults: Many[Fault] = ()

    @model_validator(mode="before")
    @classmethod
    def _short(cls, given: object) -> object:
        """`- some text` is short for `- request: some text`."""
        return {"request": given} if isinstance(given, str) else given

    @property
    def has_whole_run(self) -> bool:
        """Whether the team gets the request, not only single workers."""
        return not self.workers or any(
            one is not None for one in (self.routing, self.plan, self.synthesis, self.answer)
        )

    @property
    def ends_with_plan(self) -> bool:
        """Whether the plan is all that is scored, so that no work has to be done."""
        planned = self.routing is not None or self.plan is not None
        return planned and self.synthesis is None and self.answer is None
