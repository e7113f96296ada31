"""What the teams' code does alike: inputs, drafts, and one answer from the parts of the workers."""

from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

from pydantic import BaseModel, JsonValue

from leadhand import Result, Task
from leadhand.contracts.answer import Conflict, Gap, Source
from leadhand.contracts.task import PlanRequest
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand_teams.shared.statements import Added, Statement

M = TypeVar("M", bound=BaseModel)


def inputs(request: PlanRequest) -> tuple[str, ...]:
    """The paths that were handed in."""
    return tuple(path for batch in request.batches.get("inputs", ()) for path in batch.artifacts)


def drafted(found: BaseModel) -> Result:
    """A draft of what was found; fields that were not set are left out."""
    return Result(output=cast("JsonValue", found.model_dump(mode="json", exclude_defaults=True)))


def parts_of(model: type[M], results: Iterable[TaskResult]) -> list[tuple[Task, M]]:
    """What each result holds of the answer, beside its task."""
    outputs = ((one.task, one.result.output) for one in results if one.result is not None)
    return [(task, model.model_validate(out)) for task, out in outputs if isinstance(out, dict)]


def merged(model: type[M], found: Iterable[M]) -> M:
    """The parts as one: lists and maps joined, and of all else what was set last."""
    whole = model()
    for part in found:
        for name in part.model_fields_set & model.model_fields.keys():
            old, new = getattr(whole, name), getattr(part, name)
            if isinstance(new, list):
                old += [one for one in cast("list[object]", new) if one not in old]
            elif isinstance(new, dict):
                old |= new
            else:
                setattr(whole, name, new)
    return whole


def added(results: Iterable[TaskResult]) -> list[Statement]:
    """What models added; its citations are not checked yet."""
    outputs = [one.result.output for one in results if one.result is not None]
    found = [one["added"] for one in outputs if isinstance(one, dict) and one.get("added")]
    return [statement for one in found for statement in Added.model_validate(one).statements]


def synthesis(
    text: str,
    output: BaseModel,
    *,
    by: Sequence[str],
    conflicts: Iterable[tuple[str, str]],
    sources: Iterable[tuple[str, str]],
    gaps: Iterable[tuple[str, str]],
) -> Synthesis:
    """The answer; contradictions are of the tasks `by`, sources and gaps each of a task."""
    return Synthesis(
        answer=text,
        output=cast("JsonValue", output.model_dump(mode="json")),
        conflicts=tuple(
            Conflict(task_ids=tuple(by), kind="contradiction", about=about, why=why)
            for about, why in conflicts
        ),
        sources=tuple(Source(task_id=task, ref=ref) for task, ref in dict.fromkeys(sources)),
        gaps=tuple(Gap(task_id=task, why=why) for task, why in gaps),
    )
