"""The choice of workers by a model, which sees a text and the team. Whatever a request says, the
result is names of workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.task import EarlierRun
from leadhand.contracts.team import ModelSpec, Role, Worker
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.prompts import joined, prompt
from leadhand.models.structured import (
    BadAnswer,
    StructuredAnswer,
    ask_structured,
    output_tool,
    read_form,
)
from leadhand.planners import earlier_runs
from leadhand.untrusted.fence import Fence

MIN_CONFIDENCE = 60
"""A choice with less confidence, 0 to 100, counts as none."""
NO_WORKER = "none"
_REQUESTER = Requester("router")


def _listed(given: object) -> object:
    """What models without enforced schemas write for a list of names: null, a name, "none"."""
    names = cast("list[object]", given) if isinstance(given, list) else [given]
    return [name for name in names if name not in (None, "", NO_WORKER)]


class _Choice(BaseModel):
    model_config = ConfigDict(extra="ignore")

    worker: str
    confidence: float = Field(ge=0, le=100)
    also: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()


@dataclass(frozen=True, slots=True)
class ModelChooser:
    caller: Caller
    fence: Fence
    role: Role
    models: Sequence[ModelSpec]
    """They are tried in order."""

    async def choose(
        self,
        text: str,
        among: Sequence[Worker],
        *,
        said: str = "",
        after: Sequence[EarlierRun] = (),
    ) -> tuple[str, ...]:
        """Chooses workers as `Chooser` does. Raises `ModelError`."""
        names = [worker.name for worker in among]

        def read(answer: StructuredAnswer) -> tuple[str, ...]:
            how = "Answer with `why`, `worker` and `confidence` (0 to 100)."
            choice = read_form(_Choice, answer, otherwise=how)
            if choice.worker == NO_WORKER or choice.confidence < MIN_CONFIDENCE:
                return ()
            chosen = tuple(dict.fromkeys((choice.worker, *choice.also)))
            if wrong := [name for name in chosen if name not in names]:
                problem = f"There is no worker {wrong[0]!r}. Choose from the list, or `none`."
                raise BadAnswer(problem)
            return chosen

        roster = "\n".join(f"- `{one.name}`: {' '.join(one.description.split())}" for one in among)
        instructions = joined(prompt("leadhand.planners", "route"), roster, self.role.instructions)
        handed_back = (
            self.fence.around(said, source="message of the worker that handed it back")
            if said
            else ""
        )
        return await ask_structured(
            self.caller,
            _REQUESTER,
            joined(text, earlier_runs.shown(after[:1], self.fence), handed_back),
            request=CallRequest(
                instructions,
                output=_form(names),
                settings=self.role.settings,
                answers=self.role.answers,
            ),
            models=self.models,
            read=read,
        )


def _form(names: Sequence[str]) -> ToolDefinition:
    return output_tool(
        "choose_worker",
        "Name the worker, and others that are needed too, or none.",
        why={"type": "string"},
        worker={"type": "string", "enum": [*names, NO_WORKER]},
        also={"type": "array", "items": {"type": "string", "enum": [*names]}},
        confidence={"type": "integer", "minimum": 0, "maximum": 100},
    )
