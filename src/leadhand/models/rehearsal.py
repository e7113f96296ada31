"""A model for rehearsals, in memory."""

from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

_Object = dict[str, object]


def rehearsal_model(worker: str) -> FunctionModel:
    """A model that plans two tasks of `worker`, calls its tool `note`, and answers."""
    task: _Object = {"worker": worker, "intent": "Write a note.", "depends_on": []}
    ending: _Object = {"answer": "Done [a].", "summary": "Done.", "confidence": 90, "evidence": []}
    calls: dict[str, _Object] = {
        "propose_plan": {"tasks": [{"id": id, **task} for id in ("a", "b")]},
        "note": {"text": "A note."},
        "final_answer": {**ending, "plan_impact": "none", "contradictions": []},
    }

    def respond(messages: Sequence[ModelMessage], asked: AgentInfo) -> ModelResponse:
        offered = {tool.name for tool in (*asked.function_tools, *asked.output_tools)}
        done = {"note"} if len(messages) > 1 else set[str]()
        name = next(name for name in calls if name in offered - done)
        return ModelResponse([ToolCallPart(name, calls[name])])

    return FunctionModel(respond)
