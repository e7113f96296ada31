"""The merge strategy by code: every result in plan order under its task, nothing reworded."""

import json
from collections.abc import Sequence

from leadhand.contracts.answer import Source, Synthesis
from leadhand.contracts.outcome import Result
from leadhand.contracts.task import Plan
from leadhand.ports import TaskResult


class Merge:
    """Puts results side by side. A single result is the answer as it is."""

    name = "merge"

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The results in plan order; `output` maps task id to output where there are several."""
        return merge(plan, results)


def merge(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """What `Merge` gives; also what is left where another synthesizer fails."""
    given = [(one, one.result) for one in results if one.result is not None]
    if len(plan.tasks) == 1 and given:
        only = given[0][1]
        return Synthesis(
            answer=_text(only),
            output=only.output,
            confidence=only.confidence,
            sources=_sources(given),
        )
    confidences = [result.confidence for _, result in given if result.confidence is not None]
    return Synthesis(
        answer="\n\n".join(_section(one, result) for one, result in given),
        output={one.task.id: result.output for one, result in given},
        confidence=min(confidences) if confidences else None,
        sources=_sources(given),
    )


def _section(one: TaskResult, result: Result) -> str:
    doubt = f"\n\n*{one.why}*" if one.why else ""
    return f"## {one.task.id} ({one.worker})\n\n{_text(result)}{doubt}"


def _text(result: Result) -> str:
    output = result.output
    if isinstance(output, str):
        return output
    if output is None:
        return result.summary
    # Indented, not fenced: no run of backticks in the data can end the block.
    lines = json.dumps(output, indent=2, ensure_ascii=False).splitlines()
    block = "\n".join(f"    {line}" for line in lines)
    return f"{result.summary}\n\n{block}" if result.summary else block


def _sources(given: Sequence[tuple[TaskResult, Result]]) -> tuple[Source, ...]:
    return tuple(
        Source(task_id=one.task.id, ref=ref) for one, result in given for ref in result.evidence
    )
