"""The strategies by code: results side by side, or the best of them. Nothing is reworded."""

import json
from collections.abc import Mapping, Sequence

from leadhand.contracts.answer import Source, Synthesis
from leadhand.contracts.outcome import Result, TaskResult
from leadhand.contracts.task import Plan
from leadhand.synthesis.conflicts import find_conflicts


class Merge:
    """Puts results together by code, as the plan's strategy says."""

    name = "merge"
    calls_model = False

    def __init__(self, roles: Mapping[str, str] | None = None) -> None:
        """`roles` names what workers are several of, worker by worker."""
        self._roles = roles

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The same as `combine`, with the contradictions in the data, all of them open."""
        synthesis = combine(plan, results)
        if plan.synthesis == "select":  # where one result is taken, others may say otherwise
            return synthesis
        found = tuple(find_conflicts(results, roles=self._roles))
        return synthesis.model_copy(update={"conflicts": found}) if found else synthesis

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The same as `combine`."""
        return combine(plan, results)


def combine(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """By the plan's strategy the best result, the last, or all of them side by side."""
    match plan.synthesis:
        case "select":
            return select(results)
        case "last":
            return last(plan, results)
        case _:
            return merge(plan, results)


def merge(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The results in plan order, each under its task; `output` maps task id to output.

    A single task's result is the answer as it is. This is also what is left where another
    synthesizer fails.
    """
    given = given_of(results)
    if len(plan.tasks) == 1 and given:
        only = given[0][1]
        return Synthesis(
            answer=text_of(only),
            output=only.output,
            confidence=only.confidence,
            sources=_evidence(given),
        )
    confidences = [result.confidence for _, result in given if result.confidence is not None]
    return Synthesis(
        answer="\n\n".join(_section(one, result) for one, result in given),
        output={one.task.id: result.output for one, result in given},
        confidence=min(confidences) if confidences else None,
        sources=_evidence(given),
    )


def last(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The result that all others lead to, as it is, with everyone's sources; else `merge`."""
    needed = {id for task in plan.tasks for id in task.depends_on}
    ends = [one for one in results if one.task.id not in needed]
    if len(ends) != 1 or ends[0].result is None:
        return merge(plan, results)
    result = ends[0].result
    return Synthesis(
        answer=text_of(result),
        output=result.output,
        confidence=result.confidence,
        sources=_evidence(given_of(results)),
    )


def select(results: Sequence[TaskResult]) -> Synthesis:
    """The result that its worker is surest of, as it is; completed ones and earlier ones first."""
    given = given_of(results)
    if not given:
        return Synthesis(answer="")

    def merit(pair: tuple[TaskResult, Result]) -> tuple[bool, int]:
        one, result = pair
        return one.status == "completed", -1 if result.confidence is None else result.confidence

    best, result = max(given, key=merit)  # the first of equals
    if result.confidence is None:
        why = "the first, as no worker said how sure it is (by code)"
    else:
        why = f"whose worker is the surest, {result.confidence} of 100 (by code)"
    return chosen(best, results, why=why)


def chosen(
    best: TaskResult, results: Sequence[TaskResult], *, why: str, confidence: int | None = None
) -> Synthesis:
    """The answer that is the result of `best`, word for word, with a line that says why.

    `confidence` is that of whoever chose; none: the worker's own.
    """
    given = given_of(results)
    result = next(result for one, result in given if one is best)
    others = [one for one, _ in given if one is not best]
    note = f"*Chosen from {len(given)} results: {best.task.id}, {' '.join(why.split())}*"
    return Synthesis(
        answer=f"{text_of(result)}\n\n{note}" if others else text_of(result),
        output=result.output,
        confidence=result.confidence if confidence is None else confidence,
        sources=(
            *sources_of([(best, result)]),
            *(Source(task_id=one.task.id, ref="not chosen") for one in others),
        ),
    )


def given_of(results: Sequence[TaskResult]) -> list[tuple[TaskResult, Result]]:
    """The tasks that gave something, if only a part, in order."""
    return [(one, one.result) for one in results if one.result is not None]


def text_of(result: Result) -> str:
    """A result as Markdown: its output, and where that is data its summary before it."""
    output = result.output
    if isinstance(output, str):
        return output
    if output is None:
        return result.summary
    # Indented, not fenced: no run of backticks in the data can end the block.
    lines = json.dumps(output, indent=2, ensure_ascii=False).splitlines()
    block = "\n".join(f"    {line}" for line in lines)
    return f"{result.summary}\n\n{block}" if result.summary else block


def sources_of(given: Sequence[tuple[TaskResult, Result]]) -> tuple[Source, ...]:
    """The evidence of these results; the result itself where it names none."""
    return tuple(
        Source(task_id=one.task.id, ref=ref)
        for one, result in given
        for ref in result.evidence or ("result",)
    )


def _evidence(given: Sequence[tuple[TaskResult, Result]]) -> tuple[Source, ...]:
    return sources_of([pair for pair in given if pair[1].evidence])


def _section(one: TaskResult, result: Result) -> str:
    doubt = f"\n\n*{one.why}*" if one.why else ""
    return f"## {one.task.id} ({one.worker})\n\n{text_of(result)}{doubt}"
