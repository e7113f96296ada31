"""The types of a worker's arguments, and for type checkers which of them go together."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, Required, runtime_checkable

from pydantic import JsonValue
from typing_extensions import TypedDict

from leadhand.contracts.ladder import Retry
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.role import ModelSpec, Tier
from leadhand.contracts.task import Limits

if TYPE_CHECKING:
    from leadhand.contracts.team import Team

Isolation = Literal["none", "process"]
WorkFunction = Callable[..., object]
# `Any` types the parameter of a lambda, and accepts functions of `Handoff[C]`.
MaterialFunction = Callable[[Handoff[Any]], Mapping[str, str]]
DepsFunction = Callable[[Handoff[Any]], object]
ReportFunction = Callable[..., Mapping[str, str | bytes]]


@runtime_checkable
class AgentLike(Protocol):
    """The attributes of a pydantic-ai `Agent` that leadhand uses."""

    @property
    def name(self) -> str | None: ...

    @property
    def output_type(self) -> object: ...

    @property
    def run(self) -> object: ...


class AnyWorkerFields(TypedDict, total=False):
    """The fields of any worker."""

    offline_s: float | None
    instructions: str
    material: MaterialFunction | None
    input: object
    output: object
    plain: bool
    tier: Tier | None
    model: ModelSpec
    settings: Mapping[str, JsonValue]
    min_confidence: int | None
    max_tool_calls: int
    max_output_mb: float
    fallback: str | None
    retry: bool | Retry
    role: str | None
    max_queue: int | None
    read_only: bool | None
    concurrency: int | None
    expires_s: float | None
    limits: Limits


class ModelWorkerFields(AnyWorkerFields, total=False):
    """The team's model does the work."""

    tools: Sequence[object]
    offline: WorkFunction | None
    draft: WorkFunction | None
    isolate: Isolation
    run: None
    agent: None
    team: None


class FunctionWorkerFields(AnyWorkerFields, total=False):
    """A function or a pydantic-ai agent does the work; `tools` names what it uses."""

    run: Required[WorkFunction | AgentLike]
    deps: DepsFunction | None
    tools: Sequence[str]
    offline: WorkFunction | None
    isolate: Isolation


class AgentWorkerFields(AnyWorkerFields, total=False):
    """An agent of another framework does the work."""

    agent: Required[object]
    tools: Sequence[str]
    offline: WorkFunction | None


class TeamWorkerFields(AnyWorkerFields, total=False):
    """A team does the work."""

    team: Required["Team"]
    tools: Sequence[str]
    isolate: Isolation
