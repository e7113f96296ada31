"""Any pydantic-ai `Agent` as a worker, as it is: its own model, tools and output type."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Protocol, cast

from pydantic_ai.agent import AbstractAgent
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import (
    CompletedStreamedResponse,
    Model,
    ModelRequestParameters,
    StreamedResponse,
)
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import DeferredToolRequests, RunContext

from leadhand.contracts.outcome import Escalated, Failed, Handoff, Outcome
from leadhand.contracts.team import ModelSpec, Worker
from leadhand.errors import BudgetUsedUp, InputError, ModelError
from leadhand.fence import Fence
from leadhand.models.calls import Asker, Caller
from leadhand.workers import briefing
from leadhand.workers.output import failure_of, outcome_of


class _Result(Protocol):
    @property
    def output(self) -> object: ...


class AgentWorker:
    """A `Runner` over an agent. Its model calls are made and written down like everyone's."""

    def __init__(self, agent: AbstractAgent[None, object], caller: Caller, fence: Fence) -> None:
        self._agent = agent
        self._caller = caller
        self._fence = fence

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task."""
        asker = Asker("worker", handoff.task_id, handoff.attempt)
        try:
            result = await self._agent.run(
                briefing.opening(handoff, self._fence), model=self._watched(asker)
            )
        except BudgetUsedUp as error:
            return Failed(kind="budget", message=str(error))
        except ModelError as error:
            return Failed(kind="error", message=str(error), transient=error.transient)
        except (AgentRunError, UserError) as error:
            return Failed(kind="error", message=f"the agent failed: {error}")
        except Exception as error:
            return failure_of(error)
        output = cast("_Result", result).output
        if isinstance(output, DeferredToolRequests):
            waiting = [*output.approvals, *output.calls]
            names = ", ".join(call.tool_name for call in waiting)
            message = f"the agent needs a person for {names}"
            return Escalated(reason="ambiguous_input", message=message)
        return outcome_of(output)

    def _watched(self, asker: Asker) -> Model | None:
        model = self._agent.model
        if model is None:
            return None
        return _Watched(model, self._caller, asker)


class _Watched(WrapperModel):
    """A model whose requests go through our caller: one log, one back-off for everyone."""

    def __init__(self, spec: ModelSpec, caller: Caller, asker: Asker) -> None:
        super().__init__(caller.model(spec))
        self._spec = spec
        self._caller = caller
        self._asker = asker

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The wrapped model's answer."""
        return await self._caller.pass_on(
            self._asker,
            messages,
            settings=model_settings,
            parameters=model_request_parameters,
            model=self._spec,
        )

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[object] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The wrapped model's answer as a stream, for an agent that wants to see it as one."""
        response = await self.request(messages, model_settings, model_request_parameters)
        yield CompletedStreamedResponse(
            response, model_request_parameters=model_request_parameters, replay_events=True
        )


def as_agent(worker: Worker) -> AbstractAgent[None, object]:
    """The agent that was given as a worker's `run`. Raises `InputError` for anything else."""
    if isinstance(worker.run, AbstractAgent):
        return cast("AbstractAgent[None, object]", worker.run)
    kind = type(worker.run).__name__
    raise InputError(f"worker {worker.name!r}: `run` is {kind}, neither a function nor an Agent")
