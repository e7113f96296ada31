"""The choice of one worker by a model: it is shown a text and the team, and names one or none.

It can do nothing else: whatever a request says, what comes out is a worker's name or doubt.
"""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.team import ModelSpec, Role, Tier, Worker
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.prompts import joined, prompt
from leadhand.models.structured import BadAnswer, StructuredAnswer, ask_structured
from leadhand.untrusted.fence import Fence

MIN_CONFIDENCE = 60
"""A choice that the model is less sure of, 0 to 100, is none."""
NO_WORKER = "none"
_REQUESTER = Requester("router")


class _Choice(BaseModel):
    model_config = ConfigDict(extra="ignore")

    worker: str
    confidence: float = Field(ge=0, le=100)


class ModelChooser:
    """Has a model say whose a text is."""

    def __init__(
        self,
        caller: Caller,
        fence: Fence,
        role: Role,
        tiers: dict[Tier, tuple[ModelSpec, ...]],
    ) -> None:
        """`role` says which of the team's models is asked, and what it should mind."""
        self._caller = caller
        self._fence = fence
        self._role = role
        self._models = (role.model,) if role.model is not None else tiers.get(role.tier, ())

    async def choose(self, text: str, among: Sequence[Worker], *, said: str = "") -> str | None:
        """The name of the worker that `text` is for; none in doubt. Raises `ModelError`.

        `said` is what a worker said who handed it back.
        """
        names = [worker.name for worker in among]

        def read(answer: StructuredAnswer) -> str | None:
            try:
                choice = _Choice.model_validate(answer.data)
            except ValidationError as error:
                problem = "Answer with `why`, `worker` and `confidence` (0 to 100)."
                raise BadAnswer(problem) from error
            if choice.worker == NO_WORKER or choice.confidence < MIN_CONFIDENCE:
                return None
            if choice.worker not in names:
                raise BadAnswer(
                    f"There is no worker {choice.worker!r}. Choose one from the list, or `none`."
                )
            return choice.worker

        roster = "\n".join(f"- `{one.name}`: {' '.join(one.description.split())}" for one in among)
        instructions = joined(prompt("leadhand.planners", "route"), roster, self._role.instructions)
        handed_back = (
            self._fence.around(said, source="message of the worker that handed it back")
            if said
            else ""
        )
        return await ask_structured(
            self._caller,
            _REQUESTER,
            joined(text, handed_back),
            request=CallRequest(instructions, output=_form(names), settings=self._role.settings),
            models=self._models,
            read=read,
        )


def _form(names: Sequence[str]) -> ToolDefinition:
    return ToolDefinition(
        name="choose_worker",
        description="Name the worker, or none.",
        parameters_json_schema={
            "type": "object",
            "properties": {
                "why": {"type": "string"},
                "worker": {"type": "string", "enum": [*names, NO_WORKER]},
                "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
            },
            "required": ["why", "worker", "confidence"],
            "additionalProperties": False,
        },
        kind="output",
    )
