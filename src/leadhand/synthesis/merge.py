"""The synthesis strategies without a model: all results, or the best one, unchanged."""

import json
import re
from collections.abc import Sequence

from leadhand.contracts.answer import DOUBT, Source, Synthesis
from leadhand.contracts.outcome import Result, TaskResult
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan
from leadhand.untrusted.cutting import cut_line

USED_HEADING = "How this came about"
"""The heading above the results that other tasks used."""
_MAX_LINE_CHARS = 160
_SECTION = re.compile(rf"^#{{2,5}} (?:\S+(?: \(.+\))?|{USED_HEADING})$", re.MULTILINE)


class Merge:
    name = "merge"
    calls_model = False

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return combine(plan, results)

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return combine(plan, results)


def combine(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    match plan.synthesis:
        case "select":
            return select(results)
        case "last":
            return last(plan, results)
        case _:
            return merge(plan, results)


def merge(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The results in plan order, each under its task; `output` maps task id to output.

    Those that another result used come last, in a line each. A single task's result is the answer
    as it is. This is also the fallback if another synthesizer fails.
    """
    given = given_of(results)
    if len(plan.tasks) == 1 and given:
        return unchanged(given[0][1], given)
    confidences = [result.confidence for _, result in given if result.confidence is not None]
    used = {id for one, _ in given for id in one.task.depends_on}
    parts = [_section(one, result) for one, result in given if one.task.id not in used]
    lines = [_line(one, result) for one, result in given if one.task.id in used]
    parts += [f"## {USED_HEADING}\n\n" + "\n".join(lines)] if lines else []
    return Synthesis(
        answer="\n\n".join(parts),
        output={one.task.id: result.output for one, result in given} or None,
        confidence=min(confidences) if confidences else None,
        sources=_evidence(given),
    )


def last(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The result of the single last task, with the sources of all tasks; else `merge`."""
    end = last_of(plan, results)
    return merge(plan, results) if end is None else unchanged(end[1], given_of(results))


def last_of(plan: Plan, results: Sequence[TaskResult]) -> tuple[TaskResult, Result] | None:
    """The task on which no other depends, with its result; None without one, or with several."""
    needed = {id for task in plan.tasks for id in task.depends_on}
    ends = [one for one in results if one.task.id not in needed]
    if len(ends) != 1 or ends[0].result is None:
        return None
    return ends[0], ends[0].result


def unchanged(result: Result, given: Sequence[tuple[TaskResult, Result]]) -> Synthesis:
    return Synthesis(
        answer=text_of(result),
        output=result.output,
        confidence=result.confidence,
        sources=_evidence(given),
    )


def select(results: Sequence[TaskResult]) -> Synthesis:
    """The result with the highest confidence, preferably a completed and earlier one."""
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
    """With a line that says why. `confidence` is the judge's; None: the worker's own."""
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
    """The tasks with a result, even a partial one, in order."""
    return [(one, one.result) for one in results if one.result is not None]


def text_of(result: Result) -> str:
    """A result as Markdown: its output, after its summary if the output is data."""
    output = result.output
    if isinstance(output, str):
        return output
    if output is None:
        return result.summary
    # Indented, not fenced, because backticks in the data could end a fenced block.
    lines = json.dumps(output, indent=2, ensure_ascii=False).splitlines()
    block = "\n".join(f"    {line}" for line in lines)
    return f"{result.summary}\n\n{block}" if result.summary else block


def sources_of(given: Sequence[tuple[TaskResult, Result]]) -> tuple[Source, ...]:
    """The evidence of these results; for a result without evidence, the result itself."""
    return tuple(
        Source(task_id=one.task.id, ref=ref)
        for one, result in given
        for ref in result.evidence or ("result",)
    )


def _evidence(given: Sequence[tuple[TaskResult, Result]]) -> tuple[Source, ...]:
    return sources_of([pair for pair in given if pair[1].evidence])


def _doubt(why: str) -> str:
    """Why a result may be wrong, in one line, which end users are not shown."""
    return f"{DOUBT}{' '.join(why.split())}*"


def _section(one: TaskResult, result: Result) -> str:
    doubt = f"\n\n{_doubt(one.why)}" if one.why else ""
    if one.worker == SUBPLANNER:  # its own sections belong below its heading
        text = _SECTION.sub(r"#\g<0>", text_of(result))
        return f"## {one.task.id}\n\n{text}{doubt}"
    return f"## {one.task.id} ({one.worker})\n\n{text_of(result)}{doubt}"


def _line(one: TaskResult, result: Result) -> str:
    line = cut_line(result.summary or text_of(result), _MAX_LINE_CHARS)
    by = "" if one.worker == SUBPLANNER else f" ({one.worker})"
    return f"- {one.task.id}{by}: {line}" + (f" {_doubt(one.why)}" if one.why else "")
